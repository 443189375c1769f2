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
    """Return the page of the trail; ``records`` are newest first."""
    form = tag(
        "form",
        tag(
            "label", "Of ", tag("input", type="search", name="cluster", value=shortened(route.name))
        ),
        tag("button", "Show"),
        action="/trail",
        method="get",
        class_="search",
    )
    return framed("Trail", "/trail", basis, form, *record_table(records, MOST_ROWS_BYTES))


def record_table(records: Sequence[Record], most_bytes: int) -> tuple[Html, ...]:
    """Return records as a table, and a line about those that are not shown."""
    if not records:
        return (tag("p", f"Nothing is recorded here since the operator started; {WHOLE}."),)
    shown, left = within(map(record_row, records), most_bytes)
    return (table(COLUMNS, shown, "Newest first"), *left_out(left, WHOLE))


def record_row(record: Record) -> Html:
    at, *others = (shortened(cell, LONGEST_CELL) for cell in record.cells)
    return tag("tr", tag("td", tag("time", at)), *(tag("td", cell) for cell in others))
