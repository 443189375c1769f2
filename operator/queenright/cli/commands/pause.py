"""``queenright pause`` and ``queenright resume``: set and lift Patroni's pause by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import click

from queenright.cli.cluster_session import ClusterAtHand, Session, failed, on_cluster
from queenright.cli.exit_codes import FAILURE, OK, CommandError
from queenright.cli.options import cluster_argument, force_option, manifests_option
from queenright.cli.prompts import confirm
from queenright.core.audit.record import Conflict, Failed
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.patroni.config_keys import pause_reason
from queenright.core.kinds.postgres_cluster.patroni.settings_patch import (
    pause_patch,
    settings_patch,
)
from queenright.core.manifest.quantities import format_duration
from queenright.core.observed import Known, Unknown

LOOK_AGAIN_S = 0.5
SPARE_S = 5.0

PAUSE_EPILOG = """\b
While paused, Patroni neither promotes nor demotes: a leader that fails is not
replaced. The operator goes on repairing, and never lifts a pause set by hand.
In the file, a pause is logged, and can have an end:
  promotion: {state: paused, until: 2026-12-01T06:00Z}

\b
Exit codes: 0 every member agrees, 1 not every one does, 64 no such cluster,
            65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright pause
  queenright pause main
"""
RESUME_EPILOG = """\b
If the file asks for the pause (`promotion: paused`, or maintenance), the
operator sets it again within seconds: remove it from the file instead.

\b
Exit codes: 0 every member agrees, 1 not every one does, 64 no such cluster or
            no terminal to ask at, 65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright resume
  queenright resume main --force
"""


@click.command(epilog=PAUSE_EPILOG)
@cluster_argument
@manifests_option
def pause(cluster: str | None, manifests: Path | None) -> int:
    """Suspend Patroni's automatic management, and wait until every member reports it."""

    async def act(live: Session) -> int:
        return await set_pause(live, paused=True, force=True)

    return on_cluster(manifests, cluster, "pause", act)


@click.command(epilog=RESUME_EPILOG)
@cluster_argument
@force_option
@manifests_option
def resume(cluster: str | None, manifests: Path | None, *, force: bool) -> int:
    """Resume Patroni's automatic management, and wait until every member reports it."""

    async def act(live: Session) -> int:
        return await set_pause(live, paused=False, force=force)

    return on_cluster(manifests, cluster, "resume", act)


async def set_pause(live: Session, *, paused: bool, force: bool) -> int:
    view = await live.look()
    asked, found = await settings_now(live, view)
    if bool(found.get("pause")) == paused:
        click.echo(already(found))
        return await until_agreed(live, view, paused=paused)
    click.echo(remark(view, found, paused=paused))
    if not paused and pause_reason(found):
        confirm("Lift the operator's pause?", force=force)
    step = settings_patch(
        view.state,
        asked,
        found,
        pause_patch(found, paused=paused),
        aspect="pause" if paused else "resume",
        reason=f"asked for by {live.command}",
    )
    result = await live.carry_out(view, [step])
    outcome = result.tried[0][1]
    if isinstance(outcome, Conflict) or (isinstance(outcome, Failed) and not outcome.transient):
        raise failed(result) or CommandError("nothing was done")
    if isinstance(outcome, Failed):
        click.echo(f"The answer was lost ({outcome.error}); watching the members.", err=True)
    return await until_agreed(live, view, paused=paused)


async def settings_now(
    live: Session, view: ClusterAtHand
) -> tuple[DesiredMember, Mapping[str, Any]]:
    """Return a member to ask, and Patroni's settings from it: the leader, else any whose Raft node
    has a quorum, because without one a change hangs and may take effect later."""
    state = view.state
    leader = state.leader
    others = [m for m in state.desired.members if m is not leader]
    for member in ([leader] if leader else []) + others:
        raft = state.raft_of(member)
        if state.status(member) is None or raft is None or not raft.has_quorum:
            continue
        match await live.settings_at(view, member):
            case Known(found):
                return member, found
            case Unknown():
                continue
    raise CommandError(
        "no member that answers has a Raft quorum and the settings (a change would hang, and "
        "might take effect later); bring a majority of the members back first",
        FAILURE,
    )


def already(found: Mapping[str, Any]) -> str:
    if not found.get("pause"):
        return "Patroni is not paused."
    reason = pause_reason(found)
    whose = f"by the operator, for {reason}" if reason else "by hand"
    return f"Patroni is paused already, {whose}."


def remark(view: ClusterAtHand, found: Mapping[str, Any], *, paused: bool) -> str:
    """Return the operator's reaction to the pause or its end."""
    policy, now = view.state.desired.policy, view.state.now
    reason = pause_reason(found)
    if paused:
        return (
            "A leader that fails is not replaced until `queenright resume`: the operator never "
            "lifts a pause that was set by hand. (`promotion: paused` in the file does the same, "
            "can have an end, and is logged.)"
        )
    if reason == "maintenance":
        return "The operator has paused Patroni for the maintenance that the file asks for."
    if reason or policy.promotion.is_paused(now):
        return "The file says `promotion: paused`: the operator will pause Patroni again."
    return "The pause was set by hand."


async def until_agreed(live: Session, view: ClusterAtHand, *, paused: bool) -> int:
    """Wait until every member reports it: they apply it in their next round."""
    loop_wait = int(view.state.desired.settings["loop_wait"])
    limit_s = 2 * loop_wait + SPARE_S
    waiting: list[str] = []
    began_s = anyio.current_time()
    while True:
        waiting = disagreeing(await live.members(view), view, paused=paused)
        if not waiting:
            word = "paused" if paused else "resumed"
            click.echo(f"Every member agrees: Patroni is {word}.")
            return OK
        if anyio.current_time() - began_s >= limit_s:
            break
        await anyio.sleep(LOOK_AGAIN_S)
    for line in waiting:
        click.echo(line, err=True)
    click.echo(f"not every member agrees after {format_duration(round(limit_s))}", err=True)
    return FAILURE


def disagreeing(readings: Mapping[str, object], view: ClusterAtHand, *, paused: bool) -> list[str]:
    lines = []
    for member in view.state.desired.members:
        match readings.get(member.service.name):
            case Known(status) if status.paused == paused:
                continue
            case Known(status):
                word = "paused" if status.paused else "not paused"
                lines.append(f"{member.name} is {word}")
            case Unknown(why):
                lines.append(f"{member.name} does not answer: {why}")
            case _:
                lines.append(f"{member.name} was not asked")
    return lines
