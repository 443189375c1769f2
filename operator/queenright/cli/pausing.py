"""``queenright pause`` and ``queenright resume``: Patroni's own pause, by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import click

from queenright.cli.asking import confirm
from queenright.cli.exits import FAILURE, OK, CommandError
from queenright.cli.live import Live, View, failed, on_cluster
from queenright.cli.options import cluster_argument, force_option, manifests_option
from queenright.core.audit import Conflict, Failed
from queenright.core.commanded import pause_patch, settings_patch
from queenright.core.desired import DesiredMember
from queenright.core.observed import Known, Unknown
from queenright.core.published import pause_reason
from queenright.core.spec.quantities import format_duration

LOOK_AGAIN_S = 0.5
SPARE_S = 5.0

PAUSE_EPILOG = """\b
While paused, Patroni neither promotes nor demotes: a leader that dies is not
replaced. The operator goes on repairing, and never lifts a pause set by hand.
Written into the file, it is in the log, and can have an end:
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
A pause that the file asks for (`promotion: paused`, or maintenance) would be
set again within seconds: take it out of the file instead.

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
    """Suspend Patroni's automatic management, and wait until every member knows."""

    async def act(live: Live) -> int:
        return await set_pause(live, paused=True, force=True)

    return on_cluster(manifests, cluster, "pause", act)


@click.command(epilog=RESUME_EPILOG)
@cluster_argument
@force_option
@manifests_option
def resume(cluster: str | None, manifests: Path | None, *, force: bool) -> int:
    """Resume Patroni's automatic management, and wait until every member knows."""

    async def act(live: Live) -> int:
        return await set_pause(live, paused=False, force=force)

    return on_cluster(manifests, cluster, "resume", act)


async def set_pause(live: Live, *, paused: bool, force: bool) -> int:
    view = await live.look()
    asked, found = await settings_now(live, view)
    if bool(found.get("pause")) == paused:
        click.echo(already(found))
        return await until_agreed(live, view, paused=paused)
    click.echo(remark(view, found, paused=paused))
    if not paused and pause_reason(found):
        confirm("Lift the operator's pause?", force=force)
    step = settings_patch(
        view.situation,
        asked,
        found,
        pause_patch(found, paused=paused),
        aspect="pause" if paused else "resume",
        reason=f"asked for by {live.command}",
    )
    result = await live.carry_out(view, [step])
    outcome = result.tried[0][1]
    if isinstance(outcome, Conflict) or (isinstance(outcome, Failed) and not outcome.transient):
        raise failed(result) or CommandError("it was not done")
    if isinstance(outcome, Failed):
        click.echo(f"The answer was lost ({outcome.error}); the members are watched.", err=True)
    return await until_agreed(live, view, paused=paused)


async def settings_now(live: Live, view: View) -> tuple[DesiredMember, Mapping[str, Any]]:
    """A member to ask, and Patroni's settings as it knows them: the leader, else any whose Raft
    node has a quorum, since without one a change hangs and may land later."""
    situation = view.situation
    leader = situation.leader
    others = [m for m in situation.desired.members if m is not leader]
    for member in ([leader] if leader else []) + others:
        raft = situation.raft_of(member)
        if situation.status(member) is None or raft is None or not raft.has_quorum:
            continue
        match await live.settings_at(view, member):
            case Known(found):
                return member, found
            case Unknown():
                continue
    raise CommandError(
        "no member that answers has a Raft quorum and knows the settings: a change would hang, and "
        "might land later. Bring a majority of the members back first",
        FAILURE,
    )


def already(found: Mapping[str, Any]) -> str:
    if not found.get("pause"):
        return "Patroni is not paused."
    reason = pause_reason(found)
    whose = f"by the operator, for {reason}" if reason else "by hand"
    return f"Patroni is paused already, {whose}."


def remark(view: View, found: Mapping[str, Any], *, paused: bool) -> str:
    """What the operator will make of it."""
    policy, now = view.situation.desired.policy, view.situation.now
    reason = pause_reason(found)
    if paused:
        return (
            "A leader that dies is not replaced until `queenright resume`: the operator never "
            "lifts a pause that was set by hand. (`promotion: paused` in the file does the same, "
            "can have an end, and is in the log.)"
        )
    if reason == "maintenance":
        return "The operator has paused Patroni for the maintenance that the file asks for."
    if reason or policy.promotion.is_paused(now):
        return "The file says `promotion: paused`: the operator will pause Patroni again."
    return "The pause was set by hand."


async def until_agreed(live: Live, view: View, *, paused: bool) -> int:
    """Wait until every member says so: they take it up in their next round."""
    loop_wait = int(view.situation.desired.settings["loop_wait"])
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


def disagreeing(readings: Mapping[str, object], view: View, *, paused: bool) -> list[str]:
    lines = []
    for member in view.situation.desired.members:
        match readings.get(member.service.name):
            case Known(status) if status.paused == paused:
                continue
            case Known(status):
                word = "paused" if status.paused else "not paused"
                lines.append(f"{member.name} says that it is {word}")
            case Unknown(why):
                lines.append(f"{member.name} does not answer: {why}")
            case _:
                lines.append(f"{member.name} was not asked")
    return lines
