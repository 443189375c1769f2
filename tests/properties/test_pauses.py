"""Properties of the pause and the pin in any world."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from queenright.core.kinds.postgres_cluster.maintenance.progress import PIN_READ, maintenance_holds
from queenright.core.kinds.postgres_cluster.patroni.config_keys import (
    PAUSE_KEY,
    ROUTE_KEY,
    read_route,
)
from queenright.core.kinds.postgres_cluster.topology.settled import dead_members
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Known, RaftStatus, Unknown
from queenright.core.planning.plan import Plan
from tests.support.examples import EXAMPLES
from tests.support.pausing_worlds import World, actions, histories, holds, node_of, pin

fast = settings(max_examples=3 * EXAMPLES, deadline=None, derandomize=EXAMPLES <= 80)

PROMOTIONS = st.sampled_from(["active", "paused", "{state: paused, until: 2026-01-01T11:00Z}"])
ENDS = st.sampled_from(["", ", until: 2026-01-01T13:00Z", ", until: 2026-01-01T11:00Z"])
KEYS = st.sampled_from([None, "maintenance", "promotion", "whatever"])
ROUTES = st.sampled_from(
    [None, "?", "follow member-2 60 1767268799.000"]
    + [pin(name, age) for name in ("member-1", "member-2") for age in (-60, 0, 4.9, 5, 11, 3600)]
)
SAID: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {},
        {"state": "stopped", "replication_state": ""},
        {"replication_state": ""},
        {"paused": True},
        {"paused": False},
        {"role": "primary"},
        {"holds_lock": False},
        {"role": "primary", "holds_lock": True},
        {"timeline": None},
    ]
)
RAFT = st.sampled_from(
    [None, None, None, Unknown("timed out"), Known(RaftStatus(False)), Known(RaftStatus(True))]
)


@st.composite
def orderly(draw: st.DrawFn) -> World:
    """Draw a world in which everybody is well, with any file and any settings."""
    size = draw(st.sampled_from([3, 5]))
    names = [f"member-{k}" for k in range(1, size + 1)]
    maintained = draw(st.lists(st.sampled_from([node_of(n) for n in names]), unique=True))
    kept = {
        "pause": draw(st.sampled_from([None, True])),
        PAUSE_KEY: draw(KEYS),
        ROUTE_KEY: draw(ROUTES),
    }
    return World(
        size=size,
        maintenance=f"{{nodes: [{', '.join(sorted(maintained))}]{draw(ENDS)}}}",
        promotion=draw(PROMOTIONS),
        leader=draw(st.sampled_from(names)),
        settings={key: value for key, value in kept.items() if value is not None},
    )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Anything may be off, silent, or otherwise."""
    world = draw(orderly())
    off = draw(st.lists(st.sampled_from([node_of(n) for n in world.names]), max_size=3))
    raft = {name: reading for name in world.names if (reading := draw(RAFT)) is not None}
    some = draw(st.lists(st.sampled_from(world.names), max_size=2))
    return world.otherwise(off=frozenset(off), raft=raft, said={name: draw(SAID) for name in some})


@given(worlds())
@fast
def test_nothing_is_asked_for_without_a_quorum_that_everybody_affirms(world: World) -> None:
    """Of everybody: but a resume does not wait for the dead, where the others are most."""
    found = actions(world)
    readings = world.observed().raft
    alive = [r for name, r in readings.items() if name not in dead_services(world)]
    resumes = all(action.key.startswith("resume/") for action in found)
    counted = alive if resumes and 2 * len(alive) > len(readings) else [*readings.values()]
    certain = all(isinstance(r, Known) and r.value.has_quorum for r in counted)
    assert certain or found == []


def dead_services(world: World) -> set[str]:
    state = world.state()
    return {member.service.name for member in dead_members(state)} if state.leader else set()


