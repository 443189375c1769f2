"""``queenright list``: the member table, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from queenright.cli import look, views
from queenright.cli.exits import INVALID, OK, CommandError
from queenright.cli.live import chosen
from queenright.cli.options import cluster_argument, json_option, manifests_option
from queenright.cli.output import Output, print_json
from queenright.core.status import MEMBER_COLUMNS, MemberRow, member_row
from queenright.engine.survey import Survey

EPILOG = """\b
The columns of `patronictl list`. `Leader` is who proves the leader lock; a
member that does not answer is unknown. More is in `queenright status`.

\b
Exit codes: 0 shown, 64 no such cluster, 65 files not valid,
            69 swarm not reachable

\b
Examples:
  queenright list
  queenright list main --json | jq -r '.clusters.main[] | select(.role == "Leader").member'
"""


@click.command("list", epilog=EPILOG)
@cluster_argument
@json_option
@manifests_option
def list_members(cluster: str | None, manifests: Path | None, *, as_json: bool) -> int:
    """Show the members: host, role, state, timeline, lag."""
    settings = look.settings_for_looking(manifests)
    written = look.read_desired(settings, manifests)
    described = [document for document in written.documents if document.is_cluster]
    documents = [chosen(written, cluster)] if cluster else described
    if not written.is_valid and not documents:
        raise CommandError("\n".join(str(problem) for problem in written.errors), INVALID)
    found = look.take_look(settings, documents)
    look.seen_swarm(found, settings)
    tables = member_tables(found)
    if as_json:
        rows = {name: [views.member_json(row) for row in table] for name, table in tables.items()}
        print_json({"clusters": rows})
    else:
        show_tables(Output(), tables)
    return OK


def member_tables(found: Survey) -> dict[str, list[MemberRow]]:
    """The rows of each cluster that a file describes, by its name."""
    return {
        view.name: [member_row(member, found.observed) for member in view.desired.members]
        for view in found.clusters
        if view.desired is not None
    }


def show_tables(out: Output, tables: Mapping[str, Sequence[MemberRow]]) -> None:
    """The table alone; with its cluster's name only where there are several."""
    for name, table in tables.items():
        if len(tables) > 1:
            out.heading(f"Cluster {name}")
        out.table(MEMBER_COLUMNS, [row.cells for row in table])
    out.flush()
