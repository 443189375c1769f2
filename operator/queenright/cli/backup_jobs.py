"""Base backups by a command: a request until it is answered, and the repository's list.

The operator makes the backup; the command writes one label and watches. The list is read by a job
of the command's own, because only the members have the repository's credentials. Invariant: the job
is removed again, whatever ends the command; one that stays is the operator's to remove.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

import anyio
import click

from queenright.cli.cluster_session import ClusterAtHand, Session, failed
from queenright.cli.exit_codes import OK, CommandError
from queenright.core.actions import CreateService, LabelConfig, RemoveService
from queenright.core.audit.record import Conflict, Failed
from queenright.core.audit.redaction import redact_text
from queenright.core.kinds.job_runs import waiting_for
from queenright.core.kinds.postgres_cluster.backup.asking import (
    asked_at,
    is_answered,
    made_text,
    open_request,
    request_step,
    run_for,
    why_none_asked,
)
from queenright.core.kinds.postgres_cluster.backup.guard import backups_are_safe
from queenright.core.kinds.postgres_cluster.backup.listing import (
    LINES,
    StoredBackup,
    listing_service,
    read_list,
)
from queenright.core.kinds.postgres_cluster.rules.base_backups import key_of, plan_base_backups
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.manifest.moments import format_moment
from queenright.core.observed import Archiving, Known, LiveService
from queenright.core.planning.plan import Hold
from queenright.ports.swarm import SwarmError

LOOK_AGAIN_S = 1.0
ROUNDS = 10
BEGIN_S = 60.0
"""The time for the operator to begin a backup that was requested."""
LIST_S = 120.0
"""The time limit of a list."""
LINES_S = 10.0
"""The time for the lines of a job that has ended to be there."""
REMOVE_S = 10.0
FAILED = "backup-list: got no answer: "


@dataclass(frozen=True)
class Asking:
    """A kind of request: ``noun`` for people, why it would come to nothing, the moment of an open
    one, and the step that writes one."""

    noun: str
    why_none: Callable[[ClusterState], str | None]
    open_at: Callable[[ClusterState], datetime | None]
    step: Callable[[ClusterState, str], Iterable[LabelConfig]]


BASE_BACKUP = Asking("base backup", why_none_asked, open_request, request_step)


async def request(live: Session, asking: Asking = BASE_BACKUP) -> datetime:
    """Write the request, or join an open one; return its moment."""
    for _ in range(ROUNDS):
        state = (view := await live.look()).state
        if why := asking.why_none(state):
            raise CommandError(why)
        if (at := asking.open_at(state)) is not None:
            return at
        result = await live.carry_out(view, list(asking.step(state, live.command)))
        outcome = result.tried[0][1] if result.tried else None
        if isinstance(outcome, Failed) and not outcome.transient:
            raise failed(result) or CommandError("nothing was requested")
        if outcome is not None and not isinstance(outcome, Failed | Conflict):
            return asked_at(state)
        await anyio.sleep(LOOK_AGAIN_S)
    raise CommandError(
        f"config {live.document.name}_cluster: no {asking.noun} was requested (another writer "
        "keeps changing it); try again"
    )


async def until_made(live: Session, at: datetime) -> int:
    """Watch until the request is answered. CommandError where it failed or is not begun."""
    told, idle_since_s = "", anyio.current_time()
    while True:
        state = (await live.look()).state
        if is_answered(state, at):
            click.echo(made_text(state.backup_note))
            return OK
        run, is_ours = run_for(state, at)
        if state.backup_request is None and not is_ours:
            raise CommandError(
                "the request is gone, and no base backup was made since (somebody removed it, or "
                "it is a day old); ask again"
            )
        if run is not None and is_ours and run.state == "failed":
            raise CommandError(
                f"the base backup of {run.member} failed ({run.why}); the operator begins it "
                "again, with growing delays, for a day after the request"
            )
        if run is not None and run.state != "failed":
            since = format_moment(run.live.created_at.replace(microsecond=0))
            line = f"A base backup of {run.member} is made since {since}{run.why}."
            line += "" if is_ours else " The one that you ask for begins when that has ended."
            idle_since_s = anyio.current_time()
        else:
            why = why_not_begun(state)
            line = f"Not begun yet: {why}." if why else ""
            if anyio.current_time() - idle_since_s > BEGIN_S:
                raise not_begun(why)
        if line and line != told:
            click.echo(line)
            told = line
        await anyio.sleep(LOOK_AGAIN_S)


def why_not_begun(state: ClusterState) -> str:
    """Return the operator's reason to begin none now, but for the archive's: a command does not ask
    the leader how far that has come. Empty where there is no other."""
    working = {state.desired.name: Known(Archiving(state.now, is_on=True))}
    seen = replace(state, observed=replace(state.observed, archiving=working))
    for step in plan_base_backups(seen):
        if isinstance(step, Hold) and step.key == key_of(state):
            return step.reason
    return ""


def not_begun(why: str) -> CommandError:
    reason = why or "see that the operator runs, and what `queenright status` shows"
    return CommandError(
        f"the base backup is requested, and not begun after {BEGIN_S:.0f} s ({reason}); the "
        "operator begins it when it can, within a day"
    )


async def stored_backups(live: Session) -> tuple[StoredBackup, ...]:
    """Return what the repository has, newest first. CommandError with the cause where it is not
    known."""
    view = await live.look()
    service = listing_service(view.state)
    if isinstance(service, str):
        raise CommandError(f"the base backups can't be listed: {service}")
    if view.state.swarm.service(service.name) is not None:
        raise CommandError(
            f"service {service.name}: is there already (another command lists, or one was killed); "
            "try again, the operator removes it after ten minutes"
        )
    create = CreateService(service, reason=f"the base backups are listed by {live.command}")
    if refusal := backups_are_safe(live.plan(view, [create]), view.observed):
        raise CommandError(f"refused by {refusal.guard}: {refusal.reason}")
    result = await live.carry_out(view, [create])
    outcome = result.tried[0][1]
    if isinstance(outcome, Conflict) or (isinstance(outcome, Failed) and not outcome.transient):
        raise failed(result) or CommandError("another command lists the base backups; try again")
    try:
        return await list_of(live, service.name)
    finally:
        with anyio.move_on_after(REMOVE_S, shield=True):
            await remove(live, view, service.name)


async def list_of(live: Session, name: str) -> tuple[StoredBackup, ...]:
    """Wait for the job's end and return its list."""
    why = "swarm has not begun it"
    with anyio.move_on_after(LIST_S):
        while True:
            await anyio.sleep(LOOK_AGAIN_S / 2)
            try:
                swarm = (await live.ports.swarm.observe()).in_order()
            except SwarmError as error:
                why = str(error)
                continue
            job = swarm.service(name)
            tasks = list(swarm.tasks_of(job.id)) if job else []
            why = waiting_for(tasks, "swarm says") or "the repository does not answer"
            if job is None or not tasks:
                continue
            if any(task.state == "complete" for task in tasks):
                return await whole_list(live, job)
            if not any(task.is_alive or swarm.may_run(task) for task in tasks):
                last = max(tasks, key=lambda task: task.at)
                raise not_read(await last_line(live, job) or last.error or last.state)
    raise not_read(f"no answer within {LIST_S:.0f} s: {why}")


