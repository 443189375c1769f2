"""``queenright explain``: why something was done, held or refused, from the audit trail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import click

from queenright.cli import audit_trail, names
from queenright.cli.commands.audit import (
    commands_beside,
    records_of,
    trail_path,
    unreadable,
)
from queenright.cli.console import Output, print_json
from queenright.cli.exit_codes import FAILURE, OK, CommandError
from queenright.cli.options import GivenPath, json_option
from queenright.core.audit.explanation import Explanation, Trail, explained, title_of
from queenright.core.audit.lines import records_to_show
from queenright.core.audit.questions import Found, Held, LeaderChange, answers, offers
from queenright.core.audit.reading import Record, Step, read_step
from queenright.core.kinds.postgres_cluster.status.leader_records import leader_changes
from queenright.core.manifest.suggestions import did_you_mean

MOST_RECORDS = 50_000
"""The number of records that are read, counted from the newest: memory stays bounded."""
MOST_OTHERS = 10
INDENT = 2

EPILOG = """\b
WHAT is
  an action            update-service/main_member-2, or update-service
  a service            main_member-2, or member-2
  a hold or a guard    by its key, as `queenright status` shows it
  a field              spec.stopGracePeriod, or stopGracePeriod
  a change of leader   leader (the last one), or leader/6 (timeline 6)
  a record             57, its seq in `queenright audit show --json`
  a cluster or an application, by its name: its last record
Without WHAT, the command lists what can be asked.

\b
Exit codes: 0 explained, 1 nothing in the trail is about it, 64 no such file

\b
Examples:
  queenright explain member-2
  queenright explain leader --cluster main
  queenright explain spec.stopGracePeriod --json
  docker service logs --raw queenright_operator | queenright explain 57 --trail -
"""


@click.command(epilog=EPILOG)
@click.argument("what", required=False)
@click.option(
    "--cluster",
    help="Only this cluster's or application's records.",
    shell_complete=names.any_name,
)
@click.option(
    "--trail",
    "file",
    type=GivenPath(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="A trail's file or directory, or - for a log stream.",
)
@json_option
def explain(what: str | None, cluster: str | None, file: Path | None, *, as_json: bool) -> int:
    """Show why: the edit or the command, what was observed, the rule, the guards, what it
    disrupted, what came of it, and how long clients waited.

    Reads the operator's trail and that of the commands, and nothing else. Of several matches it
    explains the newest, and lists the others.
    """
    steps, is_whole = steps_of(read_trail(file), cluster)
    changes = [one for one in leader_changes(steps) if cluster in (None, one.cluster)]
    if what is None or not what.strip():
        return show_offers(offers(steps, changes), as_json=as_json)
    found = answers(what, steps, changes)
    if not found:
        raise CommandError(nothing_about(what, offers(steps, changes), is_whole=is_whole), FAILURE)
    explanation = explained(found[0], Trail(steps, changes))
    if as_json:
        print_json(explanation_json(explanation, found[1:]))
    else:
        show(Output(), explanation, found[1:])
    return OK


def read_trail(file: Path | None) -> Iterable[Record]:
    """Yield the records of the operator and of the commands, newest first."""
    path = trail_path(file)
    try:
        found = records_of(path)
        yield from found if file else audit_trail.both(found, commands_beside(path))
    except OSError as error:
        raise unreadable(error, path) from error


def steps_of(records: Iterable[Record], cluster: str | None) -> tuple[list[Step], bool]:
    """Return the newest records, without intents that have an outcome; and True if these are all.
    The operator's own records stay, because they have the guards."""
    records = iter(records)
    read = [
        read_step(record)
        for record in records_to_show(islice(records, MOST_RECORDS))
        if cluster in (None, record.get("cluster")) or "cluster" not in record
    ]
    return read, next(records, None) is None


def nothing_about(what: str, known: dict[str, list[str]], *, is_whole: bool) -> str:
    names = [name for names in known.values() for name in names]
    names += {name.partition("/")[0] for name in known.get("actions", ())}
    meant = did_you_mean(what, names)
    where = "the trail" if is_whole else f"the last {MOST_RECORDS} records of the trail"
    said = f"{what}: nothing in {where} is about it{meant}"
    return f"{said}; `queenright explain` lists what can be asked"


def show_offers(known: dict[str, list[str]], *, as_json: bool) -> int:
    if as_json:
        print_json({"can_be_asked": known})
        return OK
    out = Output()
    if not known:
        out.line("The trail has no action, hold or refusal yet.")
    for sort, found in known.items():
        out.line(sort.capitalize(), style="bold")
        for name in found:
            out.line(name, indent=INDENT)
    out.flush()
    return OK


def show(out: Output, explanation: Explanation, others: Sequence[Found]) -> None:
    out.heading(explanation.title)
    width = max(len(why.about) for why in explanation.reasons)
    former = ""
    for why in explanation.reasons:
        about = why.about if why.about != former else ""
        style = "bold yellow" if why.about == "Warning" else ""
        out.line(f"{about.ljust(width)}  {why.text}", indent=INDENT, style=style)
        former = why.about
    if others:
        out.blank()
        out.line(f"{len(others)} more, newest first")
        for one in others[:MOST_OTHERS]:
            out.line(f"- {title_of(one)}", indent=INDENT)
        if len(others) > MOST_OTHERS:
            out.line(f"- and {len(others) - MOST_OTHERS} older", indent=INDENT)
    out.flush()


def explanation_json(explanation: Explanation, others: Sequence[Found]) -> dict[str, object]:
    return {
        "title": explanation.title,
        "sort": explanation.sort,
        "cluster": explanation.cluster,
        "at": explanation.at,
        "record": explanation.record,
        "reasons": [{"about": why.about.lower(), "text": why.text} for why in explanation.reasons],
        "others": [
            {"title": title_of(one), "record": record_of(one)} for one in others[:MOST_OTHERS]
        ],
        "more_others": max(0, len(others) - MOST_OTHERS),
    }


def record_of(found: Found) -> int | None:
    match found:
        case Held(step, _):
            return step.seq
        case LeaderChange():
            return found.noted.seq
        case _:
            return found.seq
