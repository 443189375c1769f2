"""Nodes in maintenance: each stage's whole plan, and what is told to whoever waits for it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from queenright.core.maintenance import maintenance_summary
from queenright.core.notes import MoveNote, Notes
from queenright.core.observed import Known, Node, RaftStatus, Unknown
from queenright.core.published import PAUSE_KEY, ROUTE_KEY
from tests.builders import NOW
from tests.pausing_worlds import World, actions, holds, our_pause, pin, settled, steps

TWO = "{nodes: [node3, node4]}"
BOTH_OFF = frozenset({"node3", "node4"})
PAUSED = World(maintenance=TWO, settings=our_pause())


def test_a_lost_quorum_is_prepared_by_pause_and_pin_in_one_write() -> None:
    assert steps(World(maintenance=TWO)) == (
        [("pause/main", {"pause": True, PAUSE_KEY: "maintenance", ROUTE_KEY: pin(age_s=0)})],
        [
            (
                "maintenance/main",
                (
                    "not yet safe to power off node3, node4: Patroni is paused and port 5000 "
                    "pinned to member-1 first"
                ),
            )
        ],
    )


def test_a_write_goes_to_the_leader_and_rests_on_what_was_there() -> None:
    left = {PAUSE_KEY: "promotion", ROUTE_KEY: pin("member-3")}
    action = actions(World(maintenance=TWO, settings=left))[0]
    assert (action.address, action.port, action.secret) == ("10.77.0.12", 8008, "pg_rest_pw")
    assert action.expected == {"pause": None, **left}


def test_the_proxies_hint_of_a_move_is_taken_back_first() -> None:
    told = World(maintenance=TWO, settings={ROUTE_KEY: "follow member-1 60 1.000"})
    assert actions(told) == []
    assert holds(told)[0].reason.endswith("the lead has moved: the proxies look as usual")


def test_it_is_safe_once_every_proxy_has_read_the_pin() -> None:
    fresh = PAUSED.otherwise(settings=our_pause(age_s=3))
    assert steps(fresh) == (
        [],
        [
            (
                "maintenance/main",
                (
                    "not yet safe to power off node3, node4: the proxies are reading that member-1 "
                    "stays"
                ),
            )
        ],
    )
    assert holds(fresh)[0].recheck_at == NOW + timedelta(seconds=2)
    assert steps(PAUSED) == ([], [("maintenance/main", "safe to power off: node3, node4")])
    assert not holds(PAUSED)[0].wants_attention


def test_it_is_safe_only_once_every_member_says_that_it_is_paused() -> None:
    late = PAUSED.otherwise(said={"member-2": {"paused": False}})
    assert steps(late) == (
        [],
        [
            (
                "maintenance/main",
                (
                    "not yet safe to power off node3, node4: member-2 does not say yet that it is "
                    "paused"
                ),
            )
        ],
    )


def test_nodes_that_are_off_are_in_maintenance_and_nothing_is_asked_for() -> None:
    told = "node3, node4 are in maintenance; Patroni is paused, port 5000 is pinned to member-1"
    one = PAUSED.otherwise(off=frozenset({"node4"}))
    assert steps(one) == ([], [("maintenance/main", told)])
    both = PAUSED.otherwise(off=BOTH_OFF)
    unproven = (
        "node3, node4 are in maintenance; Patroni is paused, member-1 goes on without a quorum"
    )
    assert steps(both) == ([], [("maintenance/main", unproven)])
    dead = both.otherwise(off=BOTH_OFF | {"node2"})
    assert holds(dead)[0].wants_attention
    assert holds(dead)[0].reason.startswith("not safe to power off node3, node4: there is no")


def test_the_lead_moves_to_a_member_that_stays_first() -> None:
    assert steps(World(maintenance=TWO, leader="member-2")) == (
        [],
        [
            (
                "maintenance/main",
                (
                    "not yet safe to power off node3, node4: member-2 leads on node3, and the lead "
                    "moves to a member that stays first"
                ),
            )
        ],
    )


def test_a_pause_that_is_not_for_maintenance_keeps_the_lead_from_moving() -> None:
    wished = World(
        maintenance=TWO,
        leader="member-2",
        promotion="paused",
        settings={"pause": True, PAUSE_KEY: "promotion"},
    )
    assert holds(wished)[0].wants_attention
    assert "the file pauses promotion" in holds(wished)[0].reason
    foreign = wished.otherwise(promotion="active", settings={"pause": True})
    assert actions(foreign) == []
    assert "somebody else has paused Patroni" in holds(foreign)[0].reason


def test_a_lead_that_is_moving_is_waited_for() -> None:
    moving = Notes(move=MoveNote("member-2", "member-1", 1, NOW, "maintenance"))
    world = World(maintenance=TWO, notes=moving)
    assert actions(world) == []
    assert "the lead is moving from member-2 to member-1" in holds(world)[0].reason
    assert not maintenance_summary(PAUSED.otherwise(notes=moving).situation()).startswith("safe")


def test_nobody_is_left_to_lead() -> None:
    everywhere = World(maintenance="{nodes: [node2, node3, node4]}")
    assert actions(everywhere) == []
    assert holds(everywhere)[0].wants_attention
    assert "every member is on a node in maintenance" in holds(everywhere)[0].reason


FIVE = World(size=5, maintenance=TWO)


def test_a_majority_that_stays_needs_no_pause() -> None:
    assert steps(FIVE) == ([], [("maintenance/main", "safe to power off: node3, node4")])
    off = FIVE.otherwise(off=frozenset({"node3"}))
    assert steps(off) == ([], [("maintenance/main", "safe to power off: node4")])
    assert steps(FIVE.otherwise(off=BOTH_OFF))[1] == [
        (
            "maintenance/main",
            "node3, node4 are in maintenance; the members that stay have the quorum",
        )
    ]


@pytest.mark.parametrize(
    ("world", "why"),
    [
        (FIVE.otherwise(off=frozenset({"node5"})), "member-4, which stays, does not answer"),
        (FIVE.otherwise(changed=frozenset({"member-4"})), "main_member-4 was changed a moment ago"),
        (
            FIVE.otherwise(said={"member-5": {"replication_state": ""}}),
            "member-5, which stays, is running, not streaming",
        ),
        (
            FIVE.otherwise(raft={"member-4": Known(RaftStatus(has_quorum=False))}),
            "the Raft node of member-4 has no quorum",
        ),
        (
            FIVE.otherwise(raft={"member-4": Known(RaftStatus(has_quorum=True))}),
            "the Raft node of member-4 does not reach member-1 (10.77.0.12:5010)",
        ),
    ],
)
def test_a_majority_is_relied_on_only_while_all_of_it_is_well(world: World, why: str) -> None:
    reason = maintenance_summary(world.situation())
    assert reason.startswith("not yet safe to power off node3, node4: ")
    assert why in reason
    assert actions(world) == []


def test_five_members_lose_the_quorum_with_three() -> None:
    three = World(size=5, maintenance="{nodes: [node4, node5, node6]}")
    assert [key for key, _ in steps(three)[0]] == ["pause/main"]
    assert maintenance_summary(settled(three).situation()) == (
        "safe to power off: node4, node5, node6"
    )


@pytest.mark.parametrize(
    ("world", "why", "attention"),
    [
        (PAUSED.otherwise(settings={}, off=frozenset({"node4"})), "member-3 does not answer", True),
        (
            World(maintenance=TWO, said={"member-2": {"replication_state": ""}}),
            "member-2 is running, not streaming",
            False,
        ),
        (
            World(maintenance=TWO, raft={"member-3": Unknown("timed out")}),
            "the Raft node of member-3 does not answer",
            False,
        ),
        (
            World(maintenance=TWO, changed=frozenset({"member-3"})),
            "main_member-3 was changed a moment ago",
            False,
        ),
        (
            World(maintenance=TWO, said={"member-3": {"role": "primary"}}),
            "member-3 runs as primary without the lock",
            True,
        ),
    ],
)
def test_nothing_is_paused_while_a_member_is_missing(
    world: World, why: str, attention: bool
) -> None:
    assert actions(world) == []
    assert why in holds(world)[0].reason
    assert holds(world)[0].wants_attention is attention


def test_a_pin_follows_a_leader_that_was_changed_by_hand() -> None:
    moved = World(maintenance="{nodes: [node3, node4]}", settings=our_pause())
    moved = moved.otherwise(settings={**our_pause(), ROUTE_KEY: pin("member-2")})
    assert steps(moved)[0] == [("pin/main", {ROUTE_KEY: pin(age_s=0)})]
    assert steps(moved)[1][0][1].startswith("not yet safe to power off node3, node4")
    tomorrow = {**our_pause(), ROUTE_KEY: pin(age_s=-86400)}
    assert steps(moved.otherwise(settings=tomorrow))[0] == steps(moved)[0]


def test_replicas_that_a_paused_patroni_does_not_start_are_no_reason_to_stay_paused() -> None:
    """Their Patroni answers and affirms the quorum; PostgreSQL is started by the resume."""
    stopped = {"state": "stopped", "replication_state": ""}
    back = World(settings=our_pause(), said={"member-2": stopped, "member-3": stopped})
    assert steps(back) == (
        [("resume/main", {"pause": None, PAUSE_KEY: None, ROUTE_KEY: pin(age_s=0)})],
        [("maintenance/main", "Patroni is resumed: maintenance is over")],
    )


@pytest.mark.parametrize(
    ("world", "why"),
    [
        (World(settings=our_pause(), off=frozenset({"node4"})), "member-3 does not answer"),
        (
            World(settings=our_pause(), raft={"member-2": Unknown("timed out")}),
            "the Raft node of member-2 does not answer",
        ),
    ],
)
def test_a_pause_is_lifted_only_when_everybody_is_back(world: World, why: str) -> None:
    assert actions(world) == []
    assert why in holds(world)[0].reason


def test_without_a_proven_leader_nothing_is_lifted() -> None:
    lockless = World(settings=our_pause(), said={"member-1": {"holds_lock": False}})
    assert actions(lockless) == []


def test_the_pin_outlasts_the_pause_until_the_checks_have_seen_the_leader() -> None:
    resumed = World(settings={ROUTE_KEY: pin(age_s=4)})
    key, reason = steps(resumed)[1][0]
    assert (steps(resumed)[0], key) == ([], "maintenance/main")
    assert reason.endswith("they have to see member-1 again")
    assert holds(resumed)[0].recheck_at == NOW + timedelta(seconds=6)
    assert steps(resumed.later(6))[0] == [("unpin/main", {ROUTE_KEY: None})]
    late = resumed.later(6).otherwise(said={"member-3": {"paused": True}})
    assert actions(late) == []
    assert "member-3 still says that Patroni is paused" in holds(late)[0].reason


def test_a_pin_for_another_member_than_the_leader_is_void() -> None:
    assert steps(World(settings={ROUTE_KEY: pin("member-2", age_s=1)}))[0] == [
        ("unpin/main", {ROUTE_KEY: None})
    ]


def test_withdrawn_or_expired_everything_goes_back() -> None:
    for maintenance in ("{}", "{nodes: [node3, node4], until: 2026-01-01T11:00Z}"):
        end = settled(PAUSED.otherwise(maintenance=maintenance))
        assert end.settings == {}
        assert holds(end) == []
        assert maintenance_summary(end.situation()) == ""


def test_the_end_is_waited_for() -> None:
    until = PAUSED.otherwise(maintenance="{nodes: [node3, node4], until: 2026-01-01T13:00Z}")
    assert holds(until)[0].recheck_at == NOW + timedelta(hours=1)


def test_fewer_nodes_with_a_majority_staying_end_the_pause() -> None:
    fewer = PAUSED.otherwise(maintenance="{nodes: [node4]}")
    assert [key for key, _ in steps(fewer)[0]] == ["resume/main"]
    end = settled(fewer)
    assert end.settings == {}
    assert maintenance_summary(end.situation()) == "safe to power off: node4"


def test_other_nodes_in_the_middle_lift_the_pause_for_the_lead_to_move() -> None:
    edited = PAUSED.otherwise(maintenance="{nodes: [node2, node3]}")
    assert [key for key, _ in steps(edited)[0]] == ["resume/main"]
    resumed = edited.patched(actions(edited)[0]).later(60)
    assert actions(resumed) == [], "the hint of the move takes the pin's place"
    assert "the lead will move to member-3" in holds(resumed)[0].reason
    end = settled(edited)
    assert end.leader == "member-3"
    assert end.settings[ROUTE_KEY].startswith("pin member-3 ")
    assert maintenance_summary(end.situation()) == "safe to power off: node2, node3"


def test_somebody_elses_pause_is_used_and_left() -> None:
    foreign = World(maintenance=TWO, settings={"pause": True})
    assert steps(foreign)[0] == [("pin/main", {ROUTE_KEY: pin(age_s=0)})]
    end = settled(foreign)
    assert set(end.settings) == {"pause", ROUTE_KEY}
    assert maintenance_summary(end.situation()) == (
        "safe to power off: node3, node4 (as long as nobody lifts the pause, which somebody else "
        "has set)"
    )
    over = settled(end.otherwise(maintenance="{}").later(60))
    assert over.settings == {"pause": True}


def test_nodes_without_a_member_are_told_apart() -> None:
    found = holds(World(maintenance="{nodes: [node1, node9]}"))
    assert [(h.key, h.wants_attention) for h in found] == [
        ("maintenance/main/node1", False),
        ("maintenance/main/node9", True),
        ("maintenance/main/managers", True),
    ]
    assert found[0].reason == (
        "safe to power off: node1, as no member of this cluster runs there; its proxy goes with it"
    )
    more = tuple(Node(f"id-m{k}", f"manager{k}", f"10.77.0.2{k}", "manager") for k in (1, 2))
    spare = World(maintenance="{nodes: [node1]}", extra_nodes=more)
    assert [hold.key for hold in holds(spare)] == ["maintenance/main/node1"]
