"""``queenright restart``: restart PostgreSQL in one member whose parameters need it."""

from __future__ import annotations

from pathlib import Path

import anyio
import click

from queenright.cli import names
from queenright.cli.cluster_session import ClusterAtHand, Session, member_named, on_cluster
from queenright.cli.exit_codes import FAILURE, OK, CommandError
from queenright.cli.options import force_option, manifests_option
from queenright.cli.prompts import confirm, confirm_by_name
from queenright.core.audit.record import Conflict, Failed
from queenright.core.kinds.postgres_cluster.commands import why_not_restart
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.patroni.restart_need import restart_step
from queenright.core.kinds.postgres_cluster.status.conditions import format_changes
from queenright.core.observed import Known

LOOK_AGAIN_S = 0.5
LIMIT_S = 120.0
"""The time limit of a restart, because a shutdown waits for a checkpoint."""

EPILOG = """\b
Only PostgreSQL restarts, not its container, and only if a parameter waits for
it. The operator itself applies changes of the file, the leader last; this is
for parameters that the file does not own.

\b
Exit codes: 0 done, or nothing to do; 1 not done, or unknown,
            64 no such member or no terminal to ask at, 65 files not valid,
            69 swarm not reachable

\b
Examples:
  queenright restart member-2
  queenright restart member-1 --cluster main --force
"""


@click.command(epilog=EPILOG)
@click.argument("member", shell_complete=names.member_name)
@click.option(
    "--cluster",
    help="The cluster, if the files describe several.",
    shell_complete=names.cluster_name,
)
@force_option
@manifests_option
def restart(member: str, cluster: str | None, manifests: Path | None, *, force: bool) -> int:
    """Restart PostgreSQL in MEMBER, if parameters wait for a restart."""

    async def act(live: Session) -> int:
        return await restart_member(live, member, force=force)

    return on_cluster(manifests, cluster, f"restart {member}", act)


async def restart_member(live: Session, name: str, *, force: bool) -> int:
    view = await live.look()
    member = member_named(view, name)
    if not waits(view, member):
        click.echo(f"No parameter of {member.name} waits for a restart: nothing was done.")
        return OK
    refuse_unsafe(view, member)
    ask(view, member, force=force)
    view = await live.look()
    refuse_unsafe(view, member)
    step = restart_step(view.state, member, f"asked for by {live.command}")
    began_s = anyio.current_time()
    result = await live.carry_out(view, [step])
    outcome = result.tried[0][1]
    if isinstance(outcome, Conflict):
        click.echo(f"No parameter of {member.name} waits for a restart any more.")
        return OK
    if isinstance(outcome, Failed):
        if not outcome.transient:
            raise CommandError(outcome.error)
        click.echo(f"The answer was lost ({outcome.error}); watching the member.", err=True)
    if not await is_back(live, view, member):
        click.echo(f"{member.name} is not back after {LIMIT_S:.0f} s", err=True)
        return FAILURE
    click.echo(f"{member.name} runs again after {anyio.current_time() - began_s:.1f} s.")
    return OK


def waits(view: ClusterAtHand, member: DesiredMember) -> bool:
    status = view.state.status(member)
    if status is None:
        why = view.state.why_unknown(member)
        raise CommandError(f"{member.name} does not answer ({why})")
    return status.pending_restart


def refuse_unsafe(view: ClusterAtHand, member: DesiredMember) -> None:
    if why := why_not_restart(view.state, member):
        raise CommandError(f"{member.name} is not restarted now: {why}")


def ask(view: ClusterAtHand, member: DesiredMember, *, force: bool) -> None:
    status = view.state.status(member)
    click.echo(
        f"{member.name} waits for a restart"
        f"{format_changes(status.pending_changes) if status else ''}."
    )
    if view.state.is_leader(member):
        click.echo(
            f"{member.name} is the leader: nobody can write while it restarts, for some seconds or "
            "more. A switchover first (queenright switchover) takes about one second.",
            err=True,
        )
        confirm_by_name(f"Restart the leader {member.name}?", member.name, force=force)
    else:
        confirm(f"Restart {member.name}?", force=force)


async def is_back(live: Session, view: ClusterAtHand, member: DesiredMember) -> bool:
    """Return True if the member runs again without pending parameters within the limit."""
    with anyio.move_on_after(LIMIT_S):
        while True:
            reading = (await live.members(view))[member.service.name]
            if isinstance(reading, Known):
                status = reading.value
                if status.is_well and not status.pending_restart:
                    return True
            await anyio.sleep(LOOK_AGAIN_S)
    return False
