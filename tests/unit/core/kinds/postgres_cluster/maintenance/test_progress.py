"""Nodes in maintenance: each stage's whole plan, and the message for the person who waits."""

from __future__ import annotations

from datetime import timedelta

import pytest

from queenright.core.kinds.postgres_cluster.annotations import Annotations, PendingSwitchover
from queenright.core.kinds.postgres_cluster.maintenance.progress import maintenance_summary
from queenright.core.kinds.postgres_cluster.patroni.config_keys import PAUSE_KEY, ROUTE_KEY
from queenright.core.observed import Known, Node, RaftStatus, Unknown
from tests.golden.messages import assert_words
from tests.support.builders import NOW
from tests.support.pausing_worlds import World, actions, holds, our_pause, pin, settled, writes

TWO = "{nodes: [node3, node4]}"
BOTH_OFF = frozenset({"node3", "node4"})
PAUSED = World(maintenance=TWO, settings=our_pause())


def is_safe(world: World) -> bool:
    """True if the nodes may be powered off; the hold's words are compared with the page."""
    (hold,) = (hold for hold in holds(world) if hold.key == "maintenance/main")
    assert_words(hold)
    assert maintenance_summary(world.state()).startswith(hold.reason)
    return hold.is_informational


def test_a_lost_quorum_is_prepared_by_pause_and_pin_in_one_write() -> None:
    patch = {"pause": True, PAUSE_KEY: "maintenance", ROUTE_KEY: pin(age_s=0)}
    assert writes(World(maintenance=TWO)) == [("pause/main", patch)]
    assert not is_safe(World(maintenance=TWO))
    assert_words(*actions(World(maintenance=TWO)))


def test_a_write_goes_to_the_leader_and_rests_on_what_was_there() -> None:
    left = {PAUSE_KEY: "promotion", ROUTE_KEY: pin("member-3")}
    action = actions(World(maintenance=TWO, settings=left))[0]
    assert (action.address, action.port, action.secret) == ("10.77.0.12", 8008, "pg_rest_pw")
    assert action.expected == {"pause": None, **left}


def test_the_proxies_hint_of_a_move_is_taken_back_first() -> None:
    told = World(maintenance=TWO, settings={ROUTE_KEY: "follow member-1 60 1.000"})
    assert actions(told) == []
    assert_words(holds(told)[0])


def test_it_is_safe_once_every_proxy_has_read_the_pin() -> None:
    fresh = PAUSED.otherwise(settings=our_pause(age_s=3))
    assert not is_safe(fresh)
    assert holds(fresh)[0].recheck_at == NOW + timedelta(seconds=2)
    assert is_safe(PAUSED)
    assert not holds(PAUSED)[0].wants_attention


def test_it_is_safe_only_once_every_member_says_that_it_is_paused() -> None:
    late = PAUSED.otherwise(said={"member-2": {"paused": False}})
    assert actions(late) == []
    assert not is_safe(late)


def test_nodes_that_are_off_are_in_maintenance_and_nothing_is_asked_for() -> None:
    both = PAUSED.otherwise(off=BOTH_OFF)
    for world in (PAUSED.otherwise(off=frozenset({"node4"})), both):
        assert actions(world) == []
        assert not is_safe(world)
        assert not holds(world)[0].wants_attention
    dead = both.otherwise(off=BOTH_OFF | {"node2"})
    assert not is_safe(dead)
    assert holds(dead)[0].wants_attention


def test_the_lead_moves_to_a_member_that_stays_first() -> None:
    world = World(maintenance=TWO, leader="member-2")
    assert actions(world) == []
    assert not is_safe(world)


def test_a_pause_that_is_not_for_maintenance_keeps_the_lead_from_moving() -> None:
    wanted = World(
        maintenance=TWO,
        leader="member-2",
        promotion="paused",
        settings={"pause": True, PAUSE_KEY: "promotion"},
    )
    assert holds(wanted)[0].wants_attention
    assert_words(holds(wanted)[0])
    foreign = wanted.otherwise(promotion="active", settings={"pause": True})
    assert actions(foreign) == []
    assert_words(holds(foreign)[0])


