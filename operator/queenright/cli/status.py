"""``queenright status``: how the clusters and the applications stand."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import click

from queenright.adapters.system_clock import SystemClock
from queenright.cli import look, trail, views
from queenright.cli.exits import OK, CommandError
from queenright.cli.options import GivenPath
from queenright.cli.output import Output, print_json
from queenright.core.app.status import AppStatus, app_status
from queenright.core.guards import first_refusal
from queenright.core.plan import Refusal
from queenright.core.spec.quantities import parse_duration
from queenright.core.status import ClusterStatus, cluster_status
from queenright.settings import Settings

DEFAULT_WATCH = "2s"
SHORTEST_WATCH_S = 0.2
LAST_ACTIONS = 5

EPILOG = """\b
Exit codes: 0 shown, 64 no such path, 69 swarm not reachable

\b
Examples:
  queenright status
  queenright status --watch              again every 2 s, until Ctrl-C
  queenright status --watch 10s
  queenright status --json | jq '.clusters[].members[] | select(.role == "Leader")'
"""


@click.command(epilog=EPILOG)
@click.argument("path", type=GivenPath(path_type=Path), required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON (a line each, with --watch).")
@click.option(
    "--watch",
    is_flag=False,
    flag_value=DEFAULT_WATCH,
    metavar="[SECONDS]",
    help=f"Again every so often; {DEFAULT_WATCH} unless told.",
)
def status(path: Path | None, watch: str | None, *, as_json: bool) -> int:
    """Show members, proxies and replicas, what is held or wrong with the files, the last actions.

    The files are those of PATH, or those that the operator reads.
    """
    pause_s = watch_pause_s(watch)
    settings = look.settings_for_looking(path)
    out = Output()
    try:
        while True:
            seen = take_look(settings, path)
            if as_json:
                print_json(seen.as_json(), compact=pause_s is not None)
            else:
                show(out, seen)
            out.flush()
            if pause_s is None:
                if seen.error:
                    raise seen.error
                return OK
            if seen.error:
                seen.error.show()
            time.sleep(pause_s)
            if not as_json:
                out.clear()
    except KeyboardInterrupt:
        return OK


def watch_pause_s(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return max(float(parse_duration(text)), SHORTEST_WATCH_S)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--watch") from error


@dataclass(frozen=True, slots=True)
class Seen:
    """One look: the clusters with what a guard says of their plans, the files, and the trail.
    Without a swarm that can be read there is ``error`` in the clusters' place."""

    clusters: tuple[tuple[ClusterStatus, Refusal | None], ...]
    written: look.Written
    actions: tuple[trail.Record, ...]
    error: CommandError | None = None
    apps: tuple[tuple[AppStatus, Refusal | None], ...] = ()

    def as_json(self) -> dict[str, object]:
        return {
            "clusters": [views.cluster_json(*one) for one in self.clusters],
            "applications": [views.app_json(*one) for one in self.apps],
            "files": views.problems_json(self.written),
            "last_actions": [dict(record) for record in self.actions],
            "error": self.error.message if self.error else None,
        }


def take_look(settings: Settings, path: Path | None) -> Seen:
    written = look.read_desired(settings, path)
    actions = last_actions(settings)
    try:
        found = look.take_look(settings, written.documents)
        look.seen_swarm(found, settings)
    except CommandError as error:
        return Seen((), written, actions, error)
    if not written.is_valid and not written.documents:
        return Seen(
            (), written, actions
        )  # Whether a cluster was taken out of the files is unknown.
    now = SystemClock().now()
    clusters = tuple(
        (
            cluster_status(view.name, view.desired, view.plan, found.observed, now),
            first_refusal(view.plan, found.observed),
        )
        for view in found.clusters
    )
    apps = tuple(
        (
            app_status(view.name, view.desired, view.plan, found.observed),
            first_refusal(view.plan, found.observed),
        )
        for view in found.apps
    )
    return Seen(clusters, written, actions, apps=apps)


def last_actions(settings: Settings) -> tuple[trail.Record, ...]:
    """The last deeds, the operator's and the commands'; nothing where there are none to read."""
    records = trail.known_records(settings.state_dir)
    return tuple(islice(trail.deeds(records), LAST_ACTIONS))


def show(out: Output, seen: Seen) -> None:
    for cluster, refusal in seen.clusters:
        views.show_cluster(out, cluster, refusal)
        out.blank()
    for app, stopped in seen.apps:
        views.show_app(out, app, stopped)
        out.blank()
    if not seen.clusters and not seen.apps and not seen.error and seen.written.is_valid:
        out.line("There is no cluster: no file describes one, and none is in the swarm.")
        out.blank()
    if seen.written.problems:
        views.show_problems(out, seen.written)
        out.blank()
    if seen.actions:
        out.heading("Last actions")
        trail.show_records(out, seen.actions)
