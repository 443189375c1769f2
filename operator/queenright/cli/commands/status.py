"""``queenright status``: show the state of the clusters and the applications."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path

import click

from queenright.adapters.system_clock import SystemClock
from queenright.cli import audit_trail, formatting, names, overview, read_only
from queenright.cli.console import Output, print_json
from queenright.cli.exit_codes import OK, USAGE, CommandError
from queenright.cli.options import GivenPath
from queenright.cli.screen import Screen
from queenright.core.audit.lines import actions_only
from queenright.core.audit.reading import Record
from queenright.core.kinds.registry import KINDS
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.manifest.quantities import parse_duration
from queenright.core.manifest.suggestions import did_you_mean
from queenright.core.observed import Known, Observed
from queenright.core.planning.conditions import worst_first
from queenright.core.planning.lease import StoredLease
from queenright.core.planning.plan import Refusal
from queenright.core.planning.status import Status
from queenright.engine.planning import PlannedPass, status_of
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
  queenright status --cluster main
  queenright status --json | jq '.clusters[].members[] | select(.role == "Leader")'
"""


@click.command(epilog=EPILOG)
@click.argument("path", type=GivenPath(path_type=Path), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON (a line each, with --watch).")
@click.option(
    "--watch",
    is_flag=False,
    flag_value=DEFAULT_WATCH,
    metavar="[SECONDS]",
    help=f"Repeat after this time (by default {DEFAULT_WATCH}).",
)
@click.option(
    "--cluster",
    metavar="NAME",
    help="Only the documents of this name.",
    shell_complete=names.any_name,
)
def status(path: Path | None, watch: str | None, cluster: str | None, *, as_json: bool) -> int:
    """Show members, proxies, replicas, holds, problems of the files, and the last actions.

    The worst come first. Of more than ten documents, those that are converged have one line each;
    --cluster shows one whole. The files are those of PATH, or the operator's.
    """
    pause_s = watch_pause_s(watch)
    settings = read_only.settings_for_looking(path)

    def look() -> Seen:
        return narrowed(take_look(settings, path), cluster)

    if pause_s is not None:
        with suppress(KeyboardInterrupt):
            keep_showing(look, pause_s, as_json=as_json)
        return OK
    out, seen = Output(), look()
    if as_json:
        print_json(seen.as_json())
    else:
        show(out, seen)
    out.flush()
    if seen.error:
        raise seen.error
    return OK


def keep_showing(look: Callable[[], Seen], pause_s: float, *, as_json: bool) -> None:
    """Show one look after the other, until interrupted: in place on a terminal, else after each
    other."""
    out = Output()
    screen = Screen(sys.stdout) if out.is_terminal and not as_json else None
    while True:
        seen = look()
        if as_json:
            print_json(seen.as_json(), compact=True)
        else:
            show(screen.page() if screen else out, seen)
        if screen:
            screen.paint()
        out.flush()
        if seen.error:
            seen.error.show()
        time.sleep(pause_s)
        if not as_json and not screen:
            out.blank()


def watch_pause_s(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return max(float(parse_duration(text)), SHORTEST_WATCH_S)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--watch") from error


@dataclass(frozen=True, slots=True)
class Seen:
    """One look: how everything stands, by its kind's name and with what a guard says of its plan,
    the files, and the trail. Without a swarm that can be read there is ``error`` in its place."""

    found: Mapping[str, Sequence[tuple[Status, Refusal | None]]]
    written: read_only.Written
    actions: tuple[Record, ...]
    error: CommandError | None = None
    lease: StoredLease | None = None

    def as_json(self) -> dict[str, object]:
        lists = {
            kind.plural: [formatting.status_json(*one) for one in self.found.get(kind.name, ())]
            for kind in KINDS.values()
        }
        return {
            **lists,
            "operator": formatting.lease_json(self.lease),
            "files": formatting.problems_json(self.written),
            "last_actions": [dict(record) for record in self.actions],
            "error": self.error.message if self.error else None,
        }


def narrowed(seen: Seen, name: str | None) -> Seen:
    """Return only the documents and the actions of a name. CommandError if nothing has it."""
    if name is None or seen.error:
        return seen
    found = overview.only(seen.found, name)
    if not any(found.values()):
        names = sorted({one.name for shown in seen.found.values() for one, _ in shown})
        meant = did_you_mean(name, names) or "; `queenright status` shows all"
        raise CommandError(f"{name}: no cluster or application has this name{meant}", USAGE)
    actions = tuple(record for record in seen.actions if record.get("cluster") == name)
    return replace(seen, found=found, actions=actions)


def take_look(settings: Settings, path: Path | None) -> Seen:
    written = read_only.read_desired(settings, path)
    actions = last_actions(settings)
    is_blind = not written.is_valid and not written.documents
    try:
        if is_blind:
            # The documents that left the files are unknown, but the objects in the swarm are known.
            seen = seen_live(read_only.take_live_look(settings), written, actions)
            return replace(seen, lease=read_only.lease_in_swarm(settings))
        found = read_only.take_look(settings, written.documents)
        read_only.seen_swarm(found.observed, settings)
    except CommandError as error:
        return Seen({}, written, actions, error)
    lease = read_only.lease_in_swarm(settings)
    return Seen(statuses(found, SystemClock().now()), written, actions, lease=lease)


def statuses(found: PlannedPass, now: datetime) -> dict[str, list[tuple[Status, Refusal | None]]]:
    """Return the status of everything that was observed, with a guard's refusal of its plan."""
    observed = found.observed
    return {
        kind.name: [
            (status_of(view, observed, now), first_refusal(view.plan, observed))
            for view in found.of(kind)
        ]
        for kind in KINDS.values()
    }


def seen_live(observed: Observed, written: read_only.Written, actions: tuple[Record, ...]) -> Seen:
    """Return the deployed state, if no valid file describes the desired one."""
    if not isinstance(observed.swarm, Known):
        return Seen({}, written, actions)
    swarm = observed.swarm.value
    found = {
        kind.name: [
            (kind.live_status(name, swarm, observed), None) for name in sorted(kind.owned(swarm))
        ]
        for kind in KINDS.values()
    }
    return Seen(found, written, actions)


def last_actions(settings: Settings) -> tuple[Record, ...]:
    """Return the last actions of operator and commands; nothing if no trail can be read."""
    records = audit_trail.known_records(settings.state_dir)
    return tuple(islice(actions_only(records), LAST_ACTIONS))


def show(out: Output, seen: Seen) -> None:
    if not seen.written.is_valid:
        formatting.show_problems(out, seen.written)
        out.blank()
    if number := overview.counts(seen.found):
        out.heading("All", number)
        out.blank()
    for kind in KINDS.values():
        lines = 0
        for shown in worst_first(seen.found.get(kind.name, ())):
            if overview.is_one_line(seen.found, shown):
                out.line(f"{kind.noun.capitalize()} {shown[0].name}  {shown[0].summary}")
                lines += 1
                continue
            formatting.show_status(out, kind.noun, *shown)
            out.blank()
        if lines:
            out.blank()
    if not any(seen.found.values()) and not seen.error and seen.written.is_valid:
        out.line("There is no cluster: no file describes one, and none is in the swarm.")
        out.blank()
    if seen.written.is_valid and seen.written.problems:
        formatting.show_problems(out, seen.written)
        out.blank()
    if seen.lease is not None:
        out.heading("Operator", formatting.lease_line(seen.lease))
        out.blank()
    if seen.actions:
        out.heading("Last actions")
        audit_trail.show_records(out, seen.actions)
