"""A lease whose holder's node leads the managers' Raft: offered, asked for, and handed over."""

from __future__ import annotations

import anyio

from queenright.core.planning.lease import KEPT_S, OFFER_AFTER_S, PLACE_LOOK_S, RENEW_S
from tests.support.lease_sides import Side, both, seconds_until, stored


def test_a_lease_whose_holder_leads_raft_goes_to_the_one_that_asks() -> None:
    async def story(first: Side, second: Side) -> None:
        first.way.leads = True
        woken: list[str] = []
        first.keeper.changed = lambda trigger: woken.append(trigger.detail)
        with anyio.fail_after(PLACE_LOOK_S + OFFER_AFTER_S + 2 * RENEW_S + 1):
            while not first.keeper.is_asked:  # noqa: ASYNC110 (time decides)
                await anyio.sleep(0.05)
        assert first.acts
        assert "another operator asks for the lease" in woken[0]
        await anyio.sleep(30)
        assert first.acts, "it goes on until the pass under way is over"
        await first.keeper.hand_over()
        assert not first.acts
        assert await seconds_until(lambda: second.acts) < 0.5
        await anyio.sleep(120)
        assert second.acts
        assert not first.acts
        assert [note.acting for note in first.audit.leases] == [True, False]
        assert "leads the managers' Raft" in first.audit.leases[-1].why
        assert (stored(second).offered, stored(second).wanted) == ("", "")

    both(story)


def test_a_lease_is_kept_for_the_one_that_asked_for_a_moment_alone() -> None:
    async def story(first: Side, second: Side) -> None:
        first.way.leads = True
        with anyio.fail_after(60):
            while not first.keeper.is_asked:  # noqa: ASYNC110 (time decides)
                await anyio.sleep(0.05)
        second.way.is_cut_off = True
        await first.keeper.hand_over()
        assert KEPT_S - 0.5 < await seconds_until(lambda: first.acts) < KEPT_S + RENEW_S + 0.5

    both(story)


def test_nobody_asks_from_a_node_that_leads_raft_itself() -> None:
    async def story(first: Side, second: Side) -> None:
        first.way.leads = second.way.leads = True
        await anyio.sleep(120)
        assert stored(first).offered
        assert not first.keeper.is_asked

    both(story)
