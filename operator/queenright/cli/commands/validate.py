"""``queenright validate``: print every problem of every file on a line of its own."""

from __future__ import annotations

from pathlib import Path

import click

from queenright.cli import read_only
from queenright.cli.exit_codes import INVALID, OK
from queenright.cli.options import GivenPath
from queenright.core.kinds.placement import placement_problems

EPILOG = """\b
Exit codes: 0 valid (warnings allowed), 64 no such path, 65 not valid,
            69 swarm not reachable (with --swarm)

\b
Examples:
  queenright validate                    the files of QUEENRIGHT_MANIFESTS
  queenright validate cluster.yaml more/
  queenright validate - < cluster.yaml
  queenright validate --swarm            also check placement on the nodes
"""


@click.command(epilog=EPILOG)
@click.argument("paths", nargs=-1, type=GivenPath(path_type=Path, allow_dash=True))
@click.option("--swarm", is_flag=True, help="Also check placement against the live swarm.")
def validate(paths: tuple[Path, ...], *, swarm: bool) -> int:
    """Check the files in PATHS and print every problem as file:line: field: message."""
    settings = read_only.settings_for_looking()
    written = read_only.read_files(paths or [settings.manifests])
    problems = set(written.problems)
    if swarm:
        nodes = read_only.seen_swarm(read_only.take_look(settings, ()).observed, settings).nodes
        for document in written.documents:
            problems |= set(placement_problems(document, nodes))
    for problem in sorted(problems):
        click.echo(str(problem))
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    names = [
        f"{kind} {name}"
        for kind, found in read_only.documents_summary(written.documents).items()
        for name in found
    ]
    what = ", ".join(names) or "no valid document"
    click.echo(f"{what}: {counted(errors, 'error')}, {counted(warnings, 'warning')}", err=True)
    return INVALID if errors else OK


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
