"""``queenright plan``: show the operator's next steps without doing them."""

from __future__ import annotations

from pathlib import Path

import click

from queenright.adapters.system_clock import SystemClock
from queenright.cli import forecast, formatting, read_only
from queenright.cli.console import Output, print_json
from queenright.cli.exit_codes import CHANGES, INVALID, OK
from queenright.cli.options import GivenPath
from queenright.cli.read_only import Written
from queenright.core.kinds.registry import KINDS
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.planning.plan import Plan, Refusal
from queenright.engine.planning import PlannedPass
from queenright.settings import Settings

EPILOG = """\b
A plan holds the next safe steps, not all of them: when they are done, the
operator observes again and makes the next plan. --forecast shows all of them:
the planner runs on a model in which every step succeeds. Durations and write
gaps are medians of the cluster's own audit trail (QUEENRIGHT_STATE_DIR).

\b
Exit codes: 0 nothing to do and nothing held, 2 there are actions or holds,
            64 no such path, 65 files not valid, 69 swarm not reachable

\b
Examples:
  queenright plan
  queenright plan cluster.yaml           before you put the file in place
  queenright plan --forecast             every step, to the end
  queenright plan --json | jq '.clusters[].actions[].key'
"""


@click.command(epilog=EPILOG)
@click.argument("path", type=GivenPath(path_type=Path, allow_dash=True), required=False)
@click.option(
    "--forecast", "is_forecast", is_flag=True, help="Show all steps to the end, not the next ones."
)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def plan(path: Path | None, *, is_forecast: bool, as_json: bool) -> int:
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
    if is_forecast:
        show_forecast(found, written, settings, as_json=as_json)
    else:
        show_plans(found, written, as_json=as_json)
    if not written.is_valid:
        return INVALID
    return OK if all(view.plan.is_converged for view in found.views) else CHANGES


def show_plans(found: PlannedPass, written: Written, *, as_json: bool) -> None:
    """Show the next steps of everything."""
    judged: dict[str, list[tuple[Plan, Refusal | None]]] = {name: [] for name in KINDS}
    for view in found.views:
        judged[view.key.kind].append((view.plan, first_refusal(view.plan, found.observed)))
    if as_json:
        plans = {
            kind.plural: [formatting.plan_json(*one) for one in judged[kind.name]]
            for kind in KINDS.values()
        }
        print_json({**plans, "files": formatting.problems_json(written)})
        return
    out = Output()
    show_files(out, written)
    for kind in KINDS.values():
        for one in judged[kind.name]:
            formatting.show_plan(out, kind.noun, *one)
    out.flush()


def show_forecast(
    found: PlannedPass, written: Written, settings: Settings, *, as_json: bool
) -> None:
    """Show the whole way of everything."""
    ways = forecast.ways_of(found, written.documents, SystemClock().now())
    history = forecast.history_of(settings.state_dir)
    of_kind = {name: [way for way in ways if way.key.kind == name] for name in KINDS}
    if as_json:
        shown = {
            kind.plural: [forecast.way_json(way, history) for way in of_kind[kind.name]]
            for kind in KINDS.values()
        }
        print_json({**shown, "files": formatting.problems_json(written)})
        return
    out = Output()
    show_files(out, written)
    for kind in KINDS.values():
        for way in of_kind[kind.name]:
            forecast.show_way(out, kind.noun, way, history)
    out.flush()


def show_files(out: Output, written: Written) -> None:
    if not written.is_valid:
        out.heading("Files", formatting.in_force(written))