async def whole_list(live: Session, job: LiveService) -> tuple[StoredBackup, ...]:
    """Return the list of a job that ended well, as soon as all of its lines are there."""
    with anyio.move_on_after(LINES_S):
        while True:
            found = read_list(await output_of(live, job))
            if found is not None:
                return found
            await anyio.sleep(LOOK_AGAIN_S)
    raise not_read(
        "its lines can't be read, or not all of them (an older member image prints no number of "
        "backups); try again"
    )


async def output_of(live: Session, job: LiveService) -> str:
    try:
        return await live.ports.swarm.service_output(job.id, LINES)
    except SwarmError:
        return ""


async def last_line(live: Session, job: LiveService) -> str:
    lines = [line.strip() for line in (await output_of(live, job)).splitlines() if line.strip()]
    return redact_text(lines[-1].removeprefix(FAILED)) if lines else ""


def not_read(why: str) -> CommandError:
    return CommandError(f"the repository's list was not read: {why}")


async def remove(live: Session, view: ClusterAtHand, name: str) -> None:
    """Remove the job. A failure is no failure of the command: the operator removes what is left."""
    try:
        job = (await live.ports.swarm.observe()).in_order().service(name)
    except SwarmError:
        return
    if job is not None:
        step = RemoveService(job.id, name, reason="the base backups are listed")
        await live.carry_out(view, [step])
