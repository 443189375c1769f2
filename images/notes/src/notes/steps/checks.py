"""Checks documents against the schema and its limits.

Invariant: a document that passes can be brought to its normal form, so it can always be saved.
"""

from notes.doc.schema import MAX_DEPTH, MAX_NODES, MAX_TEXT
from notes.steps.model import Node, StepError

#: Each text repeats the address of its link, so a short step can make a very long document.
MAX_LINKED = 16_000_000


def check(node: Node) -> None:
    """Checks the content of a node and of all below it. Raises `StepError`."""
    if node.is_sound:
        return
    check_content(node)
    for child in node.content:
        check(child)
    node.is_sound = True


def check_content(node: Node) -> None:
    """Checks the types and marks of a node's children. Raises `StepError`."""
    kind = node.kind
    if not kind.fits([child.kind.name for child in node.content]):
        raise StepError(f"a {kind.name} cannot have this content")
    if not kind.allows_marks and any(child.marks for child in node.content):
        raise StepError(f"there are no marks in a {kind.name}")
    if kind.name == "table":
        width = max(len(row.content) for row in node.content)
        if width * len(node.content) > MAX_NODES:
            raise StepError("a table with too many cells")


def check_limits(doc: Node) -> None:
    """Checks what a document may have as a whole. Raises `StepError`."""
    if doc.levels >= MAX_DEPTH:
        raise StepError(f"more than {MAX_DEPTH} levels")
    if doc.weight > MAX_TEXT:
        raise StepError(f"more than {MAX_TEXT} characters")
    if doc.linked > MAX_LINKED:
        raise StepError(f"links with more than {MAX_LINKED} characters")
    # Saving looks at each footnote twice. Two of them may have the same label: two people may have
    # made them at the same time, and saving gives the second one another.
    notes = 0
    while notes < len(doc.content) and doc.content[-1 - notes].kind.name == "footnote":
        notes += 1
    if doc.nodes + notes > MAX_NODES:
        raise StepError(f"more than {MAX_NODES} nodes")
