"""A drill by a command: a request until it is answered.

The operator makes the drill; the command writes one label and watches.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import anyio
import click

from queenright.cli.backup_jobs import LOOK_AGAIN_S, Asking
from queenright.cli.cluster_session import Session
from queenright.cli.exit_codes import OK, CommandError
from queenright.core.kinds.postgres_cluster.drill.asking import (
    drill_for,
    drill_step,
    has_failed,
    is_proved,
    open_drill,
    why_no_drill_asked,
)
from queenright.core.kinds.postgres_cluster.drill.told import figures_text
from queenright.core.kinds.postgres_cluster.rules.drills import drill_key, plan_drills
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.manifest.moments import format_moment
from queenright.core.observed import Archiving, Known
from queenright.core.planning.plan import Hold

BEGIN_S = 120.0
"""The longest wait for its beginning: the archive may need a minute to have the newest backup."""
DRILL = Asking("drill", why_no_drill_asked, open_drill, drill_step)


async def until_proved(live: Session, at: datetime) -> int:
    """Watch until the request is answered. CommandError where the drill failed or is not begun."""
    told, idle_since_s = "", anyio.current_time()
    while True:
        state = (await live.look()).state
        if is_proved(state, at):
            click.echo(f"The restore is proven: {figures_text(state.drill_note)}.")
            return OK
        if has_failed(state, at):
            raise CommandError(
                f"the restore failed ({state.drill_note.why}); see that the cause is gone, or make "
                "another base backup, and ask again"
            )
        if state.drill_request is None and drill_for(state, at) is None:
            raise CommandError(
                "the request is gone, and no restore was proven since (somebody removed it, or it "
                "is a day old); ask again"
            )
        if (job := drill_for(state, at)) is not None:
            line = f"A drill runs since {format_moment(job.created_at.replace(microsecond=0))}."
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
    archiving = Archiving(state.now, is_on=True, last_wal=state.backup_note.wal, system="1")
    working = {state.desired.name: Known(archiving)}
    seen = replace(state, observed=replace(state.observed, archiving=working))
    for step in plan_drills(seen):
        if isinstance(step, Hold) and step.key == drill_key(state):
            return step.reason
    return ""


def not_begun(why: str) -> CommandError:
    reason = why or "see that the operator runs, and what `queenright status` shows"
    return CommandError(
        f"the drill is requested, and not begun after {BEGIN_S:.0f} s ({reason}); the operator "
        "begins it when it can, within a day"
    )
