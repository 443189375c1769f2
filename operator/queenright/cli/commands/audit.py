"""``queenright audit``: verify the trail's hash chain, and show its records."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import click

from queenright.adapters.audit.file import FILE_NAME, trail_files
from queenright.adapters.audit.reader import newest_records
from queenright.adapters.system_clock import SystemClock
from queenright.cli import audit_trail, names
from queenright.cli.console import Output, print_json
from queenright.cli.environment import settings_from_environment
from queenright.cli.exit_codes import FAILURE, OK, USAGE, CommandError
from queenright.cli.options import GivenPath
from queenright.core.audit.chain import Break, Verification, decode
from queenright.core.audit.chain import verify as verify_lines
from queenright.core.audit.lines import records_to_show
from queenright.core.audit.reading import Record
from queenright.core.manifest.quantities import parse_duration

STDIN = Path("-")
MOST_SHOWN = 1_000_000_000
DEFAULT_SHOWN = 20

VERIFY_EPILOG = """\b
Exit codes: 0 sound, 1 broken or nothing to verify, 64 no such file

\b
Examples:
  queenright audit verify
  queenright audit verify /var/lib/queenright/audit.jsonl.1
  docker service logs --raw queenright_operator | queenright audit verify -
"""
SHOW_EPILOG = """\b
Examples:
  queenright audit show
  queenright audit show -n 100 --cluster main --since 24h
  queenright audit show --since 2026-01-31T12:00 --json | jq .reason
"""


@click.group()
def audit() -> None:
    """Verify or show the audit trail: every action, its reason and its outcome."""


@audit.command(epilog=VERIFY_EPILOG)
@click.argument("file", type=GivenPath(path_type=Path, allow_dash=True), required=False)
@click.option("--head", metavar="HASH", help="A record's hash that the trail has to contain.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def verify(file: Path | None, head: str | None, *, as_json: bool) -> int:
    """Check that no record was altered, removed, added or moved.

    FILE is a trail's file, its directory (then all its files, oldest first), or - for a log stream
    on standard input, with any other lines between. Without FILE it is the operator's trail, and
    that of the commands beside it.
    """
    path = trail_path(file)
    try:
        checked = [Checked(path, [path] if path in (STDIN, file) else trail_files(path), head)]
        if file is None and (files := trail_files(commands_path(path))):
            checked.append(Checked(files[-1], files, head))
    except OSError as error:
        raise unreadable(error, path) from error
    problems = [problem for one in checked for problem in one.problems]
    if head and not any(one.reading.has_head for one in checked):
        problems.append(f"no record has the hash {head}: the trail was cut or replaced")
    if as_json:
        trails = [{**asdict(one.found), "file": str(one.path)} for one in checked]
        print_json({**trails[0], "sound": not problems, "problems": problems, "trails": trails})
        return FAILURE if problems else OK
    for problem in problems:
        click.echo(problem)
    for one in checked:
        prefix = "" if one is checked[0] else "commands: "
        for remark in remarks(one.found):
            click.echo(prefix + remark)
    return FAILURE if problems else OK


@audit.command(epilog=SHOW_EPILOG)
@click.argument("file", type=GivenPath(path_type=Path, allow_dash=True), required=False)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, MOST_SHOWN),
    default=DEFAULT_SHOWN,
    show_default=True,
    help="Number of records, counted from the newest.",
)
@click.option("--cluster", help="Only this cluster's.", shell_complete=names.any_name)
@click.option(
    "--since", "since_text", metavar="WHEN", help="From a moment on, or for a time (24h)."
)
@click.option("--json", "as_json", is_flag=True, help="Print the records as they are, a line each.")
def show(
    file: Path | None, limit: int, cluster: str | None, since_text: str | None, *, as_json: bool
) -> int:
    """Show the last records, oldest first; intents only if they have no outcome.

    FILE is a trail's file or directory, or - for a log stream on standard input. Without FILE they
    are the operator's records, and those of the commands.
    """
    earliest = moment_of(since_text) if since_text else None
    path = trail_path(file)
    try:
        found = records_of(path)
        if file is None:
            found = audit_trail.both(found, commands_beside(path))
        records = records_to_show(audit_trail.since(found, earliest))
        wanted = (record for record in records if cluster in (None, record.get("cluster")))
        chosen = list(islice(wanted, limit))[::-1]
    except OSError as error:
        raise unreadable(error, path) from error
    if as_json:
        for record in chosen:
            print_json(record, compact=True)
        return OK
    out = Output()
    if chosen:
        audit_trail.show_records(out, chosen)
    else:
        out.line("No matching record.")
    out.flush()
    return OK


def trail_path(file: Path | None) -> Path:
    """Return the trail's youngest file."""
    if file is None:
        directory = settings_from_environment().state_dir
        if directory is None:
            raise CommandError("QUEENRIGHT_STATE_DIR is empty: give a FILE, or - for a log", USAGE)
        file = directory
    try:
        return file / FILE_NAME if file.is_dir() else file
    except OSError as error:
        raise unreadable(error, file) from error


