"""The documents in force as a recorded input."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import overload

from queenright.core.manifest.document import Document
from queenright.core.manifest.document_index import FindsDocuments, KeyOf, found_by
from queenright.core.observed.recorded.mapping import keys_of
from queenright.core.observed.recorded.record import Record

DOCUMENTS = "documents"


def documents_by(
    documents: Sequence[Document], key: KeyOf, wanted: Hashable
) -> tuple[Document, ...]:
    return found_by(key, wanted, documents)


class RecordedDocuments(Sequence[Document], FindsDocuments):
    """The documents; a walk over them is a question for all of them."""

    __slots__ = ("_record",)

    def __init__(self, record: Record) -> None:
        self._record = record

    @property
    def _all(self) -> tuple[Document, ...]:
        return self._record.ask(keys_of, DOCUMENTS)

    @overload
    def __getitem__(self, index: int) -> Document: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Document]: ...

    def __getitem__(self, index: int | slice) -> Document | Sequence[Document]:
        return self._all[index]

    def __iter__(self) -> Iterator[Document]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def found_by(self, key: KeyOf, wanted: Hashable) -> tuple[Document, ...]:
        return self._record.ask(documents_by, DOCUMENTS, key, wanted)
