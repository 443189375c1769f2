"""The lease kept: taken, renewed, lost by time, given up; what the trail and the log say of it."""

from __future__ import annotations

import anyio

from queenright.core.planning.lease import (
    LEASE_CONFIG,
    LEASE_S,
    WAIT_S,
)
from tests.support.lease_sides import Side, both, now_s, seconds_until, stored


def test_the_first_acts_at_once_and_goes_on_while_it_renews() -> None:
    async def story(first: Side, second: Side) -> None:
        for _ in range(120):
            await anyio.sleep(0.5)
            assert first.acts
            assert not second.acts
        assert [note.acting for note in first.audit.leases] == [True]
        assert first.keeper.tenure.number == 1

    lines = both(story)
    lines = [line for line in lines if line["event"] == "lease"]
    assert [line["acting"] for line in lines] == [True, False]  # changes alone
    assert lines[1]["holder"] == "node-a"


def test_one_that_is_cut_off_stops_before_another_begins() -> None:
    async def story(first: Side, second: Side) -> None:
        first.way.is_cut_off = True
        stopped_s = await seconds_until(lambda: not first.acts)
        assert stopped_s <= LEASE_S
        assert not second.acts
        took_s = stopped_s + await seconds_until(lambda: second.acts)
        assert WAIT_S - 2.5 <= took_s <= 10
        first.way.is_cut_off = False
        await anyio.sleep(5)
        assert not first.acts
        taken = second.audit.leases[0]
        assert taken.other is not None
        assert taken.other.host == "node-a"
        assert taken.other.chain.startswith("a/")  # the chains name each other
        assert [note.acting for note in first.audit.leases] == [True, False]
        assert stored(second).term == "2"

    lines = both(story)
    trouble = [line for line in lines if line["level"] == "warning"]
    assert ["timed out" in line["error"] for line in trouble] == [True]


def test_the_end_is_recorded_in_time_while_a_call_hangs() -> None:
    async def story(first: Side, second: Side) -> None:
        first.way.boundary = anyio.sleep_forever
        began_s = now_s()
        await seconds_until(lambda: second.acts)
        ended, taken = first.audit.leases[-1], second.audit.leases[-1]
        assert not ended.acting
        assert ended.at_s - began_s < LEASE_S + 0.1
        assert ended.at_s < taken.at_s

    both(story)


def test_nobody_acts_without_the_managers_majority() -> None:
    async def story(first: Side, second: Side) -> None:
        first.way.is_cut_off = second.way.is_cut_off = True
        await anyio.sleep(LEASE_S)
        for _ in range(60):
            await anyio.sleep(0.5)
            assert not first.acts
            assert not second.acts
        first.way.is_cut_off = second.way.is_cut_off = False
        assert await seconds_until(lambda: first.acts or second.acts) < 2
        await anyio.sleep(5)
        assert first.acts is not second.acts

    both(story)


def test_a_lease_that_was_given_up_is_taken_at_once() -> None:
    async def story(first: Side, second: Side) -> None:
        await first.keeper.release()
        assert await seconds_until(lambda: second.acts) < 1
        await anyio.sleep(20)
        assert not first.acts  # its keeper does not take it again
        assert second.audit.leases[0].why == "the former operator gave it up"
        given = second.audit.leases[0].other
        assert given is not None
        assert given.chain == first.audit.end  # its last record is in it

    both(story)


def test_a_holder_that_has_provably_ended_is_not_waited_for() -> None:
    async def story(first: Side, second: Side) -> None:
        second.ended.add("a")
        assert await seconds_until(lambda: second.acts) < 1

    both(story)


def test_a_lease_that_somebody_removed_is_made_again_by_its_holder() -> None:
    async def story(first: Side, second: Side) -> None:
        del first.store.configs[LEASE_CONFIG]
        for _ in range(60):
            await anyio.sleep(0.5)
            assert first.acts
            assert not second.acts
        assert stored(first).process == "a"

    both(story)


def test_after_another_took_a_removed_lease_the_former_stops_at_its_next_look() -> None:
    async def story(first: Side, second: Side) -> None:
        del first.store.configs[LEASE_CONFIG]
        await second.way.create(second.keeper.own)
        assert await seconds_until(lambda: not first.acts) < 2.5
        assert first.audit.leases[-1].why == "another operator has the lease"

    both(story)


def test_a_renewal_without_an_answer_counts_for_nothing() -> None:
    async def story(first: Side, second: Side) -> None:
        first.way.answer_lost = 1.0
        assert await seconds_until(lambda: not first.acts) <= LEASE_S
        await anyio.sleep(20)
        assert not second.acts  # the managers have its renewals: it may still act, for all it knows
        first.way.answer_lost = 0.0
        await seconds_until(lambda: first.acts)
        assert first.audit.leases[-1].why == "renewed after it had run out"

    both(story)


def test_a_pass_that_began_before_an_interruption_may_not_act() -> None:
    async def story(first: Side, second: Side) -> None:
        permission = first.keeper.permission()
        assert permission.holds()
        assert await permission.confirmed()
        first.way.is_cut_off = second.way.is_cut_off = True
        assert not await permission.confirmed()
        await seconds_until(lambda: not first.acts)
        assert not permission.holds()
        first.way.is_cut_off = False
        await seconds_until(lambda: first.acts)
        assert not permission.holds()
        assert not await permission.confirmed()
        assert first.keeper.permission().holds()

    both(story)


def test_a_fault_in_keeping_it_lets_the_lease_run_out_and_does_not_end_the_operator() -> None:
    class Broken:
        async def read(self) -> None:
            raise IndexError("a fault")

    async def story(first: Side, second: Side) -> None:
        first.keeper.store = Broken()  # type: ignore[assignment]
        assert await seconds_until(lambda: not first.acts) <= LEASE_S
        assert await seconds_until(lambda: second.acts) < 10

    both(story)


def test_the_changes_wake_the_loop() -> None:
    async def story(first: Side, second: Side) -> None:
        woken: list[str] = []
        first.keeper.changed = second.keeper.changed = lambda cause: woken.append(cause.detail)
        first.way.is_cut_off = True
        await seconds_until(lambda: second.acts)
        assert woken == [
            "the operator on node-a has no lease",
            "the operator on node-b acts",
        ]

    both(story)
