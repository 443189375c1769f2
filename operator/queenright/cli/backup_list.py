"""The repository's list of base backups, by a command.

A job of the command's own reads it, because only the members have the repository's credentials.
Invariant: the job is removed again, whatever ends the command; one that stays is the operator's to
remove.
"""

from __future__ import annotations

import anyio

from queenright.cli.cluster_session import ClusterAtHand, Session, failed
from queenright.cli.exit_codes import CommandError
from queenright.core.actions import CreateService, RemoveService
from queenright.core.audit.record import Conflict, Failed
from queenright.core.audit.redaction import redact_text
from queenright.core.kinds.job_runs import waiting_for
from queenright.core.kinds.postgres_cluster.backup.guard import backups_are_safe
from queenright.core.kinds.postgres_cluster.backup.listing import (
    LINES,
    StoredBackup,
    listing_service,
    read_list,
)
from queenright.core.observed import LiveService
from queenright.ports.swarm import SwarmError

LOOK_AGAIN_S = 1.0
LIST_S = 120.0
"""The time limit of a list."""
LINES_S = 10.0
"""The time for the lines of a job that has ended to be there."""
REMOVE_S = 10.0
FAILED = "backup-list: got no answer: "


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
