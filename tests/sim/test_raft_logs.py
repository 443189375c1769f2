"""Total power losses that take the members' Raft logs: who leads on, and what is never done."""

from __future__ import annotations

import anyio
import pytest

from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.postgres_cluster.rules.raft_log import plan_raft_log
from tests.fakes.virtual_loop import run_virtual
from tests.sim.faults import WORKERS
from tests.sim.invariants import Invariants
from tests.sim.lost_logs import (
    After,
    Damage,
    after,
    all_but_the_last,
    all_but_the_leader,
    everybody,
    logs_lost,
)
from tests.sim.mutations import ruleset_with
from tests.sim.test_kills import Killer
from tests.sim.topology_world import first_of
from tests.support.builders import NODE_OF


def test_all_logs_lost_come_back_without_a_person_led_by_the_newest() -> None:
    end = run_virtual(logs_lost)
    assert end.found == []
    assert end.is_whole
    assert end.leader == end.former


def test_an_older_leader_with_more_wal_does_not_lead_on() -> None:
    end = run_virtual(lambda: logs_lost(stale=True))
    assert end.found == []
    assert end.is_whole
    assert end.leader == end.former


@pytest.mark.slow
def test_a_leader_whose_recovery_takes_minutes_is_waited_for() -> None:
    """The third member joins those that began anew meanwhile, and may not lead."""
    end = run_virtual(lambda: logs_lost(recovery_s=150.0, size_s=500))
    assert end.found == []
    assert end.is_whole
    assert end.leader == end.former


@pytest.mark.slow
def test_a_member_that_waits_may_start_again_without_leading() -> None:
    """Its partners are a quorum by then: it need not wait, and may not lead."""
    end = run_virtual(lambda: logs_lost(recovery_s=300.0, size_s=700, starts_again=True))
    assert end.found == []
    assert end.is_whole
    assert end.leader == end.former


@pytest.mark.slow
def test_an_image_that_lets_the_third_lead_meanwhile_is_caught() -> None:
    end = run_virtual(lambda: logs_lost(recovery_s=150.0, size_s=500, fences=False, hears=False))
    assert any("leads on from" in text for text in end.found), end.found


@pytest.mark.slow
@pytest.mark.parametrize("fences", [True, False])
def test_a_replica_that_kept_its_log_waits_for_the_newest(fences: bool) -> None:
    """Seen on the lab: it runs at once, and led while the former leader recovered; rows were lost.
    With an image that does not obey, nobody leads."""
    scene = {"damage": all_but_the_last, "recovery_s": 60.0, "size_s": 600, "fences": fences}
    end = run_virtual(lambda: logs_lost(**scene))  # type: ignore[arg-type]
    assert (end.leader == end.former) is fences
    assert end.found == []
    assert end.is_whole is fences


@pytest.mark.slow
def test_a_second_loss_is_answered_like_the_first() -> None:
    async def main() -> After:
        world = (await logs_lost()).world
        for node in WORKERS:
            world.power_cut(node)
        await anyio.sleep(10)
        for volume in world.patroni_model.volumes.values():
            volume.raft = "torn"
        for node in WORKERS:
            world.power_on(node)
        await anyio.sleep(300)
        return after(world, Invariants(world), "")

    end = run_virtual(main)
    assert end.found == []
    assert end.is_whole


@pytest.mark.slow
def test_an_image_that_does_not_wait_stays_down() -> None:
    end = run_virtual(lambda: logs_lost(waits=False, size_s=900))
    assert end.leader == ""


@pytest.mark.slow
def test_without_the_rule_they_wait_for_ever() -> None:
    rules = tuple(rule for rule in POSTGRES_CLUSTER.rules if rule is not plan_raft_log)
    end = run_virtual(lambda: logs_lost(ruleset_with(rules), size_s=900))
    assert end.found == []
    assert end.leader == ""


def test_two_lost_logs_join_the_one_that_the_last_leader_has() -> None:
    end = run_virtual(lambda: logs_lost(damage=all_but_the_leader))
    assert end.found == []
    assert end.is_whole


def test_nothing_is_done_while_a_member_is_unknown() -> None:
    end = run_virtual(lambda: logs_lost(away="former"))
    assert end.found == []
    assert end.leader == ""
    assert f"{end.former} does not answer, and may have a Raft log and newer data" in end.hold


@pytest.mark.slow
def test_the_last_member_that_comes_back_ends_the_wait() -> None:
    async def main() -> After:
        first = await logs_lost(away="former")
        first.world.power_on(NODE_OF[first.former])
        await anyio.sleep(300)
        return after(first.world, first.invariants, first.former)

    end = run_virtual(main)
    assert end.found == []
    assert end.is_whole
    assert end.leader == end.former


@pytest.mark.slow
def test_a_request_of_an_earlier_loss_counts_for_nothing() -> None:
    """The member that was asked to lead on then has lost its data, too, now."""

    async def main() -> After:
        first = await logs_lost()
        world, former = first.world, first.leader
        for node in WORKERS:
            world.power_cut(node)
        await anyio.sleep(10)
        for (_, source), volume in world.patroni_model.volumes.items():
            volume.raft = "torn"
            if source.startswith(f"main_{former}"):
                volume.empty()
                volume.set_raft_aside()
        for node in WORKERS:
            world.power_on(node)
        await anyio.sleep(300)
        return after(world, first.invariants, former)

    end = run_virtual(main)
    assert end.found == []
    assert end.leader == ""
    assert f"the Raft node of {end.former} has an empty log" in end.hold


@pytest.mark.slow
def test_an_operator_killed_at_any_boundary_goes_on_where_it_was() -> None:
    """Each request is in its member's service, and the number of the loss on its disk. The third
    member needs none: the two that have begun are a quorum, and spare its log."""
    places: list[str] = []
    for at in range(1, 20):
        killer = KillerAtWrites()

        async def main(at: int = at, killer: Killer = killer) -> After:
            return await logs_lost(size_s=240, killer=killer, kill_at=at)

        end = run_virtual(main)
        assert end.found == [], killer.place
        assert end.is_whole, killer.place
        assert end.leader == end.former, killer.place
        if not killer.place:
            break
        places.append(killer.place)
    asked = {place for place in places if place.startswith("update-service/main_member")}
    assert len(asked) == 4, places  # before and after each


@pytest.mark.parametrize(
    ("damage", "edits"),
    [
        pytest.param(everybody, (first_of(4),), id="all logs"),
        pytest.param(all_but_the_leader, (first_of(4),), id="two", marks=pytest.mark.slow),
        pytest.param(
            everybody, (first_of(4), first_of(3)), id="taken back", marks=pytest.mark.slow
        ),
    ],
)
def test_a_member_that_has_not_begun_is_not_waited_for(
    damage: Damage, edits: tuple[str, ...]
) -> None:
    """Its place is noted, and it has neither a service nor a vote."""
    end = run_virtual(lambda: logs_lost(damage=damage, edits=edits, size_s=600))
    assert end.found == []
    assert end.is_whole, end.hold
    assert end.leader == end.former


class KillerAtWrites(Killer):
    async def __call__(self, what: str) -> None:
        if what.startswith(("update-service", "label-config")):
            await super().__call__(what)
