"""``queenright switchover``: a planned change of leader."""

from __future__ import annotations

from pathlib import Path

import click

from queenright.cli import names
from queenright.cli.cluster_session import ClusterAtHand, Session, member_named, on_cluster
from queenright.cli.exit_codes import FAILURE, OK
from queenright.cli.leader_change import Landing, planned_move
from queenright.cli.options import cluster_argument, force_option, manifests_option
from queenright.cli.prompts import confirm
from queenright.core.kinds.postgres_cluster.commands import what_follows, why_not_commanded
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember

EPILOG = """\b
Only a member that streams and is close enough can become the leader, while all
members are healthy: these are the operator's conditions and steps. After a
lost answer the command sends no second request, but observes the result.
To keep a member as the leader, write `primary: X` into the file instead.

\b
Exit codes: 0 the candidate leads, 1 it does not, 64 no such member or no
            terminal to ask at, 65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright switchover --candidate member-2
  queenright switchover main --candidate member-2 --force
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
def switchover(cluster: str | None, candidate: str, manifests: Path | None, *, force: bool) -> int:
    """Make another member the leader, without losing data."""

    async def act(live: Session) -> int:
        return await switch_over(live, candidate, force=force)

    return on_cluster(manifests, cluster, f"switchover --candidate {candidate}", act)


async def switch_over(live: Session, candidate: str, *, force: bool) -> int:
    view = await live.look()
    to = member_named(view, candidate)
    if view.state.leader is to:
        click.echo(f"{to.name} is the leader already.")
        return OK
    if (obstacle := why_not_commanded(view.state, to)) is None:
        for line in introduction(view, to):
            click.echo(line)
        confirm(f"Make {to.name} the leader?", force=force)
    else:
        click.echo(f"No switchover to {to.name}: {obstacle}", err=True)
        return FAILURE
    landing = await planned_move(live, to)
    click.echo(outcome_of(landing, to.name), err=not landing.has_moved)
    return OK if landing.leader == to.name else FAILURE


def introduction(view: ClusterAtHand, to: DesiredMember) -> list[str]:
    leader, timeline = view.leader_at or ("nobody", 0)
    status = view.state.status(to)
    lag = f"{status.lag_bytes} bytes behind" if status and status.lag_bytes is not None else ""
    lines = [f"{leader} is the leader on timeline {timeline}; {to.name} streams, {lag}."]
    if note := what_follows(view.state, to):
        lines.append(f"Note: {note}.")
    return lines


def outcome_of(landing: Landing, wanted: str) -> str:
    """Return the result in one line."""
    if landing.refusal:
        return f"Patroni refused: {landing.refusal}"
    doubt = f" The answer to the request was lost or ambiguous ({landing.doubt})."
    if not landing.has_moved:
        return (
            "The leader has not changed, and the request has expired."
            f"{doubt if landing.doubt else ''}"
        )
    text = (
        f"{landing.leader} is the leader on timeline {landing.timeline}, "
        f"{landing.seconds:.1f} s after the request."
    )
    if landing.leader != wanted:
        text = f"{text} The request was for {wanted}, but {landing.leader} won."
    return text + (doubt if landing.doubt else "")
