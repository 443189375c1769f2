"""``queenright failover``: an emergency change of leader, which may lose data."""

from __future__ import annotations

from pathlib import Path

import click

from queenright.cli import names
from queenright.cli.cluster_session import ClusterAtHand, Session, member_named, on_cluster
from queenright.cli.commands.switchover import outcome_of
from queenright.cli.exit_codes import FAILURE, OK, CommandError
from queenright.cli.leader_change import asked_once, tidy
from queenright.cli.options import cluster_argument, force_option, manifests_option
from queenright.cli.prompts import confirm_by_name
from queenright.core.kinds.postgres_cluster.commands import (
    failover_steps,
    further_member,
    loss_bound,
    what_follows,
)
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.switchover.candidates import why_not_lead

ROUNDS = 3

EPILOG = """\b
For when no switchover is possible: the leader is gone and Patroni does not
elect another, or is paused. Data that the candidate has not received is lost
for good; the command shows how much, and asks for the candidate's name.

\b
Exit codes: 0 the candidate leads, 1 it does not, 64 no such member or no
            terminal to ask at, 65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright failover --candidate member-3
  queenright failover main --candidate member-3 --force
"""


@click.command(epilog=EPILOG)
@cluster_argument
@click.option(
    "--candidate",
    required=True,
    metavar="MEMBER",
    help="The new leader.",
    shell_complete=names.member_name,
)
@force_option
@manifests_option
def failover(cluster: str | None, candidate: str, manifests: Path | None, *, force: bool) -> int:
    """Make a member the leader at once, even if data is lost."""

    async def act(live: Session) -> int:
        return await fail_over(live, candidate, force=force)

    return on_cluster(manifests, cluster, f"failover --candidate {candidate}", act)


async def fail_over(live: Session, candidate: str, *, force: bool) -> int:
    view = await live.look()
    to = member_named(view, candidate)
    refuse_hopeless(view, to)
    for line in warnings(view, to):
        click.echo(line, err=True)
    confirm_by_name(f"Make {to.name} the leader now?", to.name, force=force)
    for _ in range(ROUNDS):
        view = await live.look()
        refuse_hopeless(view, to)
        landing = await asked_once(live, view, failover_steps(view.state, to))
        if landing is not None:
            await tidy(live, landing)
            click.echo(outcome_of(landing, to.name), err=not landing.has_moved)
            return OK if landing.leader == to.name else FAILURE
    raise CommandError("another writer keeps changing the cluster: no failover was requested")


def refuse_hopeless(view: ClusterAtHand, to: DesiredMember) -> None:
    """Raise CommandError for a failover that can't succeed."""
    state = view.state
    status = state.status(to)
    if status is None:
        raise CommandError(f"{to.name} does not answer ({state.why_unknown(to)})")
    if state.leader is to:
        raise CommandError(f"{to.name} is the leader already")
    if not status.is_running:
        raise CommandError(f"{to.name} is {status.state}: it can't become the leader")


def warnings(view: ClusterAtHand, to: DesiredMember) -> list[str]:
    """Return warnings for the person: the possible loss, and better choices."""
    state = view.state
    lines = [f"A failover to {to.name} may lose data: {loss_bound(state, to)}."]
    if better := further_member(state, to):
        lines.append(f"{better} has received more than {to.name}.")
    if why_not_lead(state, to) is None:
        lines.append(
            f"A switchover loses nothing and is possible now: "
            f"queenright switchover --candidate {to.name}"
        )
    if note := what_follows(state, to):
        lines.append(f"Note: {note}.")
    return lines
