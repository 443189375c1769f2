"""The share of a pass that goes to comparing passwords with their secrets."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio

from queenright.core.kinds.notes_app.state import why_no_login
from queenright.core.observed import Live
from queenright.core.postgres.catalog import DesiredRole, Role
from queenright.core.swarm.objects import Secret
from queenright.engine.password_checks import Judging
from queenright.ports.errors import LookOnlyError
from queenright.ports.secrets import Password
from tests.fakes.virtual_loop import run_virtual

ROLES = tuple(Role(f"role-{number}") for number in range(10))


@dataclass
class SlowSecrets:
    """Typed by ``ports.secrets.Secrets``: each first comparison takes a second and a half."""

    judged: set[str] = field(default_factory=set)

    async def read(self, name: str, secret_id: str = "") -> Password:
        raise NotImplementedError

    async def read_once(self, name: str) -> Password:
        raise NotImplementedError

    async def matches(self, name: str, secret_id: str, verifier: Password) -> bool:
        if secret_id not in self.judged:
            await anyio.sleep(1.5)
            self.judged.add(secret_id)
        return True

    async def aclose(self) -> None:
        pass


async def one_pass(secrets: SlowSecrets) -> list[str]:
    """All roles asked for at once, as two clusters' are."""
    judging, found = Judging(secrets), dict[str, str]()

    async def ask(role: Role) -> None:
        secret = Live(f"id-of-{role.name}", 1, Secret(role.name))
        found[role.name] = (await judging.judged(role, secret, Password("x"))).verifier

    async with anyio.create_task_group() as group:
        for role in ROLES:
            group.start_soon(ask, role)
    return list(found.values())


def test_a_pass_compares_for_two_seconds_and_the_next_goes_on() -> None:
    async def main() -> None:
        secrets = SlowSecrets()
        began = anyio.current_time()
        first = await one_pass(secrets)
        assert anyio.current_time() - began == 3.0
        assert sorted(first) == ["as desired"] * 2 + ["not yet"] * 8
        passes = 1
        while "not yet" in await one_pass(secrets):
            passes += 1
        assert passes + 1 == 5
        began = anyio.current_time()
        assert await one_pass(secrets) == ["as desired"] * 10
        assert anyio.current_time() == began

    run_virtual(main)


def test_what_a_look_does_not_compare_is_told_as_that() -> None:
    class Looking(SlowSecrets):
        async def matches(self, name: str, secret_id: str, verifier: Password) -> bool:
            raise LookOnlyError("a look")

    async def main() -> None:
        assert await one_pass(Looking()) == ["not here"] * 10

    run_virtual(main)


def test_nobody_logs_in_with_a_password_that_was_not_compared_yet() -> None:
    wanted, live = DesiredRole("role", "role_pw"), Role("role", verifier="as desired")
    assert why_no_login(wanted, live) is None
    not_yet = Role("role", verifier="not yet")
    assert why_no_login(wanted, not_yet) is not None
