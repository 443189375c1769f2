"""The newest changes of leader of each cluster in memory, for the page: joined as records come.

A change has three records: the action that moved or stopped the former leader, the operator's note
of the new one, and the canary's measurement, in that order. Invariant: what is kept is bounded,
whatever is recorded.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field, replace

from queenright.core.audit.questions import LeaderChange
from queenright.core.audit.reading import Record, Step, part, parts, read_step, text
from queenright.core.kinds.postgres_cluster.status.leader_history import MOVING, STOPPING
from queenright.core.kinds.postgres_cluster.status.leader_records import (
    LEADER_PATH,
    leader_changes,
)
from queenright.core.page.values import LeaderMove

MOST_MOVES = 10
MOST_CAUSES = 6
MOST_NAMES = 4_000
UNASKED = "not asked for by the operator: a failover by Patroni, or a switchover by hand"
PLANNED = "planned"
"""The beginning of the canary's word for a change that the operator had asked for."""


@dataclass(slots=True)
class OneCluster:
    """The newest actions that may cause a change, and the newest changes by their timeline."""

    causing: deque[Step] = field(default_factory=lambda: deque(maxlen=MOST_CAUSES))
    moves: OrderedDict[int, LeaderMove] = field(default_factory=OrderedDict)

    def take(self, move: LeaderMove, measured: Step | None) -> None:
        """Add a change, or what a record adds to one that is known. Another change to the same
        timeline is one of a cluster that was made anew under the name."""
        known = self.moves.get(move.timeline)
        if known is None or (known.before, known.leader) != (move.before, move.leader):
            known = move
            self.moves[move.timeline] = move
            self.moves.move_to_end(move.timeline)
        if measured is not None:
            self.moves[move.timeline] = with_gap(known, measured)
        if len(self.moves) > MOST_MOVES:
            self.moves.popitem(last=False)


class LeaderMemory:
    """Takes each record of the trail, oldest first."""

    def __init__(self) -> None:
        self._by_name: OrderedDict[str, OneCluster] = OrderedDict()

    def note(self, record: Record) -> None:
        name = text(record, "cluster")
        if not name or not is_about_leaders(record):
            return
        one = self._by_name.setdefault(name, OneCluster())
        self._by_name.move_to_end(name)
        if len(self._by_name) > MOST_NAMES:
            self._by_name.popitem(last=False)
        step = read_step(record)
        for change in leader_changes([step, *reversed(one.causing)]):
            one.take(move_of(change), change.measured)
        if step.kind in MOVING | STOPPING:
            one.causing.append(replace(step, changes=(), edits=(), guards=(), not_done=()))

    def of(self, name: str) -> tuple[LeaderMove, ...]:
        """Return a cluster's changes of leader, newest first."""
        found = self._by_name.get(name)
        return tuple(reversed(found.moves.values())) if found else ()


def is_about_leaders(record: Record) -> bool:
    """Return True for a record that notes, measures or may cause a change of leader."""
    if text(record, "phase") == "measured":
        return True
    kind = text(part(record, "action"), "kind")
    if kind == "label-config":
        return any(text(one, "path") == LEADER_PATH for one in parts(record, "changes"))
    return kind in MOVING | STOPPING


def move_of(change: LeaderChange) -> LeaderMove:
    return LeaderMove(
        at=change.at,
        before=change.before,
        leader=change.leader,
        timeline=change.timeline,
        cause=cause_of(change),
        is_measured=False,
    )


def with_gap(move: LeaderMove, measured: Step) -> LeaderMove:
    """Return a change with its measurement, and with its cause if only the canary knows one."""
    is_told = move.cause == UNASKED and measured.cause.startswith(PLANNED)
    return replace(
        move,
        cause=measured.cause if is_told else move.cause,
        is_measured=True,
        gap_ms=measured.write_gap_ms,
        lost_rows=measured.lost_rows,
    )


def cause_of(change: LeaderChange) -> str:
    """Return what made a change, with the command or the line of the file that asked for it."""
    step = change.cause
    if step is None:
        return UNASKED
    asked = step.detail if step.trigger == "command" else f"{step.file}:{step.line}"
    return "; ".join(filter(None, (step.key, step.reason, asked.removeprefix(":0"))))