def records_of(path: Path) -> Iterable[Record]:
    """Return a trail's records, newest first."""
    if path == STDIN:
        lines = sys.stdin.buffer.readlines()
        return (record for line in reversed(lines) if (record := decode(line)) is not None)
    return newest_records(path)


def commands_path(path: Path) -> Path:
    return path.parent / audit_trail.COMMANDS_DIRECTORY / FILE_NAME


def commands_beside(path: Path) -> Iterator[Record]:
    """Yield the records of the commands' own trail, if there is one."""
    commands = commands_path(path)
    return newest_records(commands) if commands.exists() else iter(())


def unreadable(error: OSError, path: Path) -> CommandError:
    name = error.filename or path
    if isinstance(error, PermissionError):
        return CommandError(f"{name}: permission denied; run as the user that runs the operator")
    if isinstance(error, FileNotFoundError):
        return CommandError(
            f"{name}: no audit trail here; the operator keeps one in "
            "QUEENRIGHT_STATE_DIR, and in its log: "
            "docker service logs --raw SERVICE | queenright audit verify -",
            USAGE,
        )
    return CommandError(f"{name}: {error.strerror or error}")


class Reading:
    """The lines of several files as one trail, with the place of each line."""

    def __init__(self, files: list[Path], head: str | None) -> None:
        self._files = files
        self._head = head
        self._first_lines: list[tuple[int, Path]] = []
        self.has_head = False

    def lines(self) -> Iterator[bytes]:
        number = 0
        for file in self._files:
            self._first_lines.append((number, file))
            for line in lines_of(file):
                number += 1
                self.has_head = self.has_head or self._holds_head(line)
                yield line

    def _holds_head(self, line: bytes) -> bool:
        if self._head is None or self._head.encode() not in line:
            return False
        record = decode(line)
        return record is not None and record["hash"] == self._head

    def placed(self, broken: Break) -> str:
        before, file = next(
            place for place in reversed(self._first_lines) if place[0] < broken.line
        )
        name = "<stdin>" if file == STDIN else file
        seq = f"seq {broken.seq}: " if broken.seq is not None else ""
        return f"{name}:{broken.line - before}: {seq}{broken.what}"


class Checked:
    """One trail's files, oldest first, read and verified. Raises OSError."""

    def __init__(self, path: Path, files: list[Path], head: str | None) -> None:
        self.path = path
        self.reading = Reading(files or [path], head)
        self.found = verify_lines(self.reading.lines())

    @property
    def problems(self) -> list[str]:
        problems = [self.reading.placed(broken) for broken in self.found.breaks]
        if not self.found.records:
            problems.append(f"{self.path}: no audit record in it")
        return problems


def lines_of(file: Path) -> Iterable[bytes]:
    if file == STDIN:
        yield from sys.stdin.buffer
        return
    with file.open("rb") as stream:
        yield from stream


def remarks(found: Verification) -> Iterator[str]:
    """Yield the counts, and further remarks."""
    if not found.records:
        return
    counts = ", ".join(f"{number} {phase}" for phase, number in sorted(found.phases.items()))
    word = "sound" if found.is_sound else "BROKEN"
    yield f"{word}: {found.records} records ({counts}), seq {found.first_seq} to {found.last_seq}"
    yield f"head: {found.head}"
    if found.chains > 1:
        yield (
            f"{found.chains} chains: each state directory has one of its own, and so has each "
            "process without one"
        )
    if found.starts_midway:
        yield f"begins at seq {found.first_seq}: the records before it are not here"
    if found.unfinished:
        numbers = ", ".join(str(seq) for seq in found.unfinished[:10])
        yield f"intents without an outcome, as a kill leaves them: {numbers}"
    if found.torn_tail:
        yield "a kill cut the last line short; the next start records that"
    if found.other_lines:
        yield f"{found.other_lines} other lines skipped"


def moment_of(text: str) -> datetime:
    """Return the moment ``24h`` ago, or an ISO date or time (UTC by default)."""
    try:
        return SystemClock().now() - timedelta(seconds=float(parse_duration(text)))
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(
            f"must be a time such as 24h or 2026-01-31T12:00, not {text!r}", param_hint="--since"
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
