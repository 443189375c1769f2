"""Annotation with the last restore that proved a backup, and with the failures since.

A job and its data are removed as soon as it has ended: the note is all that stays of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from queenright.core.kinds.postgres_cluster.backup.moments import read_past, written
from queenright.core.swarm.label_values import read_json, read_whole

LAST_DRILL_LABEL = "queenright.last-drill"
"""Label of the state config: the last proven restore, and the failures since."""
REQUEST_LABEL = "queenright.drill-request"
"""Label of the state config: the moment at which a person asked for a drill."""


@dataclass(frozen=True, slots=True)
class DrillNote:
    """``done`` is the moment since which one was due that proved its backup, ``at`` when that one
    began, ``reached`` its last commit, and ``beat`` the canary's last row in it, all three by the
    leader's clock. ``tried`` is the moment since which the last failed one was due, ``why`` its
    cause; ``job`` is the id of the job that was counted last."""

    done: datetime | None = None
    at: datetime | None = None
    backup: str = ""
    node: str = ""
    size: int = 0
    took_s: int = 0
    reached: datetime | None = None
    beat: datetime | None = None
    failures: int = 0
    failed_at: datetime | None = None
    tried: datetime | None = None
    why: str = ""
    job: str = ""

    @property
    def newest(self) -> datetime | None:
        """The moment up to which no drill is due any more; None where there is none."""
        return max((at for at in (self.done, self.at) if at is not None), default=None)

    @property
    def point(self) -> timedelta | None:
        """The recovery point: the time before the drill up to which the data came back; None where
        nothing was committed since the base backup."""
        last = max((at for at in (self.reached, self.beat) if at is not None), default=None)
        if last is None or self.at is None:
            return None
        return max(self.at - last, timedelta(0))


NO_DRILL = DrillNote()


def read_drill_note(labels: Mapping[str, str], now: datetime) -> DrillNote:
    """Annotation in a state config's labels; one that can't be read counts as absent."""
    match read_json(labels.get(LAST_DRILL_LABEL, "")):
        case {
            "backup": str(backup), "node": str(node), "why": str(why), "job": str(job), **rest
        }:  # fmt: skip
            names = ("done", "at", "reached", "canary", "failedAt", "tried")
            done, at, reached, beat, failed_at, tried = read_past(rest, names, now)
            size, took_s, failures = (
                read_whole(rest.get(name)) for name in ("size", "tookS", "failures")
            )
            if size is None or took_s is None or failures is None:
                return NO_DRILL
            return DrillNote(
                done, at, backup, node, size, took_s, reached, beat, failures, failed_at, tried,
                why, job,
            )  # fmt: skip
        case _:
            return NO_DRILL


def with_drill_note(labels: Mapping[str, str], note: DrillNote) -> dict[str, str]:
    """A state config's labels with this annotation in place of its own."""
    kept = {name: value for name, value in labels.items() if name != LAST_DRILL_LABEL}
    if note == NO_DRILL:
        return kept
    text = {
        "done": written(note.done),
        "at": written(note.at),
        "backup": note.backup,
        "node": note.node,
        "size": note.size,
        "tookS": note.took_s,
        "reached": written(note.reached),
        "canary": written(note.beat),
        "failures": note.failures,
        "failedAt": written(note.failed_at),
        "tried": written(note.tried),
        "why": note.why,
        "job": note.job,
    }
    return {**kept, LAST_DRILL_LABEL: json.dumps(text)}
