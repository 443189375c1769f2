"""``queenright data-end``: where each member's data end, and what is lost with each choice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from queenright.cli.cluster_session import Session, on_cluster
from queenright.cli.console import Output, print_json
from queenright.cli.data_ends import data_ends
from queenright.cli.exit_codes import FAILURE, OK
from queenright.cli.options import cluster_argument, json_option, manifests_option
from queenright.core.kinds.postgres_cluster.losses.data_ends import (
    MemberEnd,
    behind_text,
    conclusion,
    end_json,
    furthest,
    position_text,
    why_not_comparable,
)

COLUMNS = ("Member", "Node", "Timeline", "End", "Behind", "Source")

EPILOG = """\b
A member that says itself where its data end is not asked again. For each other
one whose node is ready a job on that node reads its volume, also where its
container does not run; it writes nothing, and is removed at once. Behind is in
bytes, behind the furthest end on the highest timeline. Nothing is changed.

\b
Exit codes: 0 all ends are known, 1 some are not, 64 no such cluster,
            65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright data-end
  queenright data-end main --json | jq '.furthest'
"""


@click.command("data-end", epilog=EPILOG)
@cluster_argument
@json_option
@manifests_option
def data_end(cluster: str | None, manifests: Path | None, *, as_json: bool) -> int:
    """Show where each member's data end, and what is lost with each choice."""

    async def act(live: Session) -> int:
        return await show_ends(live, in_json=as_json)

    return on_cluster(manifests, cluster, "data-end", act)


async def show_ends(live: Session, *, in_json: bool) -> int:
    view = await live.look()
    ends = await data_ends(live, view)
    said = conclusion(view.state, ends)
    if in_json:
        top = [] if why_not_comparable(ends) else furthest(ends)
        rows = [end_json(one, ends) for one in ends]
        names = [one.member.name for one in top]
        print_json(
            {"cluster": live.document.name, "members": rows, "furthest": names, "conclusion": said}
        )
    else:
        out = Output()
        out.table(COLUMNS, [cells(one, ends) for one in ends])
        out.line(said)
        out.flush()
    return OK if all(one.end is not None for one in ends) else FAILURE


def cells(one: MemberEnd, ends: Sequence[MemberEnd]) -> tuple[str, ...]:
    own = (one.member.name, one.member.node)
    if one.end is None:
        return (*own, "", "", "", f"not known ({one.why})")
    if not one.has_data:
        return (*own, "", "no data", behind_text(one, ends), one.source)
    end = position_text(one.end.location)
    return (*own, str(one.end.timeline), end, behind_text(one, ends), one.source)
