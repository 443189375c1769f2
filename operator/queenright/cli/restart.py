"""``queenright restart``: PostgreSQL in one member, where settings wait for it."""

from __future__ import annotations

from pathlib import Path

import anyio
import click

from queenright.cli.asking import confirm, confirm_by_name
from queenright.cli.exits import FAILURE, OK, CommandError
from queenright.cli.live import Live, View, member_named, on_cluster
from queenright.cli.options import force_option, manifests_option
from queenright.core.audit import Conflict, Failed
from queenright.core.commanded import why_not_restart
from queenright.core.desired import DesiredMember
from queenright.core.observed import Known
from queenright.core.restarts import restart_step
from queenright.core.standing import shown

LOOK_AGAIN_S = 0.5
LIMIT_S = 120.0
"""A shutdown waits for a checkpoint."""

EPILOG = """\b
Only PostgreSQL restarts, not its container, and only where a setting waits for
it. What the file changes is rolled by the operator itself, the leader last;
this is for settings that the file does not own.

\b
Exit codes: 0 done, or nothing waits; 1 it was not done or is not known,
            64 no such member or no terminal to ask at, 65 files not valid,
            69 swarm not reachable

\b
Examples:
  queenright restart member-2
  queenright restart member-1 --cluster main --force
"""


@click.command(epilog=EPILOG)
@click.argument("member")
@click.option("--cluster", help="Which cluster, where the files describe several.")
@force_option
@manifests_option
def restart(member: str, cluster: str | None, manifests: Path | None, *, force: bool) -> int:
    """Restart PostgreSQL in MEMBER, if settings wait for that."""

    async def act(live: Live) -> int:
        return await restart_member(live, member, force=force)

    return on_cluster(manifests, cluster, f"restart {member}", act)


async def restart_member(live: Live, name: str, *, force: bool) -> int:
    view = await live.look()
    member = member_named(view, name)
    if not waits(view, member):
        click.echo(f"No setting waits for a restart of {member.name}: nothing was done.")
        return OK
    refuse_unsafe(view, member)
    ask(view, member, force=force)
    view = await live.look()
    refuse_unsafe(view, member)
    step = restart_step(view.situation, member, f"asked for by {live.command}")
    began_s = anyio.current_time()
    result = await live.carry_out(view, [step])
    outcome = result.tried[0][1]
    if isinstance(outcome, Conflict):
        click.echo(f"No setting waits for a restart of {member.name} any more.")
        return OK
    if isinstance(outcome, Failed):
        if not outcome.transient:
            raise CommandError(outcome.error)
        click.echo(f"The answer was lost ({outcome.error}); the member is watched.", err=True)
    if not await is_back(live, view, member):
        click.echo(f"{member.name} is not back after {LIMIT_S:.0f} s", err=True)
        return FAILURE
    click.echo(f"{member.name} is back, {anyio.current_time() - began_s:.1f} s later.")
    return OK


def waits(view: View, member: DesiredMember) -> bool:
    status = view.situation.status(member)
    if status is None:
        why = view.situation.why_unknown(member)
        raise CommandError(f"{member.name} does not answer ({why})")
    return status.pending_restart


def refuse_unsafe(view: View, member: DesiredMember) -> None:
    if why := why_not_restart(view.situation, member):
        raise CommandError(f"{member.name} is not restarted now: {why}")


def ask(view: View, member: DesiredMember, *, force: bool) -> None:
    status = view.situation.status(member)
    click.echo(
        f"{member.name} waits for a restart{shown(status.pending_changes) if status else ''}."
    )
    if view.situation.is_leader(member):
        click.echo(
            f"{member.name} leads: nobody can write while it restarts, some seconds at the least. "
            "Moving the lead away first (queenright switchover) costs about one.",
            err=True,
        )
        confirm_by_name(f"Restart the leader {member.name}?", member.name, force=force)
    else:
        confirm(f"Restart {member.name}?", force=force)


async def is_back(live: Live, view: View, member: DesiredMember) -> bool:
    """Whether the member runs again, and waits for nothing any more, within the limit."""
    with anyio.move_on_after(LIMIT_S):
        while True:
            reading = (await live.members(view))[member.service.name]
            if isinstance(reading, Known):
                status = reading.value
                if status.is_well and not status.pending_restart:
                    return True
            await anyio.sleep(LOOK_AGAIN_S)
    return False
