"""A total power loss after which the member with the newest data starts more slowly than a quorum.

Patroni lets a member that is ahead go first, but asks nobody that has not joined again; the image
has it hear all partners first. docs/safety.md, "Total power loss", has the rounds on the lab.
"""

from __future__ import annotations

import anyio
import pytest

from queenright.core.kinds.ruleset import RULESET
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.faults import WORKERS
from tests.support.builders import NODE_OF

UNSENT_BYTES = 400
"""Rows that the leader alone has, acknowledged: less than ``maximum_lag_on_failover``."""


async def kept(
    *, torn: bool = False, late_s: float = 0.0, head_s: float = 0.0, hears: bool = True
) -> bool:
    """Return True if what only the former leader had is still there when all are back. It starts
    ``late_s`` after the others, or ``head_s`` before them; ``torn`` says that its journal is, and
    ``hears`` that the images wait for their partners."""
    world = World()
    world.patroni_model.hears_partners = hears
    world.start_operator(RULESET)
    await world.until_whole()
    await anyio.sleep(20)
    former = world.leader()
    assert former is not None
    volume = former.volume
    for node in WORKERS:
        world.power_cut(node)
    volume.location += UNSENT_BYTES
    if torn:
        volume.raft = "torn"
    await anyio.sleep(10)
    if head_s:
        world.power_on(NODE_OF[former.name])
        await anyio.sleep(head_s)
    for node in WORKERS:
        if node != NODE_OF[former.name]:
            world.power_on(node)
    await anyio.sleep(late_s)
    if not head_s:
        world.power_on(NODE_OF[former.name])
    await anyio.sleep(300)
    leader = world.leader()
    if leader is None or not world.is_whole():
        raise RuntimeError(f"not whole: {world.patroni_model.story}")
    return leader.name == former.name


@pytest.mark.parametrize("torn", [False, True])
def test_a_leader_that_starts_with_the_others_leads_on(torn: bool) -> None:
    """With a damaged journal, too: it takes the log from them before they elect one of themselves,
    unless they are a quorum too late for that."""
    assert run_virtual(lambda: kept(torn=torn))


@pytest.mark.parametrize("hears", [True, False])
def test_a_leader_that_waits_with_a_damaged_journal_leads_on(hears: bool) -> None:
    """The others start when it waits already: it then joins 45 s after they are a quorum."""
    assert run_virtual(lambda: kept(torn=True, head_s=40.0, hears=hears)) is hears


@pytest.mark.parametrize("hears", [True, False])
def test_a_leader_that_starts_half_a_minute_later_leads_on(hears: bool) -> None:
    assert run_virtual(lambda: kept(late_s=30.0, hears=hears)) is hears


def test_a_leader_that_starts_minutes_later_is_not_waited_for() -> None:
    """No wait is without a limit: it is as if a leader alone had died."""
    assert not run_virtual(lambda: kept(late_s=200.0))
