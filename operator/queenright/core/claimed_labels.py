"""Which node labels the documents ask for, of either kind: a label that one document gives up may
be what places another's tasks by now.

Decides from the documents alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from queenright.core.app.desired import app_node_labels
from queenright.core.desired import node_labels
from queenright.core.resources import NodeLabels
from queenright.core.spec.problems import Document


def claimed_labels(documents: Iterable[Document]) -> frozenset[tuple[str, str]]:
    """Node and label key, of everything that these documents place by one."""
    return frozenset(
        (item.node, key)
        for document in documents
        for item in labels_of(document)
        for key in item.labels
    )


def labels_of(document: Document) -> Iterable[NodeLabels]:
    if document.is_cluster:
        return node_labels(document.cluster)
    return app_node_labels(document.app) if document.is_app else ()
