"""``queenright failover``: an emergency change of leader, which may lose data."""

from __future__ import annotations

from pathlib import Path

import click

from queenright.cli.asking import confirm_by_name
from queenright.cli.exits import FAILURE, OK, CommandError
from queenright.cli.live import Live, View, member_named, on_cluster
from queenright.cli.moving import asked_once, tidy
from queenright.cli.options import cluster_argument, force_option, manifests_option
from queenright.cli.switchover import outcome_of
from queenright.core.candidates import why_not_lead
from queenright.core.commanded import (
    failover_steps,
    further_member,
    loss_bound,
    what_follows,
)
from queenright.core.desired import DesiredMember

ROUNDS = 3

EPILOG = """\b
For when no planned move is possible: the leader is gone and Patroni does not
elect another, or is paused. What the candidate has not received is lost for
good; the command says how much that can be, and asks for the candidate's name.

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
@click.option("--candidate", required=True, metavar="MEMBER", help="Who is to lead.")
@force_option
@manifests_option
def failover(cluster: str | None, candidate: str, manifests: Path | None, *, force: bool) -> int:
    """Make a member the leader at once, whatever is lost by it."""

    async def act(live: Live) -> int:
        return await fail_over(live, candidate, force=force)

    return on_cluster(manifests, cluster, f"failover --candidate {candidate}", act)


async def fail_over(live: Live, candidate: str, *, force: bool) -> int:
    view = await live.look()
    to = member_named(view, candidate)
    refuse_hopeless(view, to)
    for line in warnings(view, to):
        click.echo(line, err=True)
    confirm_by_name(f"Make {to.name} the leader now?", to.name, force=force)
    for _ in range(ROUNDS):
        view = await live.look()
        refuse_hopeless(view, to)
        landing = await asked_once(live, view, failover_steps(view.situation, to))
        if landing is not None:
            await tidy(live, landing)
            click.echo(outcome_of(landing, to.name), err=not landing.has_moved)
            return OK if landing.leader == to.name else FAILURE
    raise CommandError("somebody else keeps writing at the same time: nothing was asked for")


def refuse_hopeless(view: View, to: DesiredMember) -> None:
    """What no emergency makes possible."""
    situation = view.situation
    status = situation.status(to)
    if status is None:
        raise CommandError(f"{to.name} does not answer ({situation.why_unknown(to)})")
    if situation.leader is to:
        raise CommandError(f"{to.name} leads already")
    if not status.is_running:
        raise CommandError(f"{to.name} is {status.state}: it can't lead")


def warnings(view: View, to: DesiredMember) -> list[str]:
    """What a person has to know before: what can be lost, and what would be better."""
    situation = view.situation
    lines = [f"A failover to {to.name} may lose data: {loss_bound(situation, to)}."]
    if better := further_member(situation, to):
        lines.append(f"{better} has received more than {to.name}.")
    if why_not_lead(situation, to) is None:
        lines.append(
            f"A planned move loses nothing and is possible now: "
            f"queenright switchover --candidate {to.name}"
        )
    if note := what_follows(situation, to):
        lines.append(f"Note: {note}.")
    return lines
