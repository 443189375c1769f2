"""What is wrong with a notes application that takes more than one field to see.

Decides from one valid `NotesApp`. Each check is independent and tells every place that it finds.
"""

from collections.abc import Callable, Iterator

from queenright.core.spec.notes_app import NotesApp
from queenright.core.spec.problems import Finding

Check = Callable[[NotesApp], Iterator[Finding]]


def check_app(app: NotesApp) -> Iterator[Finding]:
    """Every finding of every check."""
    for check in CHECKS:
        yield from check(app)


CHECKS: tuple[Check, ...] = ()
