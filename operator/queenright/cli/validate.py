"""``queenright validate``: every problem of every file, a line each."""

from __future__ import annotations

from pathlib import Path

import click

from queenright.cli import look
from queenright.cli.exits import INVALID, OK
from queenright.cli.options import GivenPath
from queenright.core.spec.placement import placement_problems

EPILOG = """\b
Exit codes: 0 valid (warnings allowed), 64 no such path, 65 not valid,
            69 swarm not reachable (with --swarm)

\b
Examples:
  queenright validate                    what QUEENRIGHT_MANIFESTS names
  queenright validate cluster.yaml more/
  queenright validate - < cluster.yaml
  queenright validate --swarm            also whether the nodes fit
"""


@click.command(epilog=EPILOG)
@click.argument("paths", nargs=-1, type=GivenPath(path_type=Path, allow_dash=True))
@click.option("--swarm", is_flag=True, help="Also check placement against the live swarm.")
def validate(paths: tuple[Path, ...], *, swarm: bool) -> int:
    """Check the files in PATHS and print every problem as file:line: field: message."""
    settings = look.settings_for_looking()
    written = look.read_files(paths or [settings.manifests])
    problems = set(written.problems)
    if swarm:
        nodes = look.seen_swarm(look.take_look(settings, ()), settings).nodes
        for document in written.documents:
            problems |= set(placement_problems(document, nodes))
    for problem in sorted(problems):
        click.echo(str(problem))
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    names = [
        f"{kind} {name}"
        for kind, found in look.documents_summary(written.documents).items()
        for name in found
    ]
    what = ", ".join(names) or "no valid document"
    click.echo(f"{what}: {counted(errors, 'error')}, {counted(warnings, 'warning')}", err=True)
    return INVALID if errors else OK


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
