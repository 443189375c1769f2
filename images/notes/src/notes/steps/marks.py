"""Marks: a mark's kind and attributes, and ordered sets of marks."""

from dataclasses import dataclass
from typing import Any

from notes.doc.attributes import MARKS, Json, SchemaError
from notes.steps.schema import LINK, attributes_of, only


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A mark; the order is that of `MARKS`."""

    rank: int
    attrs: tuple[tuple[str, Any], ...] = ()

    @property
    def json(self) -> Json:
        made: Json = {"type": MARKS[self.rank]}
        kept = {name: value for name, value in self.attrs if value is not None}
        return made | {"attrs": kept} if kept else made


_RANKS = {name: rank for rank, name in enumerate(MARKS)}


def mark_of(given: Any, path: str) -> Mark:
    """One mark from its JSON. Raises `SchemaError`."""
    kind = given.get("type") if isinstance(given, dict) else None
    if not isinstance(kind, str) or kind not in _RANKS:
        raise SchemaError(path, f"{str(kind)[:40]!r} is no mark")
    only(given, {"type", "attrs"}, path)
    return Mark(
        _RANKS[kind], attributes_of(LINK if kind == "link" else {}, given.get("attrs"), path)
    )


def marks_of(given: Any, path: str) -> tuple[Mark, ...]:
    """The marks of a node, in their order, each kind once. Raises `SchemaError`."""
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) > len(MARKS):
        raise SchemaError(f"{path}.marks", f"marks is a list of at most {len(MARKS)}")
    found = [mark_of(mark, f"{path}.marks[{at}]") for at, mark in enumerate(given)]
    if len({mark.rank for mark in found}) != len(found):
        raise SchemaError(f"{path}.marks", "a mark is given twice")
    return tuple(sorted(found, key=lambda mark: mark.rank))


def with_mark(marks: tuple[Mark, ...], mark: Mark) -> tuple[Mark, ...]:
    """The marks with one more, which replaces one of its kind."""
    if mark in marks:
        return marks
    kept = [one for one in marks if one.rank != mark.rank]
    return tuple(sorted([*kept, mark], key=lambda one: one.rank))


def without_mark(marks: tuple[Mark, ...], mark: Mark) -> tuple[Mark, ...]:
    """The marks without an equal one."""
    return tuple(one for one in marks if one != mark) if mark in marks else marks
