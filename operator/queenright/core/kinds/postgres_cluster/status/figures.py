"""A cluster in figures, for the log's line `state`.

Decides from the desired state and one observation. Invariant: what is not known is None or left out
of its table, and never counts as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from queenright.core.kinds.postgres_cluster.annotations import noted_labels, read_annotations
from queenright.core.kinds.postgres_cluster.backup.note import read_backup_note
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.drill.note import read_drill_note
from queenright.core.kinds.postgres_cluster.status.conditions import vip_holder
from queenright.core.kinds.postgres_cluster.status.rows import proxy_rows
from queenright.core.observed import Archiving, Known, MemberStatus, Observed, SwarmState


def cluster_figures(
    desired: DesiredCluster, observed: Observed, swarm: SwarmState, now: datetime
) -> Mapping[str, object]:
    """Return the figures by their keys (docs/monitoring.md): numbers, names, and tables by member.
    Lags and WAL positions are bytes, ages are seconds."""
    answers = member_answers(desired, observed)
    leaders = [name for name, status in answers.items() if status.is_leader]
    lags = {
        name: status.lag_bytes
        for name, status in answers.items()
        if not status.is_leader and status.lag_bytes is not None
    }
    leader = answers[leaders[0]] if len(leaders) == 1 else None
    well = sum(status.is_well for status in answers.values())
    rows = [*proxy_rows(desired, swarm)]
    running = sum(row.task == "running" and not row.remark for row in rows)
    return {
        "leader": leaders[0] if len(leaders) == 1 else "",
        "leaders": len(leaders),
        **last_change(desired, swarm, now),
        "timeline": leader.timeline if leader else None,
        "timelines": {name: status.timeline for name, status in answers.items()},
        "wal_bytes": leader.location if leader else None,
        "lag_bytes": max(lags.values(), default=None),
        "lags_bytes": lags,
        "members": len(desired.members),
        "members_answering": len(answers),
        "members_unwell": len(desired.members) - well,
        "members_synchronous": sum(bool(status.synchronous) for status in answers.values()),
        "pending_restarts": sum(status.pending_restart for status in answers.values()),
        "failover_paused": any(status.paused for status in answers.values()),
        "quorum": has_quorum(desired, observed),
        "proxies": len(rows),
        "proxies_down": len(rows) - running,
        **({"vip_node": vip_holder(desired, observed) or None} if desired.vip else {}),
        **archive_ages(observed.archiving.get(desired.name)),
        **last_backup(desired, swarm, now),
        **last_drill(desired, swarm, now),
    }


def member_answers(desired: DesiredCluster, observed: Observed) -> dict[str, MemberStatus]:
    """Return the answers of the members that answer, by name."""
    found = {}
    for member in desired.members:
        reading = observed.members.get(member.service.name)
        if isinstance(reading, Known):
            found[member.name] = reading.value
    return found


def has_quorum(desired: DesiredCluster, observed: Observed) -> bool | None:
    """Return True if any member's Raft node has a quorum and is not behind; None if none of them
    answers."""
    readings = [observed.raft.get(member.service.name) for member in desired.members]
    known = [reading.value for reading in readings if isinstance(reading, Known)]
    return any(one.has_quorum and not one.is_behind for one in known) if known else None


def last_change(desired: DesiredCluster, swarm: SwarmState, now: datetime) -> dict[str, object]:
    """Return the age of the last change of leader, by the annotation in the state config."""
    note = read_annotations(noted_labels(desired.name, swarm)).leader
    return {"leader_since_s": None if note is None else age_s(note.since, now)}


def archive_ages(reading: object) -> dict[str, object]:
    """Return what is archived; no key where nothing is, or where it is not known."""
    match reading:
        case Known(Archiving() as found) if found.is_on:
            age = found.last_age
            return {
                "archived_s_ago": None if age is None else round(age.total_seconds(), 1),
                "archive_waiting_bytes": found.waiting_bytes,
                "archive_waiting_s": round(found.waiting_age.total_seconds(), 1),
            }
        case _:
            return {}


def last_backup(desired: DesiredCluster, swarm: SwarmState, now: datetime) -> dict[str, object]:
    """Return the age of the last base backup and the failures since; no key where none is made by
    a schedule or by command."""
    if desired.base_backups is None:
        return {}
    note = read_backup_note(noted_labels(desired.name, swarm), now)
    return {
        "backup_s_ago": None if note.ended is None else age_s(note.ended, now),
        "backup_bytes": note.size or None,
        "backup_failures": note.failures,
    }


def last_drill(desired: DesiredCluster, swarm: SwarmState, now: datetime) -> dict[str, object]:
    """Return the age and the figures of the last proven restore, and the failures since; no key
    where the document asks for no drills."""
    if desired.base_backups is None or desired.base_backups.drill is None:
        return {}
    note = read_drill_note(noted_labels(desired.name, swarm), now)
    return {
        "drill_s_ago": None if note.at is None else age_s(note.at, now),
        "drill_took_s": note.took_s if note.at is not None else None,
        "drill_point_s": None if note.point is None else round(note.point.total_seconds(), 1),
        "drill_failures": note.failures,
    }


def age_s(since: datetime, now: datetime) -> float:
    return round(max(0.0, (now - since).total_seconds()), 1)
