"""Annotation with the last base backup, and with the failures since.

It is what the job has read in the repository: where the label is lost, the next job asks there
before it makes one, so that nothing is made twice. Invariant: a job ends well only when the archive
has the WAL of its backup, so that one that is noted can be restored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from queenright.core.kinds.postgres_cluster.backup.moments import read_past, written
from queenright.core.swarm.label_values import read_json, read_whole

LAST_BACKUP_LABEL = "queenright.last-backup"
"""Label of the state config: the last base backup, and the failures since."""
MOST_TEXT = 400


@dataclass(frozen=True, slots=True)
class BackupNote:
    """``done`` is the moment since which one was due, and made; ``begun`` is when it began, by the
    member's clock. ``job`` is the id of the job that was counted last."""

    done: datetime | None = None
    id: str = ""
    begun: datetime | None = None
    ended: datetime | None = None
    size: int = 0
    member: str = ""
    kept: str = ""
    """Reason why nothing was removed of what is not kept; empty where all went well."""
    failures: int = 0
    failed_at: datetime | None = None
    job: str = ""

    @property
    def newest(self) -> datetime | None:
        """The moment up to which no backup is due any more; None where there is none."""
        return max((at for at in (self.done, self.begun) if at is not None), default=None)


NO_BACKUP = BackupNote()


def read_backup_note(labels: Mapping[str, str], now: datetime) -> BackupNote:
    """Annotation in a state config's labels; one that can't be read counts as absent."""
    match read_json(labels.get(LAST_BACKUP_LABEL, "")):
        case {
            "id": str(name), "member": str(member), "kept": str(kept), "job": str(job), **rest
        }:  # fmt: skip
            names = ("done", "begun", "ended", "failedAt")
            done, begun, ended, failed_at = read_past(rest, names, now)
            size, failures = read_whole(rest.get("size")), read_whole(rest.get("failures"))
            if size is None or failures is None:
                return NO_BACKUP
            return BackupNote(
                done, name, begun, ended, size, member, kept, failures, failed_at, job
            )
        case _:
            return NO_BACKUP


def with_backup_note(labels: Mapping[str, str], note: BackupNote) -> dict[str, str]:
    """A state config's labels with this annotation in place of its own."""
    kept = {name: value for name, value in labels.items() if name != LAST_BACKUP_LABEL}
    if note == NO_BACKUP:
        return kept
    text = {
        "done": written(note.done),
        "id": note.id,
        "begun": written(note.begun),
        "ended": written(note.ended),
        "size": note.size,
        "member": note.member,
        "kept": note.kept,
        "failures": note.failures,
        "failedAt": written(note.failed_at),
        "job": note.job,
    }
    return {**kept, LAST_BACKUP_LABEL: json.dumps(text)}