def test_a_lead_that_is_moving_is_waited_for() -> None:
    moving = Annotations(move=PendingSwitchover("member-2", "member-1", 1, NOW, "maintenance"))
    world = World(maintenance=TWO, annotations=moving)
    assert actions(world) == []
    assert_words(holds(world)[0])
    assert not is_safe(PAUSED.otherwise(annotations=moving))


def test_nobody_is_left_to_lead() -> None:
    everywhere = World(maintenance="{nodes: [node2, node3, node4]}")
    assert actions(everywhere) == []
    assert holds(everywhere)[0].wants_attention
    assert_words(holds(everywhere)[0])


FIVE = World(size=5, maintenance=TWO)


def test_a_majority_that_stays_needs_no_pause() -> None:
    for off, safe in ((frozenset(), True), (frozenset({"node3"}), True), (BOTH_OFF, False)):
        world = FIVE.otherwise(off=off)
        assert actions(world) == []
        assert is_safe(world) is safe


UNRELIABLE = {
    "silent": FIVE.otherwise(off=frozenset({"node5"})),
    "changed": FIVE.otherwise(changed=frozenset({"member-4"})),
    "not streaming": FIVE.otherwise(said={"member-5": {"replication_state": ""}}),
    "no quorum": FIVE.otherwise(raft={"member-4": Known(RaftStatus(has_quorum=False))}),
    "cut off": FIVE.otherwise(raft={"member-4": Known(RaftStatus(has_quorum=True))}),
}


@pytest.mark.parametrize("world", UNRELIABLE.values(), ids=UNRELIABLE)
def test_a_majority_is_relied_on_only_while_all_of_it_is_well(world: World) -> None:
    assert not is_safe(world)
    assert actions(world) == []


def test_five_members_lose_the_quorum_with_three() -> None:
    three = World(size=5, maintenance="{nodes: [node4, node5, node6]}")
    assert [key for key, _ in writes(three)] == ["pause/main"]
    assert is_safe(settled(three))


MISSING = {
    "silent": (PAUSED.otherwise(settings={}, off=frozenset({"node4"})), True),
    "not streaming": (World(maintenance=TWO, said={"member-2": {"replication_state": ""}}), False),
    "Raft node silent": (World(maintenance=TWO, raft={"member-3": Unknown("timed out")}), False),
    "changed": (World(maintenance=TWO, changed=frozenset({"member-3"})), False),
    "second primary": (World(maintenance=TWO, said={"member-3": {"role": "primary"}}), True),
}


@pytest.mark.parametrize(("world", "attention"), MISSING.values(), ids=MISSING)
def test_nothing_is_paused_while_a_member_is_missing(world: World, attention: bool) -> None:
    assert actions(world) == []
    assert not is_safe(world)
    assert holds(world)[0].wants_attention is attention


def test_a_pin_follows_a_leader_that_was_changed_by_hand() -> None:
    moved = World(maintenance="{nodes: [node3, node4]}", settings=our_pause())
    moved = moved.otherwise(settings={**our_pause(), ROUTE_KEY: pin("member-2")})
    assert writes(moved) == [("pin/main", {ROUTE_KEY: pin(age_s=0)})]
    assert not is_safe(moved)
    tomorrow = {**our_pause(), ROUTE_KEY: pin(age_s=-86400)}
    assert writes(moved.otherwise(settings=tomorrow)) == writes(moved)


def test_replicas_that_a_paused_patroni_does_not_start_are_no_reason_to_stay_paused() -> None:
    """Their Patroni answers and affirms the quorum; PostgreSQL is started by the resume."""
    stopped = {"state": "stopped", "replication_state": ""}
    back = World(settings=our_pause(), said={"member-2": stopped, "member-3": stopped})
    patch = {"pause": None, PAUSE_KEY: None, ROUTE_KEY: pin(age_s=0)}
    assert writes(back) == [("resume/main", patch)]
    assert_words(*holds(back))


def test_a_pause_is_lifted_only_when_everybody_is_back_that_may_be_alive() -> None:
    world = World(settings=our_pause(), raft={"member-2": Unknown("timed out")})
    assert actions(world) == []
    assert_words(*holds(world))


