"""The time for which a Raft node or a member was seen in one state."""

from __future__ import annotations

import dataclasses

from queenright.core.observed import (
    LEADERLESS,
    NODE_DOWN,
    UNLOCKED,
    Known,
    LiveService,
    MemberStatus,
    Observed,
    SwarmState,
    Unknown,
    down_key,
    hung_key,
    joining_key,
    mute_key,
    node_key,
    parameters_key,
    raft_key,
    voters_key,
)
from queenright.engine.sightings import Sightings
from tests.support.builders import raft_status, status, three_nodes
from tests.support.changed import with_member, with_node, with_raft, with_settings

KEY = raft_key("main_member-2")


def at(applied: int, committed: int) -> Observed:
    found = dataclasses.replace(
        raft_status("member-2"), last_applied=applied, commit_index=committed
    )
    return with_raft(three_nodes(), "member-2", found)


def test_it_counts_while_the_node_applies_nothing() -> None:
    seen = Sightings()
    assert KEY not in seen.note(at(9, 9), 0.0)
    assert seen.note(at(1, 9), 1.0)[KEY] == 0.0
    assert seen.note(at(1, 30), 9.0)[KEY] == 8.0
    assert seen.note(at(2, 30), 10.0)[KEY] == 0.0, "it makes progress"
    assert KEY not in seen.note(at(30, 30), 11.0)
    assert seen.note(at(2, 30), 12.0)[KEY] == 0.0, "anew"


def test_a_node_that_does_not_answer_keeps_its_time() -> None:
    seen = Sightings()
    seen.note(at(1, 9), 0.0)
    silent = with_raft(three_nodes(), "member-2", Unknown("timed out"))
    assert seen.note(silent, 5.0)[KEY] == 5.0
    assert seen.note(at(1, 9), 20.0)[KEY] == 20.0


def test_a_silent_node_that_was_well_has_no_time() -> None:
    seen = Sightings()
    seen.note(at(9, 9), 0.0)
    assert KEY not in seen.note(with_raft(three_nodes(), "member-2", Unknown("x")), 5.0)


def test_a_list_of_voters_counts_from_its_last_change() -> None:
    seen, key = Sightings(), voters_key("main_member-2")
    assert seen.note(at(9, 9), 0.0)[key] == 0.0
    assert seen.note(at(10, 10), 70.0)[key] == 70.0
    silent = with_raft(three_nodes(), "member-2", Unknown("timed out"))
    assert seen.note(silent, 80.0)[key] == 80.0
    plain = raft_status("member-2")
    more = dataclasses.replace(plain, reachable=plain.reachable | {"10.77.0.15:5010"})
    assert seen.note(with_raft(three_nodes(), "member-2", more), 90.0)[key] == 0.0


def test_a_member_without_data_counts_until_it_copies() -> None:
    seen, key = Sightings(), hung_key("main_member-2")
    empty = with_member(three_nodes(), "member-2", MemberStatus("stopped", "uninitialized"))
    copies = with_member(three_nodes(), "member-2", MemberStatus("creating replica", "replica"))
    assert seen.note(empty, 0.0)[key] == 0.0
    assert seen.note(empty, 61.0)[key] == 61.0
    assert key not in seen.note(copies, 62.0)
    assert seen.note(empty, 63.0)[key] == 0.0


def test_a_newer_timeline_tells_that_somebody_led_between_two_passes() -> None:
    seen, key = Sightings(), f"{LEADERLESS}main"

    def at(*timelines: int | None) -> Observed:
        observed = dataclasses.replace(three_nodes(), history={"main": Known(())})
        for place, timeline in enumerate(timelines, 1):
            status = MemberStatus("running", "replica", timeline=timeline)
            observed = with_member(observed, f"member-{place}", status)
        return observed

    assert seen.note(at(None, None, None), 0.0)[key] == 0.0
    assert seen.note(at(None, 4, 3), 10.0)[key] == 10.0, "the first that is told tells nothing"
    assert seen.note(at(4, 5, 4), 20.0)[key] == 0.0
    assert seen.note(at(4, None, 5), 30.0)[key] == 10.0, "one that is silent is not forgotten"
    assert seen.note(at(4, 5, 5), 40.0)[key] == 20.0
    assert key not in seen.note(three_nodes(), 50.0)


