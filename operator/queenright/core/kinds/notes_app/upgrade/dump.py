"""Dump of the database before another image runs (spec: notes-app §9.4).

Decides from what is deployed, what the file asks for, and the dump's job in the swarm, so that an
operator that was killed at any moment continues from there. Invariant: where a dump is required, no
replica is replaced by one of another image before that very dump was read back.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from queenright.core.kinds.job_runs import failure_of, output_of, waiting_for
from queenright.core.kinds.notes_app.desired.dump_job import DUMP_ROLE, NAME_VARIABLE, place_of
from queenright.core.kinds.notes_app.state import AppState
from queenright.core.kinds.notes_app.upgrade.rollback import rollback_reason, wanted_digest
from queenright.core.manifest.quantities import format_duration, format_size
from queenright.core.observed import LiveService
from queenright.core.planning.ages import certain_age
from queenright.core.planning.images import pin_image
from queenright.core.planning.plan import Hold
from queenright.core.planning.rollout_waits import task_age
from queenright.core.swarm.digest import digest
from queenright.core.swarm.objects import ROLE_LABEL, Service

LAST_DUMP_LABEL = "queenright.last-dump"
"""Label of the state config: the last good dump, and the image before which it was made."""
DUMPED_FOR_LABEL = "queenright.dumped-for"
"""Label of the state config: the upgrade of that dump."""

ATTEMPT_AGAIN = timedelta(minutes=5)
"""Time between a failed dump and the next attempt."""
OVERTIME = timedelta(seconds=60)
"""Time beyond its own timeout that a job may take: its image may have to be pulled."""

_DONE = re.compile(
    r"dumped name=(\S+) bytes=([0-9]{1,18}) entries=([0-9]{1,18}) removed=([0-9]{1,18})"
)


@dataclass(frozen=True, slots=True)
class Upgrade:
    """Replicas of one image that are to be of another; both references name a digest."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class DumpRun:
    """State of the dump before an upgrade. ``why`` is the failure's own message."""

    state: Literal["to do", "running", "done", "failed"]
    job: Service
    live: LiveService | None = None
    why: str = ""
    failed_at: datetime | None = None


def upgrade_of(state: AppState) -> Upgrade | None:
    """The change of image that the file asks for; None where there is none, or it is not known
    yet what the image is."""
    live = state.web
    pinned = pin_image(state, state.desired.web, live)
    if live is None or isinstance(pinned, Hold) or pinned.image == live.value.image:
        return None
    return Upgrade(live.value.image, pinned.image)


def wanted_run(state: AppState) -> DumpRun | None:
    """The dump that is due now, as far as it is; None where none is."""
    upgrade, template = upgrade_of(state), state.desired.dump
    if upgrade is None or template is None or rollback_reason(state) is not None:
        return None
    key = digest(upgrade.before, upgrade.after, template)
    name = f"{template.name}-{key}"
    file = f"{state.desired.name}-{state.now:%Y%m%dT%H%M%SZ}-{version_of(upgrade.before)}"
    environment = {**template.environment, NAME_VARIABLE: f"{file}.dump"}
    job = dataclasses.replace(template, name=name, environment=environment)
    state_config = state.swarm.config(state.desired.state_config.name)
    if state_config is not None and state_config.value.labels.get(DUMPED_FOR_LABEL) == key:
        return DumpRun("done", job, state.swarm.service(name))
    return run_of(state, job)


def run_of(state: AppState, job: Service) -> DumpRun:
    live = state.swarm.service(job.name)
    if live is None:
        return DumpRun("to do", job)
    tasks = list(state.swarm.tasks_of(live.id))
    if any(task.state == "complete" for task in tasks):
        return DumpRun("done", job, live)
    limit = timedelta(seconds=state.desired.upgrade.dump.timeout_s) + OVERTIME
    if any(task.is_alive or state.swarm.may_run(task) for task in tasks) or not tasks:
        age = certain_age(live.created_at, state.now, state.seen_s_ago.get(live.id))
        if age > limit:
            why = f"it has not ended after {format_duration(limit.total_seconds())}"
            failed_at = state.now - (age - limit)
            return DumpRun("failed", job, live, why + waiting_for(tasks, ":"), failed_at)
        return DumpRun("running", job, live, waiting_for(tasks, ":"))
    last = max(tasks, key=lambda task: task.at)
    failed_at = state.now - max(task_age(state, last), timedelta(0))
    why = failure_of(state.observed, live, last, most_lines=2)
    return DumpRun("failed", job, live, why, failed_at)


def why_not_dumped(state: AppState) -> str | None:
    """Reason why the image may not be changed yet; None where it may."""
    run = wanted_run(state)
    match run:
        case None | DumpRun(state="done"):
            return None
        case DumpRun(state="failed") if state.desired.upgrade.dump.mode == "attempted":
            return None
        case DumpRun(state="failed"):
            return (
                f"the dump before it failed ({run.why}); the operator tries again, at once when "
                "the file changes; `upgrade: {dump: attempted}` upgrades without a dump"
            )
        case _:
            return "a dump of the database comes first"


def dump_jobs(state: AppState) -> Iterator[LiveService]:
    """The application's dump jobs that are in the swarm."""
    for live in state.services:
        if live.value.labels.get(ROLE_LABEL) == DUMP_ROLE:
            yield live


def result_of(state: AppState, run: DumpRun) -> str:
    """A finished dump in one line: name, size, what was read back, and where it is."""
    job = run.live.value if run.live else run.job
    found = _DONE.search(output_of(state.observed, run.live)) if run.live else None
    if found is None:
        return f"{job.environment.get(NAME_VARIABLE, '?')} in {place_of(job)}"
    name, size, entries, removed = found.groups()
    older = f", {removed} older removed" if removed != "0" else ""
    return f"{name} ({rounded(int(size))}, {entries} entries read back) in {place_of(job)}{older}"


def rounded(size_bytes: int) -> str:
    """A size that a person reads at a glance."""
    for unit, size in (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if size_bytes >= 10 * size:
            return f"{size_bytes // size}{unit}"
    return format_size(size_bytes)


def version_of(image: str) -> str:
    """An image's tag, as a part of a file's name; the digest's first digits where it has none."""
    reference, _, sha = image.partition("@")
    _, _, tag = reference.rpartition("/")[2].partition(":")
    return tag or sha.removeprefix("sha256:")[:12] or "untagged"


def dump_notes(state: AppState) -> Mapping[str, str | None]:
    """Annotations of the dump that is done; None for a label that is to be removed.

    A dump is good only for the upgrade that it was made for.
    """
    run, upgrade = wanted_run(state), upgrade_of(state)
    state_config = state.swarm.config(state.desired.state_config.name)
    dumped_for = state_config.value.labels.get(DUMPED_FOR_LABEL) if state_config else None
    if run is None or upgrade is None:
        is_known = not state.missing and wanted_digest(state)
        return {DUMPED_FOR_LABEL: None} if dumped_for and is_known else {}
    key = run.job.name.rpartition("-")[2]
    if run.state != "done" or run.live is None or dumped_for == key:
        return {}
    result = f"{result_of(state, run)}, before {version_of(upgrade.after)}"
    return {DUMPED_FOR_LABEL: key, LAST_DUMP_LABEL: result}
