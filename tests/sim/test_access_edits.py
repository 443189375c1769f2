"""Edits of how members and proxies are reached: each ends well, or a hold says what to do instead.

Clients are watched meanwhile: but for the change of leader itself, some proxy always leads to it.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest

from queenright.core.actions import Switchover, UpdateService
from queenright.core.kinds.ruleset import RULESET
from queenright.core.planning.plan import Plan
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.history import is_as_desired, plan_now, prepared_world
from tests.sim.invariants import Invariants
from tests.support.builders import FILE, MANIFEST, VIP, manifest

pytestmark = pytest.mark.slow

LAN = "10.77.0.0/24"
NO_PROXY_S = 3.0
"""While the leader changes, or while its proxy is replaced, for a look or two."""

ROLLED: tuple[tuple[dict[str, str], dict[str, str]], ...] = (
    ({}, {"ports": "{restApi: 18008}"}),
    ({}, {"ports": "{postgresql: 15432}"}),
    ({}, {"ports": "{postgresql: 15432, restApi: 18008}"}),
    ({}, {"ports": "{postgresql: 8008, restApi: 5432}"}),
    ({}, {"restApi": "{authentication: none}"}),
    ({"restApi": "{authentication: none}"}, {}),
    ({}, {"secrets": "{restApi: other_rest_pw}"}),
    ({"restApi": "{authentication: none}"}, {"secrets": "{restApi: other_rest_pw}"}),
    ({}, {"ports": "{restApi: 18008}", "secrets": "{restApi: other_rest_pw}"}),
    ({}, {"network": "{name: elsewhere}"}),
)
"""The file's first rules, and the next ones: every member is restarted."""

OTHERWISE: tuple[dict[str, str], ...] = (
    {"nodeLabels": "{member: pg-place}"},
    {"nodeLabels": "{proxy: pg-way}"},
    {"lanSubnet": "10.77.0.0/16"},
    {"vip": VIP.replace("routerId: 51", "routerId: 52")},
)


def edited(before: dict[str, str], after: dict[str, str]) -> tuple[World, Invariants, Plan]:
    """The world five minutes after the edit, and what is left to do or to say."""

    return edited_to(text_of(after), text_of(before))


def edited_to(after: str, before: str = MANIFEST) -> tuple[World, Invariants, Plan]:
    async def main() -> tuple[World, Invariants, Plan]:
        world = prepared_world(0)
        invariants = Invariants(world)
        world.manifests.write(FILE, before)
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(60)
        world.audit.records.clear()
        world.manifests.write(FILE, after)
        await anyio.sleep(300)
        assert world.is_whole()
        invariants.at_rest()
        return world, invariants, await plan_now(world, RULESET)

    return run_virtual(main)


def text_of(fields: dict[str, str]) -> str:
    text = manifest(**{name: value for name, value in fields.items() if name != "lanSubnet"})
    return text.replace("lanSubnet: 10.77.0.0/24", f"lanSubnet: {fields.get('lanSubnet', LAN)}")


def steps(world: World, kind: Callable[..., object]) -> list[str]:
    return [o.action.key for o in world.audit.outcomes if isinstance(o.action, kind)]  # type: ignore[arg-type]


@pytest.mark.parametrize(("before", "after"), ROLLED, ids=str)
def test_every_member_is_rolled_and_clients_reach_the_leader(
    before: dict[str, str], after: dict[str, str]
) -> None:
    world, invariants, plan = edited(before, after)
    assert invariants.violations == []
    assert is_as_desired(plan), plan.holds
    assert len(steps(world, Switchover)) == 1
    updates = [key for key in steps(world, UpdateService) if "member" in key]
    assert len(updates) == len({*updates}) == 3
    assert invariants.clients.longest_s <= NO_PROXY_S


@pytest.mark.parametrize("after", OTHERWISE, ids=str)
def test_other_edits_of_places_and_ways_end_well(after: dict[str, str]) -> None:
    before = {"vip": VIP} if "vip" in after else {}
    _, invariants, plan = edited(before, after)
    assert invariants.violations == []
    assert is_as_desired(plan), plan.holds
    assert invariants.clients.longest_s <= NO_PROXY_S


def test_ports_of_members_and_proxies_change_in_one_edit() -> None:
    """Each other's former ports are free by the time that they are wanted."""
    after = MANIFEST.replace("  proxies:\n", "  proxies:\n    ports: {primary: 15000}\n")
    _, invariants, plan = edited_to(after + "  ports: {postgresql: 5000}\n")
    assert invariants.violations == []
    assert is_as_desired(plan), plan.holds


def test_a_port_that_is_still_a_members_is_told() -> None:
    after = MANIFEST.replace("  proxies:\n", "  proxies:\n    ports: {primary: 5432}\n")
    _, invariants, plan = edited_to(after + "  ports: {postgresql: 15432}\n")
    assert invariants.violations == []
    told = [hold.reason for hold in plan.holds if hold.key == "update-service/main_proxy"]
    assert len(told) == 1
    assert "port 5432 is taken by service main_member-1: change one of the two" in told[0]


def test_another_raft_port_is_told_and_holds_up_nothing_else() -> None:
    after = {"ports": "{raft: 15010}", "stopGracePeriod": "90s"}
    world, invariants, plan = edited({}, after)
    assert invariants.violations == []
    assert [hold.key for hold in plan.holds] == ["ports/main"]
    assert plan.holds[0].reason == (
        "ports.raft: it would move from 5010 to 15010, and the members stay on 5010 (they know "
        "each other in Raft by address and port: on another port they would be other voters); "
        "write raft: 5010 again"
    )
    updates = [key for key in steps(world, UpdateService) if "member" in key]
    assert len(updates) == 3, "the rest of the edit is carried out"
