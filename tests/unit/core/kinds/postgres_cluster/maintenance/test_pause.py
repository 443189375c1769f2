"""`promotion: paused`: Patroni's pause in the operator's name; nobody else's is touched."""

from __future__ import annotations

from datetime import timedelta

import pytest

from queenright.core.kinds.postgres_cluster.patroni.config_keys import PAUSE_KEY, ROUTE_KEY
from queenright.core.observed import Known, RaftStatus, Unknown
from tests.golden.messages import assert_words
from tests.support.builders import NOW
from tests.support.pausing_worlds import World, actions, holds, our_pause, pin, settled, writes

UNTIL = "{state: paused, until: 2026-01-01T13:00Z}"
OURS = {"pause": True, PAUSE_KEY: "promotion"}


def test_the_pause_carries_its_reason() -> None:
    assert writes(World(promotion="paused")) == [("pause/main", OURS)]
    assert holds(World(promotion="paused")) == []
    assert_words(*actions(World(promotion="paused")))


def test_a_pause_in_force_is_told_until_its_end() -> None:
    world = World(promotion=UNTIL, settings=OURS)
    assert actions(world) == []
    assert [hold.key for hold in holds(world)] == ["promotion/main"]
    assert holds(world)[0].is_informational
    assert_words(*holds(world))
    assert holds(world)[0].recheck_at == NOW + timedelta(hours=1)
    assert not holds(world)[0].wants_attention


def test_every_member_has_to_say_so() -> None:
    late = World(promotion="paused", settings=OURS, said={"member-3": {"paused": False}})
    assert [(hold.key, hold.is_informational) for hold in holds(late)] == [
        ("promotion/main", False)
    ]
    assert_words(*holds(late))


def test_a_paused_patroni_starts_no_stopped_postgresql() -> None:
    stopped = {"state": "stopped", "replication_state": ""}
    world = World(promotion="paused", settings=OURS, said={"member-3": stopped})
    assert_words(*holds(world))
    assert holds(world)[0].wants_attention


def test_active_again_or_expired_it_is_resumed() -> None:
    lifted = [("resume/main", {"pause": None, PAUSE_KEY: None})]
    assert (writes(World(settings=OURS)), holds(World(settings=OURS))) == (lifted, [])
    assert_words(*actions(World(settings=OURS)))
    expired = World(promotion="{state: paused, until: 2026-01-01T11:00Z}", settings=OURS)
    assert (writes(expired), holds(expired)) == (lifted, [])


def test_a_pause_without_the_key_is_somebody_elses() -> None:
    for settings in ({"pause": True}, {"pause": True, PAUSE_KEY: "whatever"}):
        world = World(settings=settings)
        assert actions(world) == []
        assert holds(world)[0].wants_attention
        assert_words(*holds(world))
        wanted = world.otherwise(promotion="paused")
        assert actions(wanted) == []
        assert not holds(wanted)[0].wants_attention


def test_a_key_without_a_pause() -> None:
    """A person resumed by hand: the file's pause is repaired as drift, leftovers are removed."""
    left = World(settings={PAUSE_KEY: "promotion"})
    assert (writes(left), holds(left)) == ([("resume/main", {PAUSE_KEY: None})], [])
    assert_words(*actions(left))
    assert writes(left.otherwise(promotion="paused")) == [("pause/main", OURS)]


def test_maintenance_takes_the_pause_over_and_gives_it_back() -> None:
    both = World(maintenance="{nodes: [node3, node4]}", promotion="paused", settings=OURS)
    taken = {**our_pause(age_s=0)}
    assert writes(both) == [("pause/main", taken)]
    over = settled(both).otherwise(maintenance="{}")
    assert writes(over) == [
        ("pause/main", {**OURS, ROUTE_KEY: pin(now=over.now, age_s=0)}),
    ]
    end = settled(over)
    assert end.settings == OURS


@pytest.mark.parametrize("promotion", ["paused", "active"])
def test_without_a_certain_quorum_nothing_is_asked_for(promotion: str) -> None:
    settings = OURS if promotion == "active" else {}
    world = World(promotion=promotion, settings=settings)
    dead = world.otherwise(off=frozenset({"node4"}))
    for found in (
        world.otherwise(raft={"member-3": Unknown("timed out")}),
        world.otherwise(raft={"member-3": Known(RaftStatus(has_quorum=False))}),
        *([dead] if promotion == "paused" else []),  # a resume does not wait for it
    ):
        assert actions(found) == []
        assert [hold.key for hold in holds(found)] == ["promotion/main"]
