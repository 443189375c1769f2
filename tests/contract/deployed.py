"""One deployed cluster, twice: on the modelled swarm in virtual time, and on the lab."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import anyio

from queenright.adapters.docker.secrets import DockerSecrets
from queenright.adapters.patroni.http import PatroniHttp
from queenright.core.observed import Known, MemberStatus, Unknown
from queenright.ports.patroni import Patroni
from queenright.ports.secrets import Password, Secrets
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.lab.lab import Lab

T = TypeVar("T")

REST_PORT, RAFT_PORT = 8008, 5010
SECRET = "pg_rest_pw"
NODES = {"member-1": "node2", "member-2": "node3", "member-3": "node4"}
ADDRESSES = {
    "member-1": "10.77.0.12",
    "member-2": "10.77.0.13",
    "member-3": "10.77.0.14",
}
"""A cluster on the modelled swarm."""


@dataclass(frozen=True)
class Deployed:
    """A whole cluster whose operator is gone, and the ports to it."""

    patroni: Patroni
    secrets: Secrets
    addresses: dict[str, str] = dataclasses.field(default_factory=lambda: dict(ADDRESSES))

    @property
    def nobody(self) -> str:
        """An address of the members' network that nobody has."""
        return f"{self.addresses['member-1'].rpartition('.')[0]}.99"

    async def password(self) -> Password:
        return await self.secrets.read(SECRET)

    async def status(self, member: str) -> MemberStatus:
        found = await self.patroni.status(self.addresses[member], REST_PORT)
        assert isinstance(found, Known), found
        return found.value

    async def statuses(self) -> dict[str, MemberStatus]:
        """The members that answer."""
        asked = {
            name: await self.patroni.status(address, REST_PORT)
            for name, address in self.addresses.items()
        }
        return {name: found.value for name, found in asked.items() if isinstance(found, Known)}

    async def leader(self) -> str:
        return next(name for name, found in (await self.statuses()).items() if found.is_leader)

    async def replicas(self) -> list[str]:
        return [name for name, found in (await self.statuses()).items() if found.is_streaming]

    async def settings(self, member: str) -> dict[str, Any]:
        found = await self.patroni.settings(self.addresses[member], REST_PORT)
        assert not isinstance(found, Unknown), found
        return dict(found.value)

    async def patch(
        self,
        patch: dict[str, Any],
        expected: dict[str, Any],
        password: Password | None = None,
        member: str = "",
    ) -> None:
        """Send it to the leader with the right password, unless the arguments say otherwise."""
        await self.patroni.patch_settings(
            self.addresses[member or await self.leader()],
            REST_PORT,
            patch,
            expected,
            password or await self.password(),
        )

    async def until_whole(self) -> None:
        await eventually(self.is_whole, "one leader and two streaming replicas")

    async def is_whole(self) -> bool:
        found = (await self.statuses()).values()
        return sum(s.is_leader for s in found) == 1 and sum(s.is_streaming for s in found) == 2


ServiceContext = Callable[[Deployed], Coroutine[Any, Any, None]]


class Stage(Protocol):
    """Plays a scene on a deployed, whole cluster."""

    def __call__(self, context: ServiceContext) -> None: ...


async def eventually(condition: Callable[[], Awaitable[T]], what: str, limit_s: float = 45) -> T:
    """The condition's first truthy value, in the time of the loop that runs."""
    for _ in range(round(limit_s / 0.2)):
        if found := await condition():
            return found
        await anyio.sleep(0.2)
    raise AssertionError(f"waited {limit_s} s for {what}")


def on_the_model(context: ServiceContext) -> None:
    async def main() -> None:
        world = World()
        operator = world.start_operator()
        await world.until_whole()
        await operator.stop()
        deployed = Deployed(world.patroni, world.secrets)
        await deployed.until_whole()
        await context(deployed)

    run_virtual(main)


def on_the_lab(lab: Lab, nowhere: Path) -> Stage:
    """``nowhere`` is where no secret is mounted."""

    def play(context: ServiceContext) -> None:
        async def main() -> None:
            patroni = PatroniHttp(timeout_s=2)
            secrets = DockerSecrets(lab.manager.client_environment(), 10, nowhere)
            addresses = {name: lab.node(node).address for name, node in NODES.items()}
            try:
                deployed = Deployed(patroni, secrets, addresses)
                await deployed.until_whole()
                await context(deployed)
            finally:
                await patroni.aclose()
                await secrets.aclose()

        asyncio.run(main())

    return play
