"""What can't be derived from the swarm or the members, noted in the labels of the anchor config.

A label is written with the version index that was read, so two operators can't both write it.
Invariant: every note is a fact about the past or a wish that was honoured, never a step of a
workflow: what is to be done next is derived anew from it and from what is observed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

PRIMARY_LABEL = "queenright.primary"
"""Label of the anchor: the wish ``primary`` that was honoured last."""
MOVE_LABEL = "queenright.move"
"""Label of the anchor: the planned change of leader that was asked for and is not settled yet."""
RETURN_LABEL = "queenright.return-to"
"""Label of the anchor: whom the lead goes back to after a rollout or maintenance."""
LEADER_LABEL = "queenright.leader"
"""Label of the anchor: who leads, on which timeline, and since when that has been seen."""
NOTE_LABELS = (PRIMARY_LABEL, MOVE_LABEL, RETURN_LABEL, LEADER_LABEL)

MoveKind = Literal["primary", "maintenance", "rollout", "return", "failback", "command"]


@dataclass(frozen=True, slots=True)
class MoveNote:
    """A switchover that was asked for once: from whom, to whom, on which timeline, when, why."""

    leader: str
    candidate: str
    timeline: int
    at: datetime
    kind: MoveKind


@dataclass(frozen=True, slots=True)
class LeaderNote:
    """Who leads on which timeline, and since when that was seen."""

    member: str
    timeline: int
    since: datetime


@dataclass(frozen=True, slots=True)
class ReturnNote:
    """Whom to give the lead back to, as long as the timeline is the one that our own move began: a
    failover in between is not fought."""

    member: str
    timeline: int


@dataclass(frozen=True, slots=True)
class Notes:
    """All notes about one cluster; a note that can't be read counts as absent."""

    primary: str = ""
    move: MoveNote | None = None
    return_to: ReturnNote | None = None
    leader: LeaderNote | None = None

    def labels(self) -> dict[str, str]:
        """As the anchor's labels; what is not noted has none."""
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


def noted(labels: Mapping[str, str], notes: Notes) -> dict[str, str]:
    """An anchor's labels with these notes in place of its own."""
    kept = {name: value for name, value in labels.items() if name not in NOTE_LABELS}
    return {**kept, **notes.labels()}


def read_notes(labels: Mapping[str, str]) -> Notes:
    """The notes in an anchor's labels."""
    return Notes(
        primary=labels.get(PRIMARY_LABEL, ""),
        move=_move(labels.get(MOVE_LABEL, "")),
        return_to=_return(labels.get(RETURN_LABEL, "")),
        leader=_leader(labels.get(LEADER_LABEL, "")),
    )


def _move(text: str) -> MoveNote | None:
    try:
        leader, candidate, timeline, at, kind = json.loads(text)
        return MoveNote(str(leader), str(candidate), int(timeline), _moment(at), kind)
    except (ValueError, TypeError):
        return None


def _return(text: str) -> ReturnNote | None:
    try:
        member, timeline = json.loads(text)
        return ReturnNote(str(member), int(timeline))
    except (ValueError, TypeError):
        return None


def _leader(text: str) -> LeaderNote | None:
    try:
        member, timeline, since = json.loads(text)
        return LeaderNote(str(member), int(timeline), _moment(since))
    except (ValueError, TypeError):
        return None


def _moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError("a moment without its zone is none")
    return found
