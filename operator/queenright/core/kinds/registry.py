"""The kinds of document. A new kind is one line in `_KINDS`.

Decides, for an `apiVersion` and `kind`, which kind a document is of.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from queenright.core.kinds.kind import Kind
from queenright.core.kinds.notes_app.kind import NOTES_APP
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.manifest.document import Document
from queenright.core.manifest.model import API_VERSION
from queenright.core.planning.faults import DocumentKey

AnyKind: TypeAlias = Kind[Any, Any]

_KINDS: dict[str, AnyKind] = {
    POSTGRES_CLUSTER.name: POSTGRES_CLUSTER,
    NOTES_APP.name: NOTES_APP,
}
"""A kind after those that it may rest on: so they are planned, and carried out."""

KINDS: Mapping[str, AnyKind] = MappingProxyType(_KINDS)

API_VERSIONS = (API_VERSION,)


def kind_of(document: Document) -> AnyKind:
    """The kind of a document, whose model has been found by this registry."""
    return KINDS[document.kind]


def key_of(document: Document) -> DocumentKey:
    return DocumentKey(document.kind, document.name)


def needed_by(document: Document) -> DocumentKey | None:
    """The document that a document rests on."""
    return kind_of(document).needs(document.resource)


def of_kind(kind: AnyKind, documents: Iterable[Document]) -> list[Document]:
    return [document for document in documents if document.kind == kind.name]


def owner_labels() -> tuple[str, ...]:
    """The labels that say, by each kind, whose an object of the swarm is."""
    return tuple(kind.label for kind in KINDS.values())
