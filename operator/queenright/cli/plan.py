"""``queenright plan``: what the operator would do now, without doing it."""

from __future__ import annotations

from pathlib import Path

import click

from queenright.cli import look, views
from queenright.cli.exits import CHANGES, INVALID, OK
from queenright.cli.options import GivenPath
from queenright.cli.output import Output, print_json
from queenright.core.guards import first_refusal

EPILOG = """\b
A plan holds the next safe steps, not the whole way: when they are done,
the next plan is made from what is then seen.

\b
Exit codes: 0 nothing to do and nothing held, 2 something to do or held,
            64 no such path, 65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright plan
  queenright plan cluster.yaml           before you put the file in force
  queenright plan --json | jq '.clusters[].actions[].key'
"""


@click.command(epilog=EPILOG)
@click.argument("path", type=GivenPath(path_type=Path, allow_dash=True), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def plan(path: Path | None, *, as_json: bool) -> int:
    """Show what would be done now and why, what is held and why, and whom a step disturbs.

    Changes are shown field by field. Nothing is touched. While the files are not valid, the plan
    is that of the last good state, as it is for the operator.
    """
    settings = look.settings_for_looking(path)
    written = look.read_desired(settings, path)
    for problem in written.problems:
        click.echo(str(problem), err=True)
    if not written.is_valid and not written.documents:
        return INVALID
    found = look.take_look(settings, written.documents)
    look.seen_swarm(found, settings)
    judged = [(view.plan, first_refusal(view.plan, found.observed)) for view in found.views]
    plans, apps = judged[: len(found.clusters)], judged[len(found.clusters) :]
    if as_json:
        print_json(
            {
                "clusters": [views.plan_json(*one) for one in plans],
                "applications": [views.plan_json(*one) for one in apps],
                "files": views.problems_json(written),
            }
        )
    else:
        out = Output()
        if not written.is_valid:
            out.heading("Files", views.in_force(written))
        for one in plans:
            views.show_plan(out, *one)
        for one in apps:
            views.show_plan(out, *one, kind=views.APPLICATION)
        out.flush()
    if not written.is_valid:
        return INVALID
    return OK if all(one.is_converged for one, _ in judged) else CHANGES
