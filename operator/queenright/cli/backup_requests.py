"""A base backup or a drill by a command: a request until it is answered.

The operator makes what is asked for; the command writes one label and watches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

import anyio
import click

from queenright.cli.cluster_session import ClusterAtHand, Session, failed
from queenright.cli.exit_codes import OK, CommandError
from queenright.core.actions import AnyAction, LabelConfig
from queenright.core.audit.record import Conflict, Failed
from queenright.core.kinds.postgres_cluster.backup.asking import (
    Progress,
    asked_at,
    open_request,
    progress,
    request_step,
    why_none_asked,
)
from queenright.core.kinds.postgres_cluster.drill.asking import (
    drill_progress,
    drill_step,
    open_drill,
    why_no_drill_asked,
)
from queenright.core.kinds.postgres_cluster.rules.base_backups import key_of, plan_base_backups
from queenright.core.kinds.postgres_cluster.rules.drills import drill_key, plan_drills
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Archiving, Known
from queenright.core.planning.plan import Hold

LOOK_AGAIN_S = 1.0
ROUNDS = 10
BEGIN_S = 60.0
"""The time for the operator to begin what was requested."""


@dataclass(frozen=True)
class Asking:
    """A kind of request: ``noun`` and ``answer`` for people, why it would come to nothing, the
    moment of an open one, the step that writes one, and what became of one; then the operator's
    rule, and the key of its hold while it begins none."""

    noun: str
    answer: str
    why_none: Callable[[ClusterState], str | None]
    open_at: Callable[[ClusterState], datetime | None]
    step: Callable[[ClusterState, str], Iterable[LabelConfig]]
    progress: Callable[[ClusterState, datetime], Progress]
    rule: Callable[[ClusterState], Iterable[AnyAction | Hold]]
    key: Callable[[ClusterState], str]


BASE_BACKUP = Asking(
    "base backup",
    "base backup was made",
    why_none_asked,
    open_request,
    request_step,
    progress,
    plan_base_backups,
    key_of,
)
DRILL = Asking(
    "drill",
    "restore was proven",
    why_no_drill_asked,
    open_drill,
    drill_step,
    drill_progress,
    plan_drills,
    drill_key,
)


async def request(live: Session, asking: Asking) -> datetime:
    """Write the request, or join an open one; return its moment."""
    for _ in range(ROUNDS):
        state = (view := await live.look()).state
        if why := asking.why_none(state):
            raise CommandError(why)
        if (at := asking.open_at(state)) is not None:
            return at
        if await is_written(live, view, asking.step(state, live.command)):
            return asked_at(state)
        await anyio.sleep(LOOK_AGAIN_S)
    raise CommandError(
        f"config {live.document.name}_cluster: no {asking.noun} was requested (another writer "
        "keeps changing it); try again"
    )


async def is_written(live: Session, view: ClusterAtHand, steps: Iterable[AnyAction]) -> bool:
    """Try to write a request; False where another try may help, CommandError where none can."""
    result = await live.carry_out(view, list(steps))
    outcome = result.tried[0][1] if result.tried else None
    if isinstance(outcome, Failed) and not outcome.transient:
        raise failed(result) or CommandError("nothing was requested")
    return outcome is not None and not isinstance(outcome, Failed | Conflict)


async def until_answered(live: Session, asking: Asking, at: datetime) -> int:
    """Watch until the request is answered. CommandError where it failed or is not begun."""
    told, idle_since_s = "", anyio.current_time()
    while True:
        state = (await live.look()).state
        found = asking.progress(state, at)
        if found.done:
            click.echo(found.done)
            return OK
        if found.failed:
            raise CommandError(found.failed)
        if found.is_gone:
            raise CommandError(
                f"the request is gone, and no {asking.answer} since (somebody removed it, or it is "
                "a day old); ask again"
            )
        line = found.working
        if line:
            idle_since_s = anyio.current_time()
        else:
            why = why_not_begun(state, asking)
            line = f"Not begun yet: {why}." if why else ""
            if anyio.current_time() - idle_since_s > BEGIN_S:
                raise not_begun(why, asking)
        if line and line != told:
            click.echo(line)
            told = line
        await anyio.sleep(LOOK_AGAIN_S)


def why_not_begun(state: ClusterState, asking: Asking) -> str:
    """Return the operator's reason to begin none now, but for the archive's: a command does not ask
    the leader how far that has come. Empty where there is no other."""
    working = {state.desired.name: Known(Archiving(state.now, is_on=True, system="1"))}
    seen = replace(state, observed=replace(state.observed, archiving=working))
    for step in asking.rule(seen):
        if isinstance(step, Hold) and step.key == asking.key(state):
            return step.reason
    return ""


def not_begun(why: str, asking: Asking) -> CommandError:
    reason = why or "see that the operator runs, and what `queenright status` shows"
    return CommandError(
        f"the {asking.noun} is requested, and not begun after {BEGIN_S:.0f} s ({reason}); the "
        "operator begins it when it can, within a day"
    )