def test_a_node_that_does_not_come_back_keeps_no_pause() -> None:
    """The others are a quorum: without the resume nobody would take over for the leader, and the
    dead member could not be replaced."""
    gone = World(settings=our_pause(), off=frozenset({"node4"}))
    assert [key for key, _ in writes(gone)] == ["resume/main"]
    both = World(settings=our_pause(), off=frozenset({"node3", "node4"}))
    assert actions(both) == []


def test_without_a_proven_leader_nothing_is_lifted() -> None:
    lockless = World(settings=our_pause(), said={"member-1": {"holds_lock": False}})
    assert actions(lockless) == []


def test_the_pin_outlasts_the_pause_until_the_checks_have_seen_the_leader() -> None:
    resumed = World(settings={ROUTE_KEY: pin(age_s=4)})
    assert (actions(resumed), [hold.key for hold in holds(resumed)]) == ([], ["maintenance/main"])
    assert_words(*holds(resumed))
    assert holds(resumed)[0].recheck_at == NOW + timedelta(seconds=6)
    assert writes(resumed.later(6)) == [("unpin/main", {ROUTE_KEY: None})]
    assert_words(*actions(resumed.later(6)))
    late = resumed.later(6).otherwise(said={"member-3": {"paused": True}})
    assert actions(late) == []
    assert_words(holds(late)[0])


def test_a_pin_for_another_member_than_the_leader_is_void() -> None:
    world = World(settings={ROUTE_KEY: pin("member-2", age_s=1)})
    assert writes(world) == [("unpin/main", {ROUTE_KEY: None})]


def test_withdrawn_or_expired_everything_goes_back() -> None:
    for maintenance in ("{}", "{nodes: [node3, node4], until: 2026-01-01T11:00Z}"):
        end = settled(PAUSED.otherwise(maintenance=maintenance))
        assert end.settings == {}
        assert holds(end) == []
        assert maintenance_summary(end.state()) == ""


def test_the_end_is_waited_for() -> None:
    until = PAUSED.otherwise(maintenance="{nodes: [node3, node4], until: 2026-01-01T13:00Z}")
    assert holds(until)[0].recheck_at == NOW + timedelta(hours=1)


def test_fewer_nodes_with_a_majority_staying_end_the_pause() -> None:
    fewer = PAUSED.otherwise(maintenance="{nodes: [node4]}")
    assert [key for key, _ in writes(fewer)] == ["resume/main"]
    end = settled(fewer)
    assert end.settings == {}
    assert is_safe(end)


def test_other_nodes_in_the_middle_lift_the_pause_for_the_lead_to_move() -> None:
    edited = PAUSED.otherwise(maintenance="{nodes: [node2, node3]}")
    assert [key for key, _ in writes(edited)] == ["resume/main"]
    resumed = edited.patched(actions(edited)[0]).later(60)
    assert actions(resumed) == [], "the hint of the move takes the pin's place"
    assert_words(holds(resumed)[0])
    end = settled(edited)
    assert end.leader == "member-3"
    assert end.settings[ROUTE_KEY].startswith("pin member-3 ")
    assert is_safe(end)


def test_somebody_elses_pause_is_used_and_left() -> None:
    foreign = World(maintenance=TWO, settings={"pause": True})
    assert writes(foreign) == [("pin/main", {ROUTE_KEY: pin(age_s=0)})]
    end = settled(foreign)
    assert set(end.settings) == {"pause", ROUTE_KEY}
    assert is_safe(end)
    over = settled(end.otherwise(maintenance="{}").later(60))
    assert over.settings == {"pause": True}


def test_nodes_without_a_member_are_told_apart() -> None:
    found = holds(World(maintenance="{nodes: [node1, node9]}"))
    assert [(h.key, h.wants_attention) for h in found] == [
        ("maintenance/main/node1", False),
        ("maintenance/main/node9", True),
        ("maintenance/main/managers", True),
    ]
    assert_words(found[0])
    more = tuple(Node(f"id-m{k}", f"manager{k}", f"10.77.0.2{k}", "manager") for k in (1, 2))
    spare = World(maintenance="{nodes: [node1]}", extra_nodes=more)
    assert [hold.key for hold in holds(spare)] == ["maintenance/main/node1"]
