"""``queenright plan``: show the operator's next steps without doing them."""

from __future__ import annotations

from pathlib import Path

import click

from queenright.cli import formatting, read_only
from queenright.cli.console import Output, print_json
from queenright.cli.exit_codes import CHANGES, INVALID, OK
from queenright.cli.options import GivenPath
from queenright.core.kinds.registry import KINDS
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.planning.plan import Plan, Refusal

EPILOG = """\b
A plan holds the next safe steps, not all of them: when they are done, the
operator observes again and makes the next plan.

\b
Exit codes: 0 nothing to do and nothing held, 2 there are actions or holds,
            64 no such path, 65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright plan
  queenright plan cluster.yaml           before you put the file in place
  queenright plan --json | jq '.clusters[].actions[].key'
"""


@click.command(epilog=EPILOG)
@click.argument("path", type=GivenPath(path_type=Path, allow_dash=True), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def plan(path: Path | None, *, as_json: bool) -> int:
    """Show what the operator would do now, what is held, and why.

    The plan has the changes field by field, and the service that each step disrupts. The command
    changes nothing. While the files are not valid, the plan is that of the last good state.
    """
    settings = read_only.settings_for_looking(path)
    written = read_only.read_desired(settings, path)
    for problem in written.problems:
        click.echo(str(problem), err=True)
    if not written.is_valid and not written.documents:
        return INVALID
    found = read_only.take_look(settings, written.documents)
    read_only.seen_swarm(found.observed, settings)
    judged: dict[str, list[tuple[Plan, Refusal | None]]] = {name: [] for name in KINDS}
    for view in found.views:
        judged[view.key.kind].append((view.plan, first_refusal(view.plan, found.observed)))
    if as_json:
        plans = {
            kind.plural: [formatting.plan_json(*one) for one in judged[kind.name]]
            for kind in KINDS.values()
        }
        print_json({**plans, "files": formatting.problems_json(written)})
    else:
        out = Output()
        if not written.is_valid:
            out.heading("Files", formatting.in_force(written))
        for kind in KINDS.values():
            for one in judged[kind.name]:
                formatting.show_plan(out, kind.noun, *one)
        out.flush()
    if not written.is_valid:
        return INVALID
    return OK if all(view.plan.is_converged for view in found.views) else CHANGES
