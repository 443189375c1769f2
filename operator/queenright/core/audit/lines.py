"""Records of the trail as lines for people: the ones to show, and their cells.

Pure: decides from the records alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from queenright.core.audit.reading import Record, change_of, part, parts, text, texts, whole

COLUMNS = ("At", "Cluster", "Action", "Outcome", "Why")


def records_to_show(records: Iterable[Record]) -> Iterator[Record]:
    """Yield records without intents that have an outcome, newest first; an intent without one is
    left by a kill between the two."""
    finished: set[tuple[str, int | None]] = set()
    for record in records:
        chain = text(record, "chain")
        if record.get("phase") == "outcome":
            finished.add((chain, whole(record, "intent_seq")))
        if record.get("phase") != "intent" or (chain, whole(record, "seq")) not in finished:
            yield record


def actions_only(records: Iterable[Record]) -> Iterator[Record]:
    """Yield the records to show about a cluster, without those about the operator or its file."""
    return (
        record
        for record in records_to_show(records)
        if record.get("cluster") and record.get("phase") != "held"
    )


def cells(record: Record) -> tuple[str, ...]:
    action = record.get("action")
    key = str(action.get("key", "")) if isinstance(action, Mapping) else ""
    phase = str(record.get("phase", ""))
    outcome = str(record.get("outcome") or ("no outcome" if phase == "intent" else phase))
    return (
        str(record.get("at", "")),
        str(record.get("cluster", "")),
        key or {"refused": "(whole plan)", "held": "(holds)"}.get(phase, "(operator)"),
        outcome,
        why(record),
    )


def measured(record: Record) -> str:
    """Return the canary's measurement of a change of leader as text."""
    gap, lost = record.get("write_gap_ms"), record.get("lost_rows")
    said = f"no write for {gap} ms" if gap is not None else "write gap unknown"
    rows = f"{lost} acknowledged rows lost" if lost is not None else "lost rows unknown"
    return (
        f"{record.get('leader_before')} -> {record.get('leader')} on timeline "
        f"{record.get('timeline')}, {record.get('cause')}: {said}, {rows}"
    )


def why(record: Record) -> str:
    """Return the reason, the error, and the line of the file that caused the action."""
    error, reason = record.get("error"), record.get("reason")
    said = [str(part) for part in (error, reason) if part]
    trigger = record.get("trigger")
    if isinstance(trigger, Mapping) and trigger.get("file"):
        said.append(f"{trigger['file']}:{trigger.get('line', 1)}")
    if isinstance(trigger, Mapping) and trigger.get("kind") == "command":
        said.append(str(trigger.get("detail", "")))
    if record.get("phase") == "held":
        held = parts(record, "holds")
        said += [f"{text(one, 'key')}: {text(one, 'reason')}" for one in held]
        said += [f"over: {key}" for key in texts(record, "ended")]
    if record.get("phase") == "measured":
        said.append(measured(record))
    if record.get("phase") == "lease":
        doing = "acts" if record.get("acting") else "does not act any more"
        said.append(f"the operator on {record.get('host')} {doing}: {record.get('why')}")
    if not said and record.get("phase") == "start":
        said.append(f"queenright {record.get('version', '')}, process {record.get('pid', '')}")
    return "; ".join(said)


def causes(record: Record) -> str:
    """Return the edit or what else began the pass, the rule that made the action, and the guard
    that refused a plan, as far as the record has them."""
    trigger = part(record, "trigger")
    edits, said = parts(trigger, "edits"), []
    if edits:
        more = len(edits) - 1 + (whole(trigger, "more_edits") or 0)
        said.append(f"edit {change_of(edits[0])}{f' and {more} more' if more else ''}")
    elif kind := text(trigger, "kind"):
        said.append(f"pass begun by {kind}")
    said += [f"{word} {found}" for word in ("rule", "guard") if (found := text(record, word))]
    return "; ".join(said)
