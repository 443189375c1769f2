"""The newest records of the audit trail, of all documents or of one.

Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from queenright.core.audit.lines import COLUMNS
from queenright.core.page.frame import framed, left_out, shortened
from queenright.core.page.html import Html, table, tag, within
from queenright.core.page.routes import Trail
from queenright.core.page.values import Basis, Record

MOST_ROWS_BYTES = 38_000
LONGEST_CELL = 400
WHOLE = "queenright audit show has the whole trail"


def trail_page(records: Sequence[Record], route: Trail, basis: Basis) -> bytes:
    """Return the page of the trail; ``records`` are newest first, of all that the route names."""
    words = route.search.lower()
    found = [one for one in records if words in " ".join((*one.cells, one.causes)).lower()]
    form = tag(
        "form",
        tag(
            "label", "Of ", tag("input", type="search", name="cluster", value=shortened(route.name))
        ),
        tag("label", "With ", tag("input", type="search", name="q", value=shortened(route.search))),
        tag("button", "Show"),
        action="/trail",
        method="get",
        class_="search",
    )
    return framed("Trail", "/trail", basis, form, *shown_records(found, records))


def shown_records(found: Sequence[Record], records: Sequence[Record]) -> tuple[Html, ...]:
    """Return the records that were searched for; where none is, how many were looked at."""
    if found or not records:
        return record_table(found, MOST_ROWS_BYTES)
    return (tag("p", f"None of the {len(records)} records here has these words; {WHOLE}."),)


def record_table(records: Sequence[Record], most_bytes: int) -> tuple[Html, ...]:
    """Return records as a table, and a line about those that are not shown."""
    if not records:
        return (tag("p", f"Nothing is recorded here since the operator started; {WHOLE}."),)
    shown, left = within(map(record_row, records), most_bytes)
    return (table(COLUMNS, shown, "Newest first"), *left_out(left, WHOLE))


def record_row(record: Record) -> Html:
    at, *others, why = (shortened(cell, LONGEST_CELL) for cell in record.cells)
    causes = shortened(record.causes, LONGEST_CELL)
    behind = (" ", tag("small", f"({causes})")) if causes else ()
    cells = (tag("td", cell) for cell in others)
    return tag("tr", tag("td", tag("time", at)), *cells, tag("td", why, *behind))
