"""Which fields an edit changed, and on which line, so that the audit trail can name them.

Decides from two documents alone. Values are spelled as a person writes them (`30s`, `2G`), and a
mapping that a word can stand for goes by that word (`reconcile: active -> paused`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from queenright.core.spec.document import Resource, Worded
from queenright.core.spec.phrasing import part_at
from queenright.core.spec.problems import Document, Path, path_text


@dataclass(frozen=True, slots=True)
class ChangedField:
    """One field that differs. `old` or `new` is None where it is absent; `line` is in the new file,
    at the part around the field where that has no line of its own any more."""

    path: str
    file: str
    line: int
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.path}: {self.old} -> {self.new}"


def changed_fields(old: Document | None, new: Document) -> tuple[ChangedField, ...]:
    """The leaves that differ, in the order of the new file's lines; all of them when there is no
    old document. List entries are compared by position, as their order means something."""
    before = _leaves(old) if old is not None else {}
    after = _leaves(new)
    changed = [
        ChangedField(
            path, new.origin.file, new.origin.line_of(path), before.get(path), after.get(path)
        )
        for path in {**after, **before}
        if before.get(path) != after.get(path)
    ]
    return tuple(sorted(changed, key=lambda field: (field.line, field.path)))


def _leaves(document: Document) -> dict[str, Any]:
    dumped = document.resource.model_dump(mode="json", by_alias=True)
    return dict(_walk(dumped, (), type(document.resource)))


def _walk(value: Any, path: Path, model: type[Resource]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        part = part_at(model, path)
        word = part.WORD if part is not None and issubclass(part, Worded) else ""
        for key, item in value.items():
            yield from _walk(item, path if key == word else (*path, key), model)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(item, (*path, index), model)
    elif value is not None:
        yield path_text(path), value
