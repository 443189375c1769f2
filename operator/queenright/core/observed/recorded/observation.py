"""A pass's whole observation as a recorded input."""

from __future__ import annotations

import dataclasses
from typing import Any

from queenright.core.observed import Archiving, Known, MemberStatus, Observed, RaftStatus
from queenright.core.observed.recorded.answers import RecordedAnswers
from queenright.core.observed.recorded.mapping import (
    RecordedAges,
    RecordedMapping,
    TimedMapping,
)
from queenright.core.observed.recorded.record import Record
from queenright.core.observed.recorded.swarm import RecordedSwarm, swarm_sources

ANSWERS: dict[str, type[Any]] = {
    "members": MemberStatus,
    "raft": RaftStatus,
    "archiving": Archiving,
}
AGES = ("seen_s_ago", "touched_s_ago", "absent_s")
TIMED = ("attempts",)
PLAIN = (
    "images",
    "settings",
    "catalogs",
    "readiness",
    "outputs",
    "history",
    "leader_locations",
    "holders",
    "copies",
)


def observation_sources(observed: Observed) -> dict[str, Any]:
    """Return the inputs that ``recorded_observation`` asks."""
    names = (field.name for field in dataclasses.fields(observed) if field.name != "swarm")
    found = {name: getattr(observed, name) for name in names}
    if isinstance(observed.swarm, Known):
        found |= swarm_sources(observed.swarm.value)
    return found


def recorded_observation(record: Record) -> Observed:
    """Return the view of an observation in which the swarm is known."""
    views: dict[str, Any] = {
        **{name: RecordedAnswers(record, name, real) for name, real in ANSWERS.items()},
        **{name: RecordedAges(record, name) for name in AGES},
        **{name: TimedMapping(record, name) for name in TIMED},
        **{name: RecordedMapping(record, name) for name in PLAIN},
    }
    return Observed(swarm=Known(RecordedSwarm(record)), **views)
