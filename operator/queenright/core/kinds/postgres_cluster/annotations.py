"""Annotations of a cluster: labels of its state config, for what can't be derived.

A label is written with the version index that was read, so two operators can't both write it.
Invariant: an annotation is a fact about the past or a setting that was carried out, never a step of
a workflow: the next step is derived anew from it and from what is observed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Literal, get_args

from queenright.core.manifest.remembered import MOST_TEXTS
from queenright.core.observed import SwarmState
from queenright.core.planning.plan import Hold
from queenright.core.swarm.label_values import read_json, read_moment, read_whole, shape_of

PRIMARY_LABEL = "queenright.primary"
"""Label of the state config: the ``primary`` that the last switchover for it reached."""
MOVE_LABEL = "queenright.move"
"""Label of the state config: the requested switchover whose result is not known yet."""
RETURN_LABEL = "queenright.return-to"
"""Label of the state config: the member that leads again after a rollout or maintenance."""
LEADER_LABEL = "queenright.leader"
"""Label of the state config: the leader, its timeline, and since when that has been seen."""
NOTE_LABELS = (PRIMARY_LABEL, MOVE_LABEL, RETURN_LABEL, LEADER_LABEL)

MoveKind = Literal["primary", "maintenance", "rollout", "return", "failback", "command", "removal"]
MOVE_KINDS: tuple[MoveKind, ...] = get_args(MoveKind)


def state_config_name(cluster: str) -> str:
    """Name of the config whose labels keep a cluster's annotations."""
    return f"{cluster}_cluster"


def noted_labels(cluster: str, swarm: SwarmState) -> Mapping[str, str]:
    """The labels of a cluster's state config; none where it is not there."""
    live = swarm.config(state_config_name(cluster))
    return live.value.labels if live is not None else {}


@dataclass(frozen=True, slots=True)
class PendingSwitchover:
    """A requested switchover: from whom, to whom, on which timeline, when, why."""

    leader: str
    candidate: str
    timeline: int
    at: datetime
    kind: MoveKind


@dataclass(frozen=True, slots=True)
class LastLeader:
    """The leader, its timeline, and since when this has been seen."""

    member: str
    timeline: int
    since: datetime


@dataclass(frozen=True, slots=True)
class ReturnTo:
    """The member that gets the leadership back after a planned switchover.

    Holds only on the timeline that the operator's own switchover began: after a failover in
    between, the leadership stays where it is.
    """

    member: str
    timeline: int


@dataclass(frozen=True, slots=True)
class Annotations:
    """All annotations of one cluster; one that can't be read counts as absent."""

    primary: str = ""
    move: PendingSwitchover | None = None
    return_to: ReturnTo | None = None
    leader: LastLeader | None = None

    def labels(self) -> dict[str, str]:
        """Labels of the state config; an absent annotation has none."""
        found = {PRIMARY_LABEL: self.primary}
        if self.move is not None:
            move = self.move
            found[MOVE_LABEL] = json.dumps(
                [move.leader, move.candidate, move.timeline, move.at.isoformat(), move.kind]
            )
        if self.return_to is not None:
            found[RETURN_LABEL] = json.dumps([self.return_to.member, self.return_to.timeline])
        if self.leader is not None:
            note = self.leader
            found[LEADER_LABEL] = json.dumps([note.member, note.timeline, note.since.isoformat()])
        return {name: value for name, value in found.items() if value}


def with_annotations(labels: Mapping[str, str], annotations: Annotations) -> dict[str, str]:
    """A state config's labels with these annotations in place of its own."""
    kept = {name: value for name, value in labels.items() if name not in NOTE_LABELS}
    return {**kept, **annotations.labels()}


def read_annotations(labels: Mapping[str, str]) -> Annotations:
    """The annotations in a state config's labels."""
    return _read(*(labels.get(label, "") for label in NOTE_LABELS))


@lru_cache(maxsize=MOST_TEXTS)
def _read(primary: str, move: str, return_to: str, leader: str) -> Annotations:
    """The notes by the texts of ``NOTE_LABELS``: every pass reads the same ones many times."""
    return Annotations(primary, _move(move), _return(return_to), _leader(leader))


def damaged_note_holds(scope: str, swarm: SwarmState) -> Iterator[Hold]:
    """Hold for each annotation that can't be read: it counts as absent."""
    labels = noted_labels(scope, swarm)
    read = read_annotations(labels)
    found = ((MOVE_LABEL, read.move), (RETURN_LABEL, read.return_to), (LEADER_LABEL, read.leader))
    for label, note in found:
        if note is None and label in labels:
            yield Hold(
                f"label/{scope}_cluster/{label}",
                f"config {scope}_cluster: label {label} can't be read (it holds "
                f"{shape_of(labels[label])}), and counts as absent; the operator writes it anew, "
                "there is nothing to do",
            )


def _move(text: str) -> PendingSwitchover | None:
    match read_json(text):
        case [str(leader), str(candidate), timeline, at, str(kind)]:
            number, moment = read_whole(timeline), read_moment(at)
            known = _kind(kind)
            if number is None or moment is None or known is None:
                return None
            return PendingSwitchover(leader, candidate, number, moment, known)
        case _:
            return None


def _kind(text: str) -> MoveKind | None:
    return next((kind for kind in MOVE_KINDS if kind == text), None)


def _return(text: str) -> ReturnTo | None:
    match read_json(text):
        case [str(member), timeline] if (number := read_whole(timeline)) is not None:
            return ReturnTo(member, number)
        case _:
            return None


def _leader(text: str) -> LastLeader | None:
    match read_json(text):
        case [str(member), timeline, since]:
            number, moment = read_whole(timeline), read_moment(since)
            return LastLeader(member, number, moment) if number is not None and moment else None
        case _:
            return None
