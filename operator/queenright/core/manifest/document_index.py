"""Returns documents by what a rule asks for, without a walk over all of them for each.

Invariant: what is found, and its order, is what a walk over the documents would find. An index is
remembered by the identity of the documents, which are replaced whole and never changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias

from queenright.core.manifest.document import Document
from queenright.core.manifest.identity import Identity

KeyOf: TypeAlias = Callable[[Document], Hashable]
"""A function of a module: it is a part of what an index is remembered by."""
MOST_INDEXES = 8
"""Indexes of the documents in force, of those before them, and of a command's own."""


class FindsDocuments(ABC):
    """Documents that answer themselves which of them have a key."""

    @abstractmethod
    def found_by(self, key: KeyOf, wanted: Hashable) -> tuple[Document, ...]: ...


def found_by(key: KeyOf, wanted: Hashable, documents: Iterable[Document]) -> tuple[Document, ...]:
    """The documents with this key, in their order."""
    if isinstance(documents, FindsDocuments):
        return documents.found_by(key, wanted)
    return _indexed(key, Identity(tuple(documents))).get(wanted, ())


@lru_cache(maxsize=MOST_INDEXES)
def _indexed(
    key: KeyOf, same: Identity[tuple[Document, ...]]
) -> Mapping[Hashable, tuple[Document, ...]]:
    found: dict[Hashable, list[Document]] = {}
    for document in same.value:
        found.setdefault(key(document), []).append(document)
    return {each: tuple(some) for each, some in found.items()}
