"""Before another image runs, the database is dumped (spec: notes-app §9.4).

Decides from what is deployed, what the file asks for, and the dump's job in the swarm, so that an
operator that was killed at any moment goes on where things are. Invariant: where a dump is
required, no replica is replaced by one of another image before that very dump was read back.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from queenright.core.app.dump_job import DUMP_ROLE, NAME_VARIABLE, place_of
from queenright.core.app.rollbacks import refusal, wanted_digest
from queenright.core.app.situation import AppSituation
from queenright.core.digest import digest
from queenright.core.observed import Known, LiveService, Task
from queenright.core.pinning import pin_image
from queenright.core.plan import Hold
from queenright.core.redaction import redact_text
from queenright.core.resources import APP_LABEL, ROLE_LABEL, Service
from queenright.core.spec.quantities import format_duration, format_size

LAST_DUMP_LABEL = "queenright.last-dump"
"""Label of the anchor: the last good dump, and what it was taken before."""
DUMPED_FOR_LABEL = "queenright.dumped-for"
"""Label of the anchor: which upgrade that was."""

ATTEMPT_AGAIN = timedelta(minutes=5)
"""How long after a dump failed it is attempted again."""
OVERTIME = timedelta(seconds=60)
"""How long after its own timeout a job is waited for: its image may have had to be pulled."""

_DONE = re.compile(r"dumped name=(\S+) bytes=(\d+) entries=(\d+) removed=(\d+)")


@dataclass(frozen=True, slots=True)
class Upgrade:
    """Replicas of one image that are to be of another; both references name a digest."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class DumpRun:
    """How far the dump before an upgrade is. ``why`` is a failure's own words."""

    state: Literal["to do", "running", "done", "failed"]
    job: Service
    live: LiveService | None = None
    why: str = ""
    failed_at: datetime | None = None


def upgrade_of(situation: AppSituation) -> Upgrade | None:
    """The change of image that the file asks for; None where there is none, or it is not known
    yet what the image is."""
    live = situation.web
    pinned = pin_image(situation, situation.desired.web, live)
    if live is None or isinstance(pinned, Hold) or pinned.image == live.value.image:
        return None
    return Upgrade(live.value.image, pinned.image)


def wanted_run(situation: AppSituation) -> DumpRun | None:
    """The dump that is due now, as far as it is; None where none is."""
    upgrade, template = upgrade_of(situation), situation.desired.dump
    if upgrade is None or template is None or refusal(situation) is not None:
        return None
    key = digest(upgrade.before, upgrade.after, template)
    name = f"{template.name}-{key}"
    file = f"{situation.desired.name}-{situation.now:%Y%m%dT%H%M%SZ}-{version_of(upgrade.before)}"
    environment = {**template.environment, NAME_VARIABLE: f"{file}.dump"}
    job = dataclasses.replace(template, name=name, environment=environment)
    anchor = situation.swarm.config(situation.desired.anchor.name)
    if anchor is not None and anchor.value.labels.get(DUMPED_FOR_LABEL) == key:
        return DumpRun("done", job, situation.swarm.service(name))
    return run_of(situation, job)


def run_of(situation: AppSituation, job: Service) -> DumpRun:
    live = situation.swarm.service(job.name)
    if live is None:
        return DumpRun("to do", job)
    tasks = list(situation.swarm.tasks_of(live.id))
    if any(task.state == "complete" for task in tasks):
        return DumpRun("done", job, live)
    limit = timedelta(seconds=situation.desired.upgrade.dump.timeout_s) + OVERTIME
    if any(task.is_alive for task in tasks) or not tasks:
        if situation.now - live.created_at > limit:
            why = f"it has not ended after {format_duration(limit.total_seconds())}"
            return DumpRun("failed", job, live, why + waiting_for(tasks), live.created_at + limit)
        return DumpRun("running", job, live, waiting_for(tasks))
    last = max(tasks, key=lambda task: task.at)
    return DumpRun("failed", job, live, failure_of(situation, live, last), last.at)


def waiting_for(tasks: list[Task]) -> str:
    """What swarm says of a job that does not run yet, to be put after a colon."""
    task = max(tasks, key=lambda task: task.at, default=None)
    if task is None or task.state == "running":
        return ""
    return f": {task.state}" + (f" ({task.error})" if task.error else "")


def failure_of(situation: AppSituation, live: LiveService, task: Task) -> str:
    """The job's own last words, or else swarm's."""
    lines = [line.strip() for line in output_of(situation, live).splitlines() if line.strip()]
    said = "; ".join(lines[-2:])
    return redact_text(said) if said else task.error or task.state


def output_of(situation: AppSituation, live: LiveService) -> str:
    output = situation.outputs.get(live.id)
    return output.value if isinstance(output, Known) else ""


def why_not_dumped(situation: AppSituation) -> str | None:
    """Why the image may not be changed yet; None where it may."""
    run = wanted_run(situation)
    match run:
        case None | DumpRun(state="done"):
            return None
        case DumpRun(state="failed") if situation.desired.upgrade.dump.mode == "attempted":
            return None
        case DumpRun(state="failed"):
            return (
                f"the dump before it failed ({run.why}); it is attempted again by itself, or at "
                "once when the file changes; `upgrade: {dump: attempted}` goes on without"
            )
        case _:
            return "a dump of the database comes first"


def dump_jobs(situation: AppSituation) -> Iterator[LiveService]:
    """The application's dump jobs that are in the swarm."""
    for live in situation.swarm.services:
        labels = live.value.labels
        is_ours = labels.get(APP_LABEL) == situation.desired.name
        if is_ours and labels.get(ROLE_LABEL) == DUMP_ROLE:
            yield live


def result_of(situation: AppSituation, run: DumpRun) -> str:
    """A finished dump in one line: name, size, what was read back, and where it is."""
    job = run.live.value if run.live else run.job
    found = _DONE.search(output_of(situation, run.live)) if run.live else None
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


def dump_notes(situation: AppSituation) -> Mapping[str, str | None]:
    """What the anchor's labels should say of the dump that is done; None for a label that is over:
    a dump is good for the one upgrade that it was taken for."""
    run, upgrade = wanted_run(situation), upgrade_of(situation)
    anchor = situation.swarm.config(situation.desired.anchor.name)
    dumped_for = anchor.value.labels.get(DUMPED_FOR_LABEL) if anchor else None
    if run is None or upgrade is None:
        is_known = not situation.missing and wanted_digest(situation)
        return {DUMPED_FOR_LABEL: None} if dumped_for and is_known else {}
    key = run.job.name.rpartition("-")[2]
    if run.state != "done" or run.live is None or dumped_for == key:
        return {}
    told = f"{result_of(situation, run)}, before {version_of(upgrade.after)}"
    return {DUMPED_FOR_LABEL: key, LAST_DUMP_LABEL: told}
