"""A total power loss after which the member with the newest data starts more slowly than a quorum.

Patroni lets a member that is ahead go first, but asks nobody that has not joined again.
docs/safety.md, "Total power loss", has the rounds on the lab.
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


async def kept(*, torn: bool = False, late_s: float = 0.0, head_s: float = 0.0) -> bool:
    """Return True if what only the former leader had is still there when all are back. It starts
    ``late_s`` after the others, or ``head_s`` before them; ``torn`` says that its journal is."""
    world = World()
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


OPEN = pytest.mark.xfail(
    strict=True, raises=AssertionError, reason="open: docs/safety.md, Total power loss"
)


@OPEN
def test_a_leader_that_waits_with_a_damaged_journal_leads_on() -> None:
    """The others start when it waits already: it then joins 45 s after they are a quorum."""
    assert run_virtual(lambda: kept(torn=True, head_s=40.0))


@OPEN
def test_a_leader_that_starts_half_a_minute_later_leads_on() -> None:
    assert run_virtual(lambda: kept(late_s=30.0))
