"""The repository's list of base backups: the job that reads it, and what that says.

A command creates the job, reads its lines and removes it; the operator removes one that a command
left behind. Invariant: a list counts only with the line that says how many backups it has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from queenright.core.kinds.postgres_cluster.desired.base_backup import why_no_job
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.swarm.label_values import read_json, read_moment, read_whole
from queenright.core.swarm.objects import Service

_COUNT = re.compile(r"^listed ([0-9]{1,6}) base backups$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class StoredBackup:
    """One base backup in the repository; ``size`` is that of the databases, in bytes.

    ``is_obsolete`` is Barman's answer: True for one that it would remove after the next backup,
    None where it gave none.
    """

    id: str
    status: str
    begin: datetime | None
    end: datetime | None
    timeline: int | None
    begin_wal: str
    end_wal: str
    size: int
    error: str
    is_obsolete: bool | None

    @property
    def retention(self) -> str:
        """The rule's answer: kept, due for removal, or unknown."""
        if self.is_obsolete is None:
            return "unknown"
        return "due for removal" if self.is_obsolete else "kept"


def read_list(text: str) -> tuple[StoredBackup, ...] | None:
    """Return the backups that a job lists, newest first; None where its lines are not all there."""
    found = [read_stored(line.strip()) for line in text.splitlines() if line.startswith("{")]
    backups = [backup for backup in found if backup is not None]
    counted = _COUNT.search(text)
    if counted is None or int(counted[1]) != len(backups) or len(found) != len(backups):
        return None
    return tuple(sorted(backups, key=lambda backup: backup.id, reverse=True))


def read_stored(line: str) -> StoredBackup | None:
    """Return the backup of a line of `backup-list`; None where it can't be read."""
    match read_json(line):
        case {"id": str(name), "status": str(status), **rest}:
            obsolete = rest.get("obsolete")
            return StoredBackup(
                name,
                status,
                read_moment(rest.get("begin")),
                read_moment(rest.get("end")),
                read_whole(rest.get("timeline")),
                str(rest.get("begin_wal") or ""),
                str(rest.get("end_wal") or ""),
                read_whole(rest.get("bytes")) or 0,
                str(rest.get("error") or ""),
                obsolete if isinstance(obsolete, bool) else None,
            )
        case _:
            return None


def stored_json(backup: StoredBackup) -> dict[str, object]:
    return {
        "id": backup.id,
        "status": backup.status,
        "begin": format_stamp(backup.begin),
        "end": format_stamp(backup.end),
        "timeline": backup.timeline,
        "begin_wal": backup.begin_wal or None,
        "end_wal": backup.end_wal or None,
        "bytes": backup.size or None,
        "error": backup.error or None,
        "due_for_removal": backup.is_obsolete,
    }


def format_stamp(at: datetime | None) -> str | None:
    """The moment with its seconds, also where they are zero: the stamps of a column have one width,
    and those of the JSON one form. ``format_moment`` is the short one, for sentences."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}" if at is not None else None


def member_to_ask(state: ClusterState, silent: Mapping[str, str]) -> Service | str:
    """The service, as it runs, of a member beside which a job can ask the repository, a replica by
    preference; or why there is none. ``silent`` has the services beside which a job was not heard,
    with the cause."""
    reasons = []
    for member in sorted(state.desired.members, key=state.is_leader):
        live = state.swarm.service(member.service.name)
        if live is None or state.swarm.sole_task(live.id) is None:
            reasons.append(f"{member.name} does not run")
        elif why := silent.get(live.value.name) or why_no_job(live.value):
            reasons.append(f"{member.name}: {why}")
        else:
            return live.value
    return "; ".join(reasons)
