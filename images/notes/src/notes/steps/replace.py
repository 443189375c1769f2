"""Replaces a range of a document by a slice, as ProseMirror's `Node.replace` does.

Invariant: the result is checked wherever it differs from the document that it was made from.
"""

from collections.abc import Sequence

from notes.steps.checks import check, check_content
from notes.steps.model import Node, Slice, StepError, append, cut, find_index, joined, size_of
from notes.steps.places import Place


def replace(doc: Node, begin: int, end: int, part: Slice) -> Node:
    """The document with a range replaced. Raises `StepError`."""
    before, after = Place(doc, begin), Place(doc, end)
    if begin > end:
        raise StepError("the range ends before it begins")
    if part.open_start > before.depth:
        raise StepError("the content is deeper than the position where it is inserted")
    if before.depth - part.open_start != after.depth - part.open_end:
        raise StepError("the content is open at other levels than the range")
    return _outer(before, after, part, 0)


def _outer(before: Place, after: Place, part: Slice, depth: int) -> Node:
    index, node = before.index(depth), before.node(depth)
    if index == after.index(depth) and depth < before.depth - part.open_start:
        content = list(node.content)
        content[index] = _outer(before, after, part, depth + 1)
        made = node.copy(content)
        if node.kind.name == "table":
            check_content(made)  # its rows may be longer now
        made.is_sound = True  # the kind of this child is the same, and it was checked
        return made
    if not part.content:
        return _closed(node, _two_way(before, after, depth))
    if not part.open_start and not part.open_end and before.depth == depth == after.depth:
        old = node.content
        return _closed(
            node,
            joined(
                cut(old, 0, before.offset),
                part.content,
                cut(old, after.offset, node.content_size),
            ),
        )
    start, end = _along(part, before)
    return _closed(node, _three_way(before, start, end, after, depth))


def _closed(node: Node, content: Sequence[Node]) -> Node:
    made = node.copy(content)
    check_content(made)
    for child in content:
        check(child)
    made.is_sound = True
    return made


def _join(main: Node, other: Node) -> None:
    if not other.kind.joins(main.kind):
        raise StepError(f"a {other.kind.name} cannot be joined to a {main.kind.name}")


def _joinable(before: Place, after: Place, depth: int) -> Node:
    node = before.node(depth)
    _join(node, after.node(depth))
    return node


def _add_range(start: Place | None, end: Place | None, depth: int, found: list[Node]) -> None:
    around = end or start
    assert around is not None  # noqa: S101 - one of them is always given
    node = around.node(depth)
    first, last = 0, end.index(depth) if end else len(node.content)
    if start is not None:
        first = start.index(depth)
        if start.depth > depth:
            first += 1
        elif start.text_offset:
            append(found, start.text_after)
            first += 1
    if first < last:
        append(found, node.content[first])
        for child in node.content[first + 1 : last]:
            append(found, child)
    if end is not None and end.depth == depth and end.text_offset:
        append(found, end.text_before)


def _three_way(before: Place, start: Place, end: Place, after: Place, depth: int) -> list[Node]:
    open_start = _joinable(before, start, depth + 1) if before.depth > depth else None
    open_end = _joinable(end, after, depth + 1) if after.depth > depth else None
    found = list[Node]()
    _add_range(None, before, depth, found)
    if open_start and open_end and start.index(depth) == end.index(depth):
        _join(open_start, open_end)
        inner = _three_way(before, start, end, after, depth + 1)
        append(found, _closed(open_start, inner))
    else:
        if open_start:
            append(found, _closed(open_start, _two_way(before, start, depth + 1)))
        _add_range(start, end, depth, found)
        if open_end:
            append(found, _closed(open_end, _two_way(end, after, depth + 1)))
    _add_range(after, None, depth, found)
    return found


def _two_way(before: Place, after: Place, depth: int) -> list[Node]:
    found = list[Node]()
    _add_range(None, before, depth, found)
    if before.depth > depth:
        node = _joinable(before, after, depth + 1)
        append(found, _closed(node, _two_way(before, after, depth + 1)))
    _add_range(after, None, depth, found)
    return found


def _along(part: Slice, along: Place) -> tuple[Place, Place]:
    """The places of a slice's two sides, within copies of the nodes around the position."""
    extra = along.depth - part.open_start
    node = along.node(extra).copy(part.content)
    for depth in range(extra - 1, -1, -1):
        node = along.node(depth).copy([node])
    return (
        Place(node, part.open_start + extra),
        Place(node, node.content_size - part.open_end - extra),
    )


def insert(part: Slice, at: int, content: Sequence[Node]) -> Slice | None:
    """The slice with a content inserted at a position of it; None if it does not fit there."""
    opened = part.open_start
    made = _insert(part.content, at + opened, content, (opened + 1, part.open_end + 1), None)
    return None if made is None else Slice(tuple(made), opened, part.open_end)


def _insert(
    content: Sequence[Node],
    at: int,
    more: Sequence[Node],
    opened: tuple[int, int],
    parent: Node | None,
) -> list[Node] | None:
    size = size_of(content)
    index, offset = find_index(content, at, size)
    child = content[index] if index < len(content) else None
    if offset == at or (child is not None and child.kind.is_text):
        if parent is not None and max(opened) <= 0:
            names = [node.kind.name for node in (*content[:index], *more, *content[index:])]
            if not parent.kind.fits(names):
                return None
        return joined(cut(content, 0, at), more, cut(content, at, size))
    assert child is not None  # noqa: S101 - a position between nodes was handled above
    inner = _insert(
        child.content,
        at - offset - 1,
        more,
        (
            opened[0] - 1 if index == 0 else 0,
            opened[1] - 1 if index == len(content) - 1 else 0,
        ),
        child,
    )
    if inner is None:
        return None
    return [*content[:index], child.copy(inner), *content[index + 1 :]]


def remove_between(part: Slice, begin: int, end: int) -> Slice:
    """The slice without a flat range of its content. Raises `StepError`."""
    opened = part.open_start
    return Slice(tuple(_removed(part.content, begin + opened, end + opened)), opened, part.open_end)


def _removed(content: Sequence[Node], begin: int, end: int) -> list[Node]:
    size = size_of(content)
    index, offset = find_index(content, begin, size)
    child = content[index] if index < len(content) else None
    last, offset_last = find_index(content, end, size)
    if offset == begin or (child is not None and child.kind.is_text):
        if offset_last != end and not content[last].kind.is_text:
            raise StepError("the range is not flat")
        return joined(cut(content, 0, begin), cut(content, end, size))
    if index != last or child is None:
        raise StepError("the range is not flat")
    inner = _removed(child.content, begin - offset - 1, end - offset - 1)
    return [*content[:index], child.copy(inner), *content[index + 1 :]]
