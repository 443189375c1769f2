"""Documents as immutable trees with positions, as ProseMirror's model has them.

A position counts tokens: one for each side of a node, one for a leaf, one for each UTF-16 unit of
text. Texts are kept with a code point for each UTF-16 unit, so their length is their size.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from notes.doc.attributes import Json
from notes.steps.marks import Mark
from notes.steps.schema import TEXT, NodeType, plain

#: Characters that cost as much time and memory as one node.
TEXT_AS_NODE = 200


class StepError(Exception):
    """A step does not apply to the document."""


class Node:
    """One node. `is_sound` is set once its content and that of all below it is checked."""

    __slots__ = (
        "attrs",
        "content",
        "is_sound",
        "kind",
        "levels",
        "linked",
        "marks",
        "nodes",
        "size",
        "text",
        "weight",
    )

    def __init__(
        self,
        kind: NodeType,
        attrs: tuple[tuple[str, Any], ...] = (),
        content: tuple["Node", ...] = (),
        marks: tuple[Mark, ...] = (),
        text: str = "",
    ) -> None:
        self.kind = kind
        self.attrs = attrs
        self.content = content
        self.marks = marks
        self.text = text
        self.is_sound = kind.is_leaf
        size: int = 0
        nodes: int = 1
        weight: int = len(text)
        levels: int = 0
        linked: int = 0
        for mark in marks:
            for _, value in mark.attrs:
                linked += len(value or "")
        for child in content:
            size += child.size
            nodes += child.nodes
            weight += child.weight
            levels = max(levels, child.levels)
            linked += child.linked
        for _, value in attrs:
            if type(value) is str:
                weight += len(value)
        self.size: int = len(text) or (size + 2 if kind.content else 1)
        self.nodes: int = nodes
        self.weight: int = weight
        self.linked: int = linked  # characters of addresses and titles in marks
        self.levels: int = levels + kind.adds_level

    @property
    def work(self) -> int:
        """Returns the cost of looking at all of the node, in nodes: a long text counts as many."""
        return self.nodes + (self.weight + self.linked) // TEXT_AS_NODE

    @property
    def content_size(self) -> int:
        return self.size - 2 if self.kind.content else 0

    def attribute(self, name: str) -> Any:
        return dict(self.attrs).get(name)

    def copy(self, content: Sequence["Node"]) -> "Node":
        return Node(self.kind, self.attrs, tuple(content), self.marks)

    def with_text(self, text: str) -> "Node":
        return Node(TEXT, (), (), self.marks, text)

    def with_marks(self, marks: tuple[Mark, ...]) -> "Node":
        if marks == self.marks:
            return self
        made = Node(self.kind, self.attrs, self.content, marks, self.text)
        made.is_sound = self.is_sound
        return made

    def same_markup(self, other: "Node") -> bool:
        return self.kind is other.kind and self.attrs == other.attrs and self.marks == other.marks

    def cut(self, begin: int, end: int) -> "Node":
        """The node with the part of its content (or text) from `begin` to `end`."""
        if self.kind.is_text:
            for at in (begin, end):
                if 0 < at < len(self.text) and "\udc00" <= self.text[at] <= "\udfff":
                    raise StepError("it would cut a character in two")
            return self.with_text(self.text[begin:end])
        if begin == 0 and end == self.content_size:
            return self
        return self.copy(cut(self.content, begin, end))

    @property
    def json(self) -> Json:
        """The node as JSON, without attributes that are null."""
        made: Json = {"type": self.kind.name}
        attrs = {name: value for name, value in self.attrs if value is not None}
        if attrs:
            made["attrs"] = attrs
        if self.content:
            made["content"] = [child.json for child in self.content]
        if self.marks:
            made["marks"] = [mark.json for mark in self.marks]
        if self.kind.is_text:
            made["text"] = plain(self.text)
        return made

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Node)
            and self.same_markup(other)
            and self.size == other.size
            and self.text == other.text
            and self.content == other.content
        )

    __hash__ = None  # type: ignore[assignment]


class Slice(NamedTuple):
    """A part of a document, whose nodes are open at `open_start` levels before, and after."""

    content: tuple[Node, ...] = ()
    open_start: int = 0
    open_end: int = 0

    @property
    def size(self) -> int:
        return size_of(self.content) - self.open_start - self.open_end

    @property
    def json(self) -> Json:
        made: Json = {"content": [node.json for node in self.content]}
        if self.open_start:
            made["openStart"] = self.open_start
        if self.open_end:
            made["openEnd"] = self.open_end
        return made


EMPTY = Slice()


def size_of(content: Sequence[Node]) -> int:
    return sum(node.size for node in content)


def cut(content: Sequence[Node], begin: int, end: int) -> list[Node]:
    """The part of a content from `begin` to `end`."""
    found = list[Node]()
    at = 0
    for child in content:
        if at >= end:
            break
        after = at + child.size
        if after > begin:
            if at < begin or after > end:
                if child.kind.is_text:
                    piece = child.cut(max(0, begin - at), min(len(child.text), end - at))
                else:
                    piece = child.cut(max(0, begin - at - 1), min(child.content_size, end - at - 1))
                found.append(piece)
            else:
                found.append(child)
        at = after
    return found


def append(content: list[Node], child: Node) -> None:
    """Adds a node at the end, joined to a text with the same marks."""
    if content and child.kind.is_text and child.same_markup(content[-1]):
        content[-1] = child.with_text(content[-1].text + child.text)
    else:
        content.append(child)


def joined(*parts: Sequence[Node]) -> list[Node]:
    """The parts after each other; texts at the seams are joined."""
    found = list[Node]()
    for part in parts:
        if part:
            append(found, part[0])
            found += part[1:]
    return found


def find_index(content: Sequence[Node], position: int, size: int) -> tuple[int, int]:
    """The index of the node at or around a position, and where that node begins."""
    if position == 0:
        return 0, 0
    if position == size:
        return len(content), position
    if not 0 <= position < size:
        raise StepError(f"position {position} is outside of a content of {size}")
    at = 0
    for index, child in enumerate(content):
        after = at + child.size
        if after == position:
            return index + 1, after
        if after > position:
            return index, at
        at = after
    raise AssertionError
