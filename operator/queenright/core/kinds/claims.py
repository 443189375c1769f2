"""Claims of documents: node labels for placement, and roles and databases of other documents.

Decides from the documents alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from queenright.core.kinds.registry import key_of, kind_of, needed_by
from queenright.core.manifest.document import Document
from queenright.core.planning.deletion import ClaimedLabels
from queenright.core.planning.faults import DocumentKey
from queenright.core.postgres.catalog import DesiredCatalog


def claimed_labels(documents: Iterable[Document]) -> frozenset[tuple[str, str]]:
    """Node and label key, of everything that these documents place by one: a label that one
    document gives up may be what places another's tasks by now."""
    return frozenset(
        (item.node, key)
        for document in documents
        for item in kind_of(document).node_labels(document.resource)
        for key in item.labels
    )


@dataclass(frozen=True, slots=True)
class LabelsOfOthers:
    """The labels that some document places by, other than the one with its ``own``. ``counts`` has
    the number of documents for each label."""

    counts: Mapping[tuple[str, str], int]
    own: frozenset[tuple[str, str]]

    def __contains__(self, label: object) -> bool:
        if not isinstance(label, tuple):
            return False
        return self.counts.get(label, 0) > (label in self.own)


def claimed_by_others(documents: Iterable[Document]) -> Mapping[DocumentKey, ClaimedLabels]:
    """For each document, the node labels that the others place by."""
    own = {key_of(document): claimed_labels([document]) for document in documents}
    counts = Counter(label for labels in own.values() for label in labels)
    return {key: LabelsOfOthers(counts, labels) for key, labels in own.items()}


def claims_of(documents: Iterable[Document]) -> Mapping[DocumentKey, DesiredCatalog]:
    """The roles and databases that documents need, by the document that is to have them; one of
    which nothing is claimed is not there."""
    found: dict[DocumentKey, DesiredCatalog] = {}
    for document in sorted(documents, key=lambda one: one.name):
        claim, key = kind_of(document).claims(document.resource), needed_by(document)
        if claim and key:
            before = found.get(key, DesiredCatalog())
            found[key] = DesiredCatalog(
                (*before.roles, *claim.roles), (*before.databases, *claim.databases)
            )
    return found


def claim_alike(before: Sequence[Document], now: Sequence[Document]) -> bool:
    """Return True if these documents claim the same roles and databases: of an edit's two sets of
    a thousand documents, all but one are the same objects."""
    return len(before) == len(now) and all(
        one is other
        or (
            key_of(one) == key_of(other)
            and needed_by(one) == needed_by(other)
            and kind_of(one).claims(one.resource) == kind_of(other).claims(other.resource)
        )
        for one, other in zip(before, now, strict=True)
    )
