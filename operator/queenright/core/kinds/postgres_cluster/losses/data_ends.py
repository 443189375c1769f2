"""The end of each member's data, by its own answer or by a job beside its volume, and the loss.

Answers only; decides nothing. Invariant: what is not known counts as unknown, never as less, and
data of two databases, or of two timelines of one number, are never compared.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from queenright.core.kinds.postgres_cluster.desired.base_backup import data_volume
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.lost_amount import (
    explained,
    loss_of,
    missing_members,
)
from queenright.core.kinds.postgres_cluster.switchover.position import Position
from queenright.core.kinds.postgres_cluster.topology.settled import counted_members
from queenright.core.observed import MemberStatus
from queenright.core.postgres.wal import written
from queenright.core.swarm.label_values import read_json
from queenright.core.swarm.objects import Service

_SYSTEM = re.compile(r"[0-9]{0,20}")
_HISTORY = re.compile(r"[0-9a-f]{0,64}")
MOST_LOCATION = 1 << 64
MOST_TIMELINE = 1 << 32


@dataclass(frozen=True, slots=True)
class DataEnd:
    """The end of a member's data. ``system`` is the database's identifier, and ``history`` a digest
    of the timeline's history file: both empty where they are not known, and the latter on timeline
    1. Timeline 0 is that of a member without data."""

    timeline: int
    location: int
    system: str = ""
    history: str = ""


@dataclass(frozen=True, slots=True)
class MemberEnd:
    """One member's end and where it is from; None, with the cause, where it is not known."""

    member: DesiredMember
    end: DataEnd | None
    source: Literal["member", "volume", ""] = ""
    why: str = ""

    @property
    def has_data(self) -> bool:
        return self.end is not None and self.end.timeline > 0

    @property
    def rank(self) -> tuple[int, int]:
        return (self.end.timeline, self.end.location) if self.end is not None else (0, 0)


def told_end(status: MemberStatus | None) -> DataEnd | None:
    """Return the end of the data as the member says it; None where it does not."""
    if status is None:
        return None
    if status.timeline is not None and status.location is not None:
        return DataEnd(status.timeline, status.location)
    loss = status.raft_loss
    if loss is None or loss.why:
        return None
    return DataEnd(loss.timeline, loss.location, loss.system, loss.history)


def read_end(text: str) -> DataEnd | None:
    """Return the end that a job has printed; None where its line is not all there."""
    lines = [line.strip() for line in text.splitlines() if line.startswith("{")]
    match read_json(lines[-1]) if lines else None:
        case {
            "system": str(system),
            "timeline": int(timeline),
            "location": int(location),
            "history": str(history),
        } if (
            _SYSTEM.fullmatch(system)
            and _HISTORY.fullmatch(history)
            and type(timeline) is type(location) is int
            and 0 <= timeline < MOST_TIMELINE
            and 0 <= location < MOST_LOCATION
        ):
            return DataEnd(timeline, location, system, history)
        case _:
            return None


def known_ends(state: ClusterState) -> Iterator[MemberEnd | tuple[DesiredMember, Service, str]]:
    """Yield for each member that counts, in the order of the file, its end as it says it, or why
    none is known; or else the member, its service and its node's id, for a job."""
    for member in counted_members(state):
        end, node = told_end(state.status(member)), state.swarm.node(member.node)
        live = state.swarm.service(member.service.name)
        service = live.value if live is not None else member.service
        if end is not None:
            yield MemberEnd(member, end, "member")
        elif node is None or node.state != "ready":
            found = f"is {node.state}" if node is not None else "is not in the swarm"
            yield MemberEnd(member, None, why=f"its node {member.node} {found}")
        elif not data_volume(service):
            yield MemberEnd(member, None, why="its service mounts no volume with the data")
        else:
            yield member, service, node.id


def furthest(ends: Sequence[MemberEnd]) -> list[MemberEnd]:
    """Return the members with the most WAL on the highest timeline; none where none has data."""
    top = max((one.rank for one in ends if one.has_data), default=None)
    return [one for one in ends if one.has_data and one.rank == top]


def why_not_comparable(ends: Sequence[MemberEnd]) -> str:
    """Return why the ends can't be compared; empty where they can, as far as is known."""
    systems: defaultdict[str, list[str]] = defaultdict(list)
    histories: defaultdict[int, defaultdict[str, list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for one in ends:
        if one.end is not None and one.end.system:
            systems[one.end.system].append(one.member.name)
        if one.end is not None and one.end.history:
            histories[one.end.timeline][one.end.history].append(one.member.name)
    if len(systems) > 1:
        told = "; ".join(f"{', '.join(names)}: {system}" for system, names in systems.items())
        return f"the members have data of different databases ({told})"
    for number, found in sorted(histories.items()):
        if len(found) > 1:
            told = "; ".join(", ".join(names) for names in found.values())
            return f"the members have different timelines {number} ({told})"
    return ""


def behind_of(one: MemberEnd, ends: Sequence[MemberEnd]) -> int | None:
    """Return the bytes that a member lacks of the furthest end; None where that is on another
    timeline, or can't be compared."""
    top = next(iter(furthest(ends)), None)
    if one.end is None or top is None or top.end is None or why_not_comparable(ends):
        return None
    if one.end.timeline != top.end.timeline:
        return None
    return top.end.location - one.end.location


def behind_text(one: MemberEnd, ends: Sequence[MemberEnd]) -> str:
    """Return the same as a person reads it."""
    if one.end is None:
        return ""
    if why_not_comparable(ends):
        return "not comparable"
    behind = behind_of(one, ends)
    if not one.has_data:
        return "all" if furthest(ends) else ""
    if behind is None:
        return "other timeline"
    return str(behind) if behind else "-"


def conclusion(state: ClusterState, ends: Sequence[MemberEnd]) -> str:
    """Return one line: the furthest members, and what is lost with each choice."""
    if why := why_not_comparable(ends):
        return f"The ends can't be compared: {why}."
    top = furthest(ends)
    if not top:
        return "No member is known to have data."
    known = [one for one in ends if one.end is not None]
    left = [Position(one.member, *one.rank) for one in known]
    choices = sorted(
        (position for position in left if position.timeline),
        key=lambda position: position.rank,
        reverse=True,
    )
    lost = "; ".join(f"with {p.member.name} {loss_of(state, p, left)} is lost" for p in choices)
    names = " and ".join(one.member.name for one in top)
    begin = "Of those that are known, " if missing_members(state, left) else ""
    remark = f" ({explained(state, left)})" if begin else ""
    return (
        f"{begin}{names} {'are' if top[1:] else 'is'} furthest (timeline {top[0].rank[0]}, WAL "
        f"position {position_text(top[0].rank[1])}): {lost}{remark}."
    )


def position_text(location: int) -> str:
    """Return a WAL position in bytes, and as PostgreSQL writes it."""
    return f"{location} ({written(location)})"


def end_json(one: MemberEnd, ends: Sequence[MemberEnd]) -> dict[str, object]:
    end = one.end
    return {
        "member": one.member.name,
        "node": one.member.node,
        "timeline": end.timeline if end is not None else None,
        "location": end.location if end is not None else None,
        "lsn": written(end.location) if end is not None and end.timeline else None,
        "behind_bytes": behind_of(one, ends),
        "system": end.system or None if end is not None else None,
        "source": one.source or None,
        "why": one.why or None,
    }
