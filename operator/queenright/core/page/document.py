"""One document: its parts on their nodes, its steps, its holds, its lag, and its trail.

Pure. Invariant: a colour only repeats what a word says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from queenright.core.actions import AnyAction
from queenright.core.audit.record import shown_changes
from queenright.core.page.chart import lag_chart
from queenright.core.page.frame import framed, left_out, section, shortened
from queenright.core.page.html import Html, table, tag, within
from queenright.core.page.lists import badge, link
from queenright.core.page.routes import Trail
from queenright.core.page.trail import record_table
from queenright.core.page.values import Basis, Detail, LeaderMove
from queenright.core.planning.picture import Part, Place
from queenright.core.planning.plan import Hold

MOST_PLACES_BYTES = 11_000
MOST_STEPS_BYTES = 5_000
MOST_HOLDS_BYTES = 6_000
MOST_NOTES_BYTES = 4_000
MOST_LINES_BYTES = 3_500
MOST_LAGS_BYTES = 5_000
MOST_MOVES_BYTES = 3_000
MOST_RECORDS_BYTES = 5_000
LONGEST_PART = 200
MOST_CHANGES = 5
"""The changes shown of one step; `queenright plan` shows all."""


def document_page(detail: Detail, basis: Basis) -> bytes:
    """Return the page of one document."""
    entry = detail.entry
    name = shortened(entry.name, LONGEST_PART)
    title = f"{shortened(entry.noun.capitalize(), LONGEST_PART)} {name}"
    refused = (
        (tag("p", f"A guard refused the plan: {shortened(entry.refusal)}", class_="banner"),)
        if entry.refusal
        else ()
    )
    return framed(
        title,
        "",
        basis,
        tag("p", badge(entry.condition), f" Plan: {shortened(entry.summary, LONGEST_PART)}"),
        *refused,
        *related(detail),
        *picture(detail.places),
        *steps(detail),
        *holds("Held", entry.holds, name, MOST_HOLDS_BYTES),
        *lines(detail),
        *lags(detail),
        *leader_moves(detail),
        *holds("Notes", detail.notes, name, MOST_NOTES_BYTES),
        section(
            "Trail",
            *record_table(detail.records, MOST_RECORDS_BYTES),
            tag("p", tag("a", "Its trail alone", href=Trail(name).target)),
        ),
    )


def related(detail: Detail) -> Iterator[Html]:
    """The cluster that an application rests on, and the applications on a cluster."""
    if detail.rests_on is not None:
        yield tag(
            "p",
            f"It rests on {shortened(detail.rests_on.noun, LONGEST_PART)} ",
            link(detail.rests_on),
            ".",
        )
    if detail.carries:
        rows = (
            tag("li", link(one), f" ({shortened(one.noun, LONGEST_PART)}) ", badge(one.condition))
            for one in detail.carries
        )
        shown, left = within(rows, MOST_LINES_BYTES)
        yield section("What rests on it", tag("ul", *shown), *left_out(left, "see All"))


def picture(places: Sequence[Place]) -> Iterator[Html]:
    """The nodes, each with its parts."""
    if places:
        shown, left = within(map(node_box, places), MOST_PLACES_BYTES)
        where = "queenright status has them"
        yield section("Nodes", tag("ul", *shown, class_="nodes"), *left_out(left, where))


def node_box(place: Place) -> Html:
    state = "" if place.is_ready else "broken" if place.node else "unknown"
    return tag(
        "li",
        tag("h3", shortened(place.node, LONGEST_PART) or "No node yet"),
        tag(
            "p",
            shortened(" ".join(filter(None, (place.address, place.state))), LONGEST_PART),
            class_=" ".join(filter(None, ("where", state))),
        ),
        tag("ul", *map(part_box, place.parts)),
        class_="node",
    )


def part_box(part: Part) -> Html:
    lag = f"lag {part.lag_mb} MB" if part.lag_mb is not None else ""
    words = ", ".join(filter(None, (*part.words, lag)))
    return tag(
        "li",
        tag("b", shortened(part.name, LONGEST_PART)),
        f" {shortened(part.sort, LONGEST_PART)}",
        tag("span", shortened(words, LONGEST_PART)),
        class_=f"part {part.tone}",
    )


def steps(detail: Detail) -> Iterator[Html]:
    """The steps that were begun, and those that the last pass planned."""
    rows = [
        tag(
            "li",
            tag("code", shortened(one.key, LONGEST_PART)),
            f" begun at {shortened(one.since, LONGEST_PART)}: {shortened(one.reason)}",
        )
        for one in detail.running
    ]
    begun = {one.key for one in detail.running}
    rows += [step_to_do(action) for action in detail.plan.actions if action.key not in begun]
    if rows:
        shown, left = within(rows, MOST_STEPS_BYTES)
        yield section("Steps", tag("ol", *shown), *left_out(left, "queenright plan shows them"))


def step_to_do(action: AnyAction) -> Html:
    """Return a planned step with its reason, what it restarts, and the first of its changes."""
    stops = f"; it restarts {action.disrupts}" if action.disrupts else ""
    text = f" to do: {shortened(action.reason)}{shortened(stops, LONGEST_PART)}"
    changes = shown_changes(action.changes[:MOST_CHANGES])
    rows = [
        tag("li", shortened(f"{one['path']}: {one['old']} → {one['new']}", LONGEST_PART))
        for one in changes
    ]
    if more := len(action.changes) - len(changes):
        rows.append(tag("li", f"and {more} more"))
    return tag(
        "li",
        tag("code", shortened(action.key, LONGEST_PART)),
        text,
        *((tag("ul", *rows),) if rows else ()),
    )


def holds(title: str, found: Sequence[Hold], name: str, most_bytes: int) -> Iterator[Html]:
    """The steps that wait, each with its reason and with what to do."""
    if not found:
        return
    rows = (
        tag(
            "li",
            *((badge("needs you"), " ") if hold.wants_attention else ()),
            tag("code", shortened(hold.key, LONGEST_PART)),
            f" {shortened(hold.reason)}",
        )
        for hold in sorted(found, key=lambda one: not one.wants_attention)
    )
    shown, left = within(rows, most_bytes)
    where = f"queenright status --cluster {name}"
    yield section(title, tag("ul", *shown), *left_out(left, where))


def lines(detail: Detail) -> Iterator[Html]:
    """The status lines: leader, promotion, virtual address and the like; and the remarks."""
    rows = [
        tag(
            "div",
            tag("dt", shortened(line.about, LONGEST_PART)),
            tag("dd", shortened(line.text), class_="broken" if line.wants_attention else ""),
        )
        for line in detail.lines
    ]
    rows += [
        tag("div", tag("dt", "Remark"), tag("dd", shortened(word))) for word in detail.entry.remarks
    ]
    if rows:
        shown, left = within(rows, MOST_LINES_BYTES)
        yield section("State", tag("dl", *shown), *left_out(left, "queenright status has them"))


def lags(detail: Detail) -> Iterator[Html]:
    """The lag of each member over the last hour."""
    found = [
        (part.name, detail.lags[part.service])
        for place in detail.places
        for part in place.parts
        if detail.lags and part.service in detail.lags
    ]
    charts = [
        lag_chart(shortened(name, LONGEST_PART), lag)
        for name, lag in found
        if any(one is not None for one in lag)
    ]
    if charts:
        shown, left = within(charts, MOST_LAGS_BYTES)
        yield section("Lag in the last hour", *shown, *left_out(left, "too many to draw"))


def leader_moves(detail: Detail) -> Iterator[Html]:
    """The changes of leader that the trail has, each with the time for which nobody could write."""
    if detail.leaders:
        shown, left = within(map(leader_row, detail.leaders), MOST_MOVES_BYTES)
        columns = ("At", "Leader", "Timeline", "No write for", "Rows lost", "Why")
        body = table(columns, shown, "Leader changes, newest first")
        where = "queenright explain leader"
        yield section("Leader changes", body, *left_out(left, where))


def leader_row(move: LeaderMove) -> Html:
    unknown = "unknown" if move.is_measured else "not measured"
    gap = f"{move.gap_ms} ms" if move.gap_ms is not None else unknown
    lost = str(move.lost_rows) if move.lost_rows is not None else unknown
    names = (shortened(name, LONGEST_PART) for name in (move.before, move.leader))
    return tag(
        "tr",
        tag("td", tag("time", shortened(move.at, LONGEST_PART))),
        tag("td", " → ".join(names)),
        tag("td", str(move.timeline)),
        tag("td", gap),
        tag("td", lost),
        tag("td", shortened(move.cause)),
    )
