"""The budgets of the workspace: the upper bound of each figure, by the section that measures it.

Invariant: each of them is judged. A section that prints a figure without the name of a budget
leaves that budget unmeasured, which counts like a broken one.
"""

from collections.abc import Collection, Mapping
from typing import Final

#: A longer task, or a longer time without a frame, is a pause that one sees.
PAUSE_MS: Final = 100

BUDGETS: Final[Mapping[str, Mapping[str, float]]] = {
    "web": {
        "script to read a page, gzip": 45,
        "editor on top of it, gzip": 100,
        "all that is stored for offline use, gzip": 350,
        "first visit, 4x slower, 1.6 Mbit/s: interactive": 2000,
        "again, 4x slower, 1.6 Mbit/s: interactive": 1000,
        "offline start, 1,000 blocks: first text": 400,
        "offline start, 1,000 blocks, 4x slower": 1200,
        "100 blocks: key to paint p95": 33,
        "100 blocks, 4x slower: key to paint p95": 100,
        "1,000 blocks: key to paint p95": 33,
        "1,000 blocks, 4x slower: key to paint p95": 100,
        "10,000 blocks: key to paint p95": 50,
        "10,000 blocks, 4x slower: key to paint p95": 100,
        # A key whose work takes longer than this cannot be seen in time.
        "100 blocks: processor time a key": 33,
        "100 blocks, 4x slower: processor time a key": 100,
        "1,000 blocks: processor time a key": 33,
        "1,000 blocks, 4x slower: processor time a key": 100,
        "10,000 blocks: processor time a key": 50,
        "10,000 blocks, 4x slower: processor time a key": 100,
        "10,000 blocks: open for editing": 1000,
        "10,000 blocks: select all": 200,
        "10,000 blocks: heap of the tab": 40,
    },
    "places": {
        "5,000 rows: longest task of the opening": PAUSE_MS,
        "5,000 rows: key to paint p95": 33,
        "5,000 rows: processor time a key": 33,
        "5,000 rows: first to last row and back, p95": PAUSE_MS,
        "5,000 rows: 2,500 rows opened and closed, p95": PAUSE_MS,
        "5,000 rows: longest pause of scrolling": PAUSE_MS,
        "5,000 rows: longest task of a change by others": PAUSE_MS,
        "10,000 titles: key to list p95": 16,
        "10,000 pages: answer of the server p95": 150,
    },
    "together": {
        "edit, request to seen by who reads, p95": 250,
        "edit, request to seen by who edits, p95": 250,
    },
}


def unmeasured(section: str, measured: Collection[str]) -> list[str]:
    """The budgets of a section that none of its figures has measured."""
    return [name for name in BUDGETS.get(section, {}) if name not in measured]
