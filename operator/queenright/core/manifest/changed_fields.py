"""Fields that an edit changed, with their lines, for the audit trail.

Pure: compares two documents. Values are spelled as a person writes them (`30s`, `2G`). A mapping
that a single word can replace is shown as that word (`reconcile: active -> paused`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from queenright.core.manifest.document import Document
from queenright.core.manifest.error_messages import part_at
from queenright.core.manifest.identity import Identity
from queenright.core.manifest.model import Resource, Worded
from queenright.core.manifest.problems import Path, path_text

LATEST = 64
"""Documents whose values are remembered: an edit compares two, and the next one of them again."""


@dataclass(frozen=True, slots=True)
class ChangedField:
    """One field that differs. `old` or `new` is None where it is absent. `line` is in the new file;
    a field without a line of its own has the line of the part around it."""

    path: str
    file: str
    line: int
    old: Any
    new: Any
    document: str = ""
    """The document's name."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.path}: {self.old} -> {self.new}"


def changed_fields(old: Document | None, new: Document) -> tuple[ChangedField, ...]:
    """Return the leaves that differ, in the order of the new file's lines; all without an old one.

    List entries are compared by position, because their order has a meaning."""
    if old is not None and old.resource is new.resource:
        return ()
    before = _leaves(Identity(old)) if old is not None else {}
    after = _leaves(Identity(new))
    changed = [
        ChangedField(
            path,
            new.origin.file,
            new.origin.line_of(path),
            before.get(path),
            after.get(path),
            new.name,
        )
        for path in {**after, **before}
        if before.get(path) != after.get(path)
    ]
    return tuple(sorted(changed, key=lambda field: (field.line, field.path)))


@lru_cache(maxsize=LATEST)
def _leaves(same: Identity[Document]) -> Mapping[str, Any]:
    """Return the written values by path, remembered: the next edit compares with them again."""
    resource = same.value.resource
    dumped = resource.model_dump(mode="json", by_alias=True)
    return dict(_walk(dumped, (), type(resource)))


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
