"""The faults of a document on this swarm, as its nodes are now.

Decides from one valid document, of whatever kind, and the nodes that swarm lists.
"""

from collections.abc import Sequence

from queenright.core.kinds.registry import kind_of
from queenright.core.manifest.document import Document
from queenright.core.manifest.problems import Problem
from queenright.core.observed import Node


def placement_problems(document: Document, nodes: Sequence[Node]) -> tuple[Problem, ...]:
    """The document's problems on these nodes, each at its line."""
    found = kind_of(document).check_placement(document.resource, nodes)
    return document.origin.problems(found)
