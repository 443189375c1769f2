"""``queenright switchover``: a planned change of leader."""

from __future__ import annotations

from pathlib import Path

import click

from queenright.cli.asking import confirm
from queenright.cli.exits import FAILURE, OK
from queenright.cli.live import Live, View, member_named, on_cluster
from queenright.cli.moving import Landing, planned_move
from queenright.cli.options import cluster_argument, force_option, manifests_option
from queenright.core.commanded import what_follows, why_not_commanded
from queenright.core.desired import DesiredMember

EPILOG = """\b
The lead moves only to a member that streams and is close enough, while all
members are well: the operator's own conditions, and its own way. A lost
answer is never followed by a second request, but settled by looking.
To make it a wish that is kept, write `primary: X` into the file instead.

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
@click.option("--candidate", required=True, metavar="MEMBER", help="Who is to lead.")
@force_option
@manifests_option
def switchover(cluster: str | None, candidate: str, manifests: Path | None, *, force: bool) -> int:
    """Move the lead to another member, without losing a row."""

    async def act(live: Live) -> int:
        return await switch_over(live, candidate, force=force)

    return on_cluster(manifests, cluster, f"switchover --candidate {candidate}", act)


async def switch_over(live: Live, candidate: str, *, force: bool) -> int:
    view = await live.look()
    to = member_named(view, candidate)
    if view.situation.leader is to:
        click.echo(f"{to.name} leads already.")
        return OK
    if (obstacle := why_not_commanded(view.situation, to)) is None:
        for line in introduction(view, to):
            click.echo(line)
        confirm(f"Move the lead to {to.name}?", force=force)
    else:
        click.echo(f"The lead does not move to {to.name}: {obstacle}", err=True)
        return FAILURE
    landing = await planned_move(live, to)
    click.echo(outcome_of(landing, to.name), err=not landing.has_moved)
    return OK if landing.leader == to.name else FAILURE


def introduction(view: View, to: DesiredMember) -> list[str]:
    leader, timeline = view.leader_at or ("nobody", 0)
    status = view.situation.status(to)
    lag = f"{status.lag_bytes} bytes behind" if status and status.lag_bytes is not None else ""
    lines = [f"{leader} leads on timeline {timeline}; {to.name} streams, {lag}."]
    if note := what_follows(view.situation, to):
        lines.append(f"Note: {note}.")
    return lines


def outcome_of(landing: Landing, wanted: str) -> str:
    """What is known, in one line."""
    if landing.refusal:
        return f"Patroni refused: {landing.refusal}"
    doubt = f" The answer to the request was lost or ambiguous ({landing.doubt})."
    if not landing.has_moved:
        return (
            "The lead has not moved, and the request is void by now."
            f"{doubt if landing.doubt else ''}"
        )
    text = (
        f"{landing.leader} leads on timeline {landing.timeline}, "
        f"{landing.seconds:.1f} s after it was asked for."
    )
    if landing.leader != wanted:
        text = f"{text} {wanted} was asked for, but {landing.leader} won."
    return text + (doubt if landing.doubt else "")