def test_silent_members_do_not_say_that_nobody_leads() -> None:
    """The time begins with the first word of a member with a quorum, and ends with another word."""
    seen, key = Sightings(), f"{UNLOCKED}main"

    def saying(*unlocked: bool | None, has_quorum: bool = True) -> Observed:
        observed = dataclasses.replace(three_nodes(), history={"main": Known(())})
        for place, word in enumerate(unlocked, 1):
            told = MemberStatus("running", "replica", cluster_unlocked=bool(word))
            reading = Unknown("timed out") if word is None else told
            observed = with_member(observed, f"member-{place}", reading)
        raft = {
            name: Known(dataclasses.replace(node.value, has_quorum=has_quorum))
            for name, node in observed.raft.items()
            if isinstance(node, Known)
        }
        return dataclasses.replace(observed, raft=raft)

    assert key not in seen.note(saying(None, None, None), 0.0)
    assert key not in seen.note(saying(None, True, None, has_quorum=False), 10.0)
    assert seen.note(saying(None, True, None), 20.0)[key] == 0.0
    assert seen.note(saying(True, True, None), 30.0)[key] == 10.0
    assert key not in seen.note(saying(True, True, False), 40.0)
    assert seen.note(saying(True, True, True), 50.0)[key] == 0.0
    lost = dataclasses.replace(saying(None, None, None), swarm=Unknown("no leader"))
    assert key not in seen.note(lost, 60.0)


def test_a_node_is_down_without_a_break() -> None:
    """The time begins anew where it was back between two passes, and where swarm does not say."""
    seen, key = Sightings(), f"{NODE_DOWN}id-node4"
    down = with_node(three_nodes(), "node4", state="down", version=7)
    assert key not in seen.note(three_nodes(), 0.0)
    assert seen.note(down, 10.0)[key] == 0.0
    assert seen.note(down, 50.0)[key] == 40.0
    flapped = with_node(down, "node4", version=9)
    assert seen.note(flapped, 60.0)[key] == 0.0
    assert seen.note(flapped, 70.0)[key] == 10.0
    lost = dataclasses.replace(down, swarm=Unknown("no leader among the managers"))
    assert key not in seen.note(lost, 80.0)
    assert seen.note(flapped, 90.0)[key] == 0.0
    assert key not in seen.note(with_node(down, "node4", state="unknown"), 95.0)


def test_a_list_that_stays_keeps_its_times_and_another_one_is_walked_over() -> None:
    seen, before = Sightings(), three_nodes()
    keys = {live.id for live in swarm_of(before).services}
    seen.note(before, 0.0)
    first, *others = swarm_of(before).services
    moved = dataclasses.replace(first, version=first.version + 1)
    after = with_services(before, (moved, *others))
    ages = seen.note(after, 5.0)
    assert {key for key in keys if ages[key] == 0.0} == {first.id}
    assert ages[node_key(swarm_of(before).nodes[0].id)] == 5.0
    assert first.id not in seen.note(with_services(before, tuple(others)), 6.0)


def test_parameters_count_from_their_last_change() -> None:
    seen, key = Sightings(), parameters_key("main")
    before = with_settings(three_nodes(), postgresql={"parameters": {"work_mem": "8MB"}})
    after = with_settings(three_nodes(), postgresql={"parameters": {"work_mem": "9MB"}})
    assert seen.note(before, 0.0)[key] == 0.0
    assert seen.note(before, 9.0)[key] == 9.0
    assert seen.note(after, 10.0)[key] == 0.0
    assert key not in seen.note(with_settings(three_nodes(), postgresql="text"), 12.0)


def test_what_is_gone_is_forgotten_by_a_part_after_a_look_that_was_ended() -> None:
    """An edit ends a full pass between any two steps, and a look at its clusters follows."""
    before = three_nodes()
    first, *others = swarm_of(before).services
    after = with_services(before, tuple(others))
    for steps in range(1, len([*Sightings().noting(before, 0.0)])):
        seen = Sightings()
        seen.note(before, 0.0)
        ended = seen.noting(after, 5.0)
        for _ in range(steps):
            next(ended)
        ended.close()
        for _ in seen.noting(after, 6.0, frozenset({"main"})):
            pass
        assert first.id not in seen.ages(6.0), steps


