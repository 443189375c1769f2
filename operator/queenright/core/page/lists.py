"""The lists of all documents and of all holds, the worst first.

Pure. Invariant: a thousand documents are shown a hundred a page, with links that need no script.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from queenright.core.page.frame import framed, left_out, shortened
from queenright.core.page.html import Html, joined, table, tag, within
from queenright.core.page.routes import Listing, OneDocument
from queenright.core.page.values import Basis, Entry
from queenright.core.planning.conditions import CONDITIONS, counted
from queenright.core.planning.plan import Hold

EACH_PAGE = 100
LONGEST_NAME = 64
LONGEST_LINE = 160
LONGEST_TARGET = 300
MOST_ROWS_BYTES = 38_000

T = TypeVar("T")


def documents_page(entries: Sequence[Entry], route: Listing, basis: Basis) -> bytes:
    """Return the page of all documents."""
    chosen = sorted(searched(entries, route), key=lambda one: CONDITIONS.index(one.condition))
    rows = (document_row(one) for one in slice_of(chosen, route))
    shown, left = within(rows, MOST_ROWS_BYTES)
    columns = ("Name", "Kind", "Condition", "What to know")
    caption = f"{len(chosen)} of {len(entries)}, the worst first"
    body = table(columns, shown, caption) if shown else nothing(entries)
    return framed(
        "All clusters and applications",
        "/",
        basis,
        counts(entries, route),
        search(route),
        body,
        *left_out(left, "search for a name"),
        *pages(len(chosen), route),
    )


def holds_page(entries: Sequence[Entry], route: Listing, basis: Basis) -> bytes:
    """Return the page of all holds: those that need a person first."""
    found = [(one, hold) for one in searched(entries, route) for hold in one.holds]
    found.sort(key=lambda pair: not pair[1].wants_attention)
    shown, left = within((hold_row(*pair) for pair in slice_of(found, route)), MOST_ROWS_BYTES)
    columns = ("Name", "Hold", "Why, and what to do")
    body = table(columns, shown, f"{len(found)} holds") if shown else tag("p", "Nothing is held.")
    return framed(
        "Holds",
        "/holds",
        basis,
        search(route),
        body,
        *left_out(left, "search for a name"),
        *pages(len(found), route),
    )


def searched(entries: Iterable[Entry], route: Listing) -> list[Entry]:
    return [
        one
        for one in entries
        if route.search in one.name and route.condition in {"", one.condition}
    ]


def slice_of(found: Sequence[T], route: Listing) -> Sequence[T]:
    return found[(route.page - 1) * EACH_PAGE : route.page * EACH_PAGE]


def link(entry: Entry) -> Html:
    """Return a link to a document's own page; of a name that no document may have, the name."""
    target = OneDocument(entry.plural, entry.name).target
    shown = shortened(entry.name, LONGEST_NAME)
    return tag("a", shown, href=target) if len(target) <= LONGEST_TARGET else tag("span", shown)


def badge(condition: str) -> Html:
    """Return a condition as a word with its colour, which repeats the word."""
    return tag("span", condition, class_=f"badge {condition.replace(' ', '-')}")


def document_row(entry: Entry) -> Html:
    said = entry.summary if entry.summary != entry.condition else ""
    return tag(
        "tr",
        tag("th", link(entry), scope="row"),
        tag("td", entry.noun),
        tag("td", badge(entry.condition)),
        tag("td", shortened(entry.word or said, LONGEST_LINE)),
    )


def hold_row(entry: Entry, hold: Hold) -> Html:
    who = (badge("needs you"),) if hold.wants_attention else ()
    return tag(
        "tr",
        tag("th", link(entry), scope="row"),
        tag("td", tag("code", shortened(hold.key, LONGEST_LINE)), *who),
        tag("td", shortened(hold.reason)),
    )


def counts(entries: Sequence[Entry], route: Listing) -> Html:
    """Return the number of documents in each condition, each as a link to those."""
    everything = replace(route, condition="", page=1)
    items = [
        tag(
            "li",
            tag(
                "a",
                tag("strong", str(number)),
                f" {name}",
                href=replace(everything, condition=name).target,
                class_=f"count {name.replace(' ', '-')}",
                aria_current="true" if route.condition == name else "",
            ),
        )
        for name, number in counted(one.condition for one in entries)
    ]
    if route.condition:
        items.append(tag("li", tag("a", "all", href=everything.target, class_="count")))
    return tag("ul", *items, class_="counts") if items else joined()


def search(route: Listing) -> Html:
    """Return the form for a part of a name; it keeps the condition."""
    kept = (
        (tag("input", type="hidden", name="condition", value=route.condition),)
        if route.condition
        else ()
    )
    return tag(
        "form",
        tag("label", "Name has ", tag("input", type="search", name="q", value=route.search)),
        *kept,
        tag("button", "Search"),
        action=route.path,
        method="get",
        class_="search",
    )


def pages(number: int, route: Listing) -> tuple[Html, ...]:
    """Return the links to the pages before and after this one."""
    last = max(1, -(-number // EACH_PAGE))
    if last == 1:
        return ()
    before = replace(route, page=route.page - 1).target if route.page > 1 else ""
    after = replace(route, page=route.page + 1).target if route.page < last else ""
    links = [tag("a", word, href=to) for word, to in (("Before", before), ("Next", after)) if to]
    return (tag("nav", *links, f" Page {route.page} of {last}", class_="pages", aria_label="List"),)


def nothing(entries: Sequence[Entry]) -> Html:
    if entries:
        return tag("p", "Nothing has this name and condition.")
    return tag("p", "There is no cluster: no file describes one, and none is in the swarm.")
