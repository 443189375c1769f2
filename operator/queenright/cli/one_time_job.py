"""A job beside a member's data that answers one question, by a command.

Invariant: the job is removed again, whatever ends the command; one that stays is the operator's to
remove.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import anyio

from queenright.cli.cluster_session import ClusterAtHand, Session, failed
from queenright.cli.exit_codes import CommandError
from queenright.core.actions import CreateService, RemoveService
from queenright.core.audit.record import Conflict, Failed
from queenright.core.audit.redaction import redact_text
from queenright.core.kinds.job_runs import waiting_for
from queenright.core.kinds.postgres_cluster.backup.guard import backups_are_safe
from queenright.core.kinds.postgres_cluster.command_jobs import LINES
from queenright.core.kinds.postgres_cluster.losses.data_end_guard import data_ends_are_read
from queenright.core.observed import LiveService, Task
from queenright.core.planning.plan import Guard
from queenright.core.swarm.objects import Service
from queenright.ports.swarm import SwarmError

LOOK_AGAIN_S = 1.0
LINES_S = 15.0
"""The time for the lines of a job that has ended to be there."""
REMOVE_S = 10.0
GUARDS: tuple[Guard, ...] = (backups_are_safe, data_ends_are_read)
"""The guards of jobs: each judges those of its own role."""

NO_PROGRAM_CODE, NO_PROGRAM = 127, "executable file not found"
"""The exit code of a container's init, and the words of its runtime, where the image does not have
the program."""

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Question(Generic[Answer]):
    """A question to a job.

    ``what`` begins a failure's message, ``reason`` is the action's, ``read`` gives the answer in
    the job's lines, None while they are not whole, ``prefix`` begins the line with which the job's
    program fails; ``lasts_s`` is the time limit, and ``silence`` why a job that runs gives no
    answer. ``lacking`` are the words for an older image, which does not have the program.
    """

    what: str
    reason: str
    read: Callable[[str], Answer | None]
    prefix: str
    lasts_s: float
    silence: str
    lacking: str


class UnheardError(CommandError):
    """A job has ended, and its lines are not to be had."""


async def answered_by(
    live: Session, view: ClusterAtHand, service: Service, question: Question[Answer]
) -> Answer:
    """Return the answer of this job; UnheardError where its lines can't be had."""
    if view.state.swarm.service(service.name) is not None:
        raise CommandError(
            f"service {service.name}: is there already (another command asks, or one was killed); "
            "try again, the operator removes it after ten minutes"
        )
    create = CreateService(service, reason=f"{question.reason} by {live.command}")
    for guard in GUARDS:
        if refusal := guard(live.plan(view, [create]), view.observed):
            raise CommandError(f"refused by {refusal.guard}: {refusal.reason}")
    with anyio.CancelScope(shield=True):  # a job that is there is removed
        result = await live.carry_out(view, [create])
    outcome = result.tried[0][1]
    if isinstance(outcome, Conflict) or (isinstance(outcome, Failed) and not outcome.transient):
        raise failed(result) or CommandError(
            f"service {service.name}: another command makes it; try again"
        )
    try:
        return await until_answered(live, service.name, question)
    finally:
        with anyio.move_on_after(REMOVE_S, shield=True):
            await remove(live, view, service.name, question.reason)


async def until_answered(live: Session, name: str, question: Question[Answer]) -> Answer:
    """Wait for the job's end and return its answer."""
    why = "swarm has not begun it"
    with anyio.move_on_after(question.lasts_s):
        while True:
            await anyio.sleep(LOOK_AGAIN_S / 2)
            try:
                swarm = (await live.ports.swarm.observe()).in_order()
            except SwarmError as error:
                why = str(error)
                continue
            job = swarm.service(name)
            tasks = list(swarm.tasks_of(job.id)) if job else []
            why = waiting_for(tasks, "swarm says") or question.silence
            if job is None or not tasks:
                continue
            if any(task.state == "complete" for task in tasks):
                return await whole_answer(live, job, question)
            if not any(task.is_alive or swarm.may_run(task) for task in tasks):
                raise CommandError(
                    f"{question.what}: {await why_failed(live, job, tasks, question)}"
                )
    raise CommandError(f"{question.what}: no answer within {question.lasts_s:.0f} s: {why}")


async def whole_answer(live: Session, job: LiveService, question: Question[Answer]) -> Answer:
    """Return the answer of a job that ended well, as soon as all of its lines are there."""
    why = "its lines can't be read, or not all of them (the member image may be an older one)"
    with anyio.move_on_after(LINES_S):
        while True:
            try:
                text = await live.ports.swarm.service_output(job.id, LINES)
            except SwarmError as error:
                why = str(error)
            else:
                found = question.read(text)
                if found is not None:
                    return found
            await anyio.sleep(LOOK_AGAIN_S)
    raise UnheardError(why)


async def why_failed(
    live: Session, job: LiveService, tasks: Sequence[Task], question: Question[Answer]
) -> str:
    """Return why a job failed: by its last line, or else by swarm."""
    last = max(tasks, key=lambda task: task.at)
    if last.exit_code == NO_PROGRAM_CODE or NO_PROGRAM in last.error:
        return question.lacking
    return await last_line(live, job, question) or last.error or last.state


async def last_line(live: Session, job: LiveService, question: Question[Answer]) -> str:
    """Return the last line of a job that failed; UnheardError where it can't be read."""
    try:
        text = await live.ports.swarm.service_output(job.id, LINES)
    except SwarmError as error:
        raise UnheardError(f"the job failed, and why is not known ({error})") from error
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return redact_text(lines[-1].removeprefix(question.prefix)) if lines else ""


async def remove(live: Session, view: ClusterAtHand, name: str, reason: str) -> None:
    """Remove the job. A failure is no failure of the command: the operator removes what is left."""
    try:
        job = (await live.ports.swarm.observe()).in_order().service(name)
    except SwarmError:
        return
    if job is not None:
        await live.carry_out(view, [RemoveService(job.id, name, reason=reason)])