@given(worlds())
@fast
def test_a_foreign_pause_is_left_alone(world: World) -> None:
    kept = world.settings
    if kept.get("pause") and kept.get(PAUSE_KEY) not in {"maintenance", "promotion"}:
        for action in actions(world):
            assert set(action.patch) == {ROUTE_KEY}


@given(worlds())
@fast
def test_every_write_rests_on_what_was_observed_and_no_guard_minds(world: World) -> None:
    found = actions(world)
    assert len(found) <= 1
    for action in found:
        assert action.expected == {key: world.settings.get(key) for key in action.patch}
        assert (
            PAUSE_KEY not in action.patch
            or "pause" in action.patch
            or (not world.settings.get("pause"))
        ), "whose a pause is changes with the pause alone"
    refusal = first_refusal(Plan("main", "x", tuple(found)), world.observed())
    assert refusal is None, refusal


def is_safe(world: World) -> bool:
    """Return True if the nodes are safe to stop, computed a second time from the world alone."""
    state = world.state()
    leader, away = state.leader, state.maintained
    members = world.observed().members
    statuses = {
        name: reading.value
        for name in world.names
        if isinstance(reading := members[f"main_{name}"], Known)
    }
    staying = [name for name in world.names if node_of(name) not in away]
    if leader is None or leader.name not in staying:
        return False
    if not all(name in statuses and statuses[name].is_well for name in staying):
        return False
    if 2 * len(staying) > world.size:
        raft = [world.raft_reading(name) for name in staying]
        return all(isinstance(r, Known) and r.value.has_quorum for r in raft)
    route = read_route(world.settings)
    return (
        bool(world.settings.get("pause"))
        and len(statuses) == world.size
        and all(status.paused for status in statuses.values())
        and route is not None
        and (route.kind, route.member) == ("pin", leader.name)
        and world.now - route.at >= PIN_READ
    )


def says_safe(world: World) -> bool:
    found = [h for h in maintenance_holds(world.state()) if h.key == "maintenance/main"]
    assert len(found) <= 1
    return any(hold.reason.startswith("safe to power off") for hold in found)


@given(worlds())
@fast
def test_safe_is_said_only_where_it_is(world: World) -> None:
    assert is_safe(world) or not says_safe(world)


@given(worlds())
@fast
def test_every_hold_says_why(world: World) -> None:
    for hold in holds(world):
        assert hold.reason
        assert "\n" not in hold.reason
        assert hold.recheck_at is None or hold.recheck_at > world.now


@given(orderly())
@fast
def test_where_all_are_well_it_comes_to_an_end(world: World) -> None:
    """At the end the file's pauses are set, others are lifted, and a foreign pause stays; at no
    moment is Patroni paused for maintenance without a pin."""
    foreign = world.settings.get("pause") and world.settings.get(PAUSE_KEY) not in {
        "maintenance",
        "promotion",
    }
    last = world
    for last in histories(world):
        if last.settings.get(PAUSE_KEY) == "maintenance" and not actions(last):
            route = read_route(last.settings)
            assert route is not None
            assert (route.kind, route.member) == ("pin", last.leader)
    state = last.state()
    if node_of(last.leader) in state.maintained:
        assert any(hold.wants_attention for hold in holds(last))
        assert (
            foreign
            or state.desired.policy.promotion.is_paused(last.now)
            or not (set(map(node_of, last.names)) - set(state.maintained))
        )
        return
    staying = last.size - len(state.maintained)
    pinned = 2 * staying <= last.size
    promoted = state.desired.policy.promotion.is_paused(last.now)
    route = read_route(last.settings)
    assert (route is not None and route.kind == "pin") == pinned
    assert says_safe(last) == bool(state.maintained)
    if foreign:
        assert last.settings["pause"]
        assert last.settings.get(PAUSE_KEY) == world.settings.get(PAUSE_KEY)
    else:
        reason = "maintenance" if pinned else "promotion" if promoted else None
        assert last.settings.get(PAUSE_KEY) == reason
        assert bool(last.settings.get("pause")) == bool(reason)
