"""``queenright list``: the table of members alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from queenright.cli import read_only
from queenright.cli.cluster_session import chosen
from queenright.cli.console import Output, print_json
from queenright.cli.exit_codes import INVALID, OK, CommandError
from queenright.cli.options import cluster_argument, json_option, manifests_option
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.status.rows import MEMBER_COLUMNS, MemberRow, member_row
from queenright.core.manifest.document import documents_of
from queenright.engine.planning import PlannedPass

EPILOG = """\b
The columns of `patronictl list`. `Leader` is the member with the leader lock;
a member that does not answer is unknown. `queenright status` shows more.

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
    settings = read_only.settings_for_looking(manifests)
    written = read_only.read_desired(settings, manifests)
    described = documents_of(PostgresCluster, written.documents)
    documents = (chosen(written, cluster),) if cluster else described
    if not written.is_valid and not documents:
        raise CommandError("\n".join(str(problem) for problem in written.errors), INVALID)
    found = read_only.take_look(settings, documents)
    read_only.seen_swarm(found.observed, settings)
    tables = member_tables(found)
    if as_json:
        rows = {name: [row.as_json() for row in table] for name, table in tables.items()}
        print_json({"clusters": rows})
    else:
        show_tables(Output(), tables)
    return OK


def member_tables(found: PlannedPass) -> dict[str, list[MemberRow]]:
    """Return the rows of each cluster that a file describes, by its name."""
    return {
        view.name: [member_row(member, found.observed) for member in view.desired.members]
        for view in found.with_members()
        if view.desired is not None
    }


def show_tables(out: Output, tables: Mapping[str, Sequence[MemberRow]]) -> None:
    """Show the table alone; with the cluster's name only if there are several."""
    for name, table in tables.items():
        if len(tables) > 1:
            out.heading(f"Cluster {name}")
        out.table(MEMBER_COLUMNS, [row.cells for row in table])
    out.flush()