def swarm_of(seen: Observed) -> SwarmState:
    assert isinstance(seen.swarm, Known)
    return seen.swarm.value


def with_services(seen: Observed, services: tuple[LiveService, ...]) -> Observed:
    swarm = dataclasses.replace(swarm_of(seen), services=services)
    return dataclasses.replace(seen, swarm=Known(swarm))


def test_a_request_to_change_the_voters_begins_their_time_anew() -> None:
    """Their list may be the same again by the next look; other clusters' lists keep their time."""
    seen, own = Sightings(), voters_key("main_member-2")
    found = three_nodes()
    other = dataclasses.replace(
        found, raft={**found.raft, "mainly_member-1": found.raft["main_member-1"]}
    )
    seen.note(other, 0.0)
    seen.forget_voters("main")
    ages = seen.note(other, 50.0)
    assert ages[own] == 0.0
    assert ages[voters_key("mainly_member-1")] == 50.0


def test_a_member_whose_patroni_answers_now_and_then_is_down_all_the_time() -> None:
    """It waits for connections that PostgreSQL refuses; its Raft node answers."""
    seen, key = Sightings(), down_key("main_member-2")
    unknown = status("member-2", "member-1", state="unknown", replication_state="")
    late = with_member(three_nodes(), "member-2", Unknown("no answer within 2 s"))
    assert key not in seen.note(three_nodes(), 0.0)
    assert seen.note(late, 1.0)[key] == 0.0
    assert seen.note(with_member(three_nodes(), "member-2", unknown), 31.0)[key] == 30.0
    assert seen.note(late, 61.0)[key] == 60.0
    off = with_raft(late, "member-2", Unknown("timed out"))
    assert seen.note(off, 70.0)[key] == 69.0, "its health check has ended its container"
    assert seen.note(late, 80.0)[key] == 79.0
    assert key not in seen.note(three_nodes(), 90.0)
    assert key not in seen.note(off, 91.0), "a node without power is no damage"


def test_the_way_back_to_a_leader_begins_again_under_another_one() -> None:
    """Patroni compares the data with the new leader's, and may rewind them now."""
    seen, key = Sightings(), joining_key("main_member-2")
    running = status("member-2", "member-1", replication_state="")
    back = with_member(three_nodes(), "member-2", running)
    assert seen.note(back, 0.0)[key] == 0.0
    assert seen.note(back, 50.0)[key] == 50.0
    nobody = with_member(three_nodes(leader="nobody"), "member-2", running)
    assert key not in seen.note(nobody, 60.0)
    assert seen.note(back, 70.0)[key] == 0.0
    third = with_member(three_nodes(leader="member-3"), "member-2", running)
    assert seen.note(third, 80.0)[key] == 0.0
    silent = with_member(three_nodes(leader="member-3"), "member-2", Unknown("timed out"))
    assert seen.note(silent, 90.0)[key] == 10.0, "its health check has ended its container"
    assert seen.note(third, 100.0)[key] == 20.0
    assert key not in seen.note(three_nodes(leader="member-3"), 110.0)
    assert key not in seen.note(silent, 120.0)


def test_a_raft_node_that_is_silent_beside_a_patroni_that_answers_has_a_time() -> None:
    seen, key = Sightings(), mute_key("main_member-2")
    mute = with_raft(three_nodes(), "member-2", Unknown("timed out"))
    assert key not in seen.note(three_nodes(), 0.0)
    assert seen.note(mute, 10.0)[key] == 0.0
    assert seen.note(mute, 70.0)[key] == 60.0
    silent = with_member(mute, "member-2", Unknown("timed out"))
    assert key not in seen.note(silent, 80.0), "its container may start again"
    assert seen.note(mute, 90.0)[key] == 0.0
    assert key not in seen.note(three_nodes(), 100.0)
