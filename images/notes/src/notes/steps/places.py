"""Positions in a document, with the nodes around them.

Invariant: a position outside of the document raises `StepError`.
"""

from collections.abc import Iterator, Sequence

from notes.steps.model import EMPTY, Node, Slice, StepError, cut, find_index


class Place:
    """A position with the nodes around it."""

    __slots__ = ("offset", "path", "position")

    def __init__(self, doc: Node, position: int) -> None:
        if not 0 <= position <= doc.content_size:
            raise StepError(f"position {position} is outside of the document")
        self.position = position
        #: For each level the node, the index in it, and where the child at that index begins.
        self.path: list[tuple[Node, int, int]] = []
        start, offset, node = 0, position, doc
        while True:
            index, at = find_index(node.content, offset, node.content_size)
            self.path.append((node, index, start + at))
            rest = offset - at
            if not rest:
                break
            node = node.content[index]
            if node.kind.is_text:
                break
            offset = rest - 1
            start += at + 1
        self.offset = offset

    @property
    def depth(self) -> int:
        return len(self.path) - 1

    @property
    def parent(self) -> Node:
        return self.path[-1][0]

    @property
    def text_offset(self) -> int:
        return self.position - self.path[-1][2]

    def node(self, depth: int) -> Node:
        return self.path[depth][0]

    def index(self, depth: int) -> int:
        return self.path[depth][1]

    def index_after(self, depth: int) -> int:
        is_between = depth == self.depth and not self.text_offset
        return self.path[depth][1] + (not is_between)

    def start(self, depth: int) -> int:
        return 0 if depth == 0 else self.path[depth - 1][2] + 1

    def end(self, depth: int) -> int:
        return self.start(depth) + self.node(depth).content_size

    def shared_depth(self, position: int) -> int:
        for depth in range(self.depth, 0, -1):
            if self.start(depth) <= position <= self.end(depth):
                return depth
        return 0

    @property
    def text_after(self) -> Node:
        child = self.parent.content[self.path[-1][1]]
        return child.cut(self.text_offset, len(child.text))

    @property
    def text_before(self) -> Node:
        return self.parent.content[self.path[-1][1]].cut(0, self.text_offset)


def slice_of(doc: Node, begin: int, end: int) -> Slice:
    """The part of a document between two positions."""
    if begin == end:
        return EMPTY
    before, after = Place(doc, begin), Place(doc, end)
    depth = before.shared_depth(end)
    start = before.start(depth)
    content = cut(before.node(depth).content, begin - start, end - start)
    return Slice(tuple(content), before.depth - depth, after.depth - depth)


def node_at(doc: Node, position: int) -> Node | None:
    """The node that begins at a position (or the text around it)."""
    node, rest = doc, position
    while True:
        if not 0 <= rest <= node.content_size:
            raise StepError(f"position {position} is outside of the document")
        index, at = find_index(node.content, rest, node.content_size)
        if index == len(node.content):
            return None
        child = node.content[index]
        if at == rest or child.kind.is_text:
            return child
        node, rest = child, rest - at - 1


def inline_between(
    content: Sequence[Node], begin: int, end: int, start: int = 0
) -> Iterator[tuple[Node, int]]:
    """Each inline node that the range touches, with its position."""
    at = 0
    for child in content:
        if at >= end:
            return
        after = at + child.size
        if after > begin:
            if child.kind.is_inline:
                yield child, start + at
            elif child.content:
                inner = at + 1
                yield from inline_between(
                    child.content,
                    max(0, begin - inner),
                    min(child.content_size, end - inner),
                    start + inner,
                )
        at = after
