"""Makes tables of properties and of CSV files.

Invariant: a table has at most `MAX_CELLS` cells, and a note if rows or columns are missing.
"""

import csv
import io

from notes.doc.attributes import Json
from notes.transfer.properties import Pairs

MAX_CELLS = 20_000
MAX_COLUMNS = 200
CHILD = "/.row/"


def properties(pairs: Pairs) -> list[Json]:
    """The pairs as a table of two columns; empty without pairs."""
    if not pairs:
        return []
    rows = [["Property", "Value"], *[[key, value] for key, value in pairs]]
    return [_table([[_text(cell) for cell in row] for row in rows])]


def read_csv(source: str) -> tuple[list[Json], list[str], bool]:
    """The blocks of a CSV file, notes, and True if rows or columns are left out.

    A cell of the first column links to the page with that title. Raises `csv.Error`.
    """
    rows = list[list[list[Json]]]()
    width = cells = total = 0
    cut = False
    for row in csv.reader(io.StringIO(source), strict=False):
        if not row:
            continue
        total += 1
        if cells >= MAX_CELLS:
            cut = True
            continue
        if len(row) > MAX_COLUMNS:
            cut = True
        width = min(MAX_COLUMNS, max(width, len(row)))
        cells += width
        made = [_text(cell) for cell in row[:MAX_COLUMNS]]
        if rows and made and made[0]:
            made[0] = _linked(made[0], row[0])
        rows.append(made)
    if not rows:
        return [], [], False
    notes = [f"the table shows {len(rows) - 1} of {total - 1} rows"] if len(rows) < total else []
    if width == MAX_COLUMNS and cut:
        notes.append(f"the table shows at most {MAX_COLUMNS} columns")
    return [_table(rows)], notes, cut


def _text(value: str) -> list[Json]:
    plain = " ".join(value.split())
    return [{"type": "text", "text": plain}] if plain else []


def _linked(nodes: list[Json], name: str) -> list[Json]:
    from urllib.parse import quote

    link = {"type": "link", "attrs": {"href": CHILD + quote(name.strip(), safe="")[:3000]}}
    return [{**node, "marks": [link]} for node in nodes]


def _table(rows: list[list[list[Json]]]) -> Json:
    return {
        "type": "table",
        "content": [
            {
                "type": "tableRow",
                "content": [
                    {
                        "type": "tableHeader" if at == 0 else "tableCell",
                        "content": [{"type": "paragraph", "content": cell}],
                    }
                    for cell in row
                ],
            }
            for at, row in enumerate(rows)
        ],
    }
