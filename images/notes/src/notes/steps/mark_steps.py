"""The steps that change marks and attributes: apply, invert, map.

Invariant: no position changes, so their maps are empty.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from notes.doc.attributes import Json, SchemaError
from notes.steps.maps import StepMap, map_all
from notes.steps.marks import Mark, with_mark, without_mark
from notes.steps.model import Node, Slice, StepError
from notes.steps.places import Place, inline_between, node_at, slice_of
from notes.steps.replace import replace
from notes.steps.schema import check_attribute
from notes.steps.steps import Step


@dataclass(frozen=True, slots=True)
class MarkStep:
    """Adds a mark to a range of inline content, or removes it."""

    adds: bool
    begin: int
    end: int
    mark: Mark

    def _changed(self, content: Sequence[Node], parent: Node) -> list[Node]:
        found = list[Node]()
        for child in content:
            made = child
            if child.content:
                made = child.copy(self._changed(child.content, child))
            elif child.kind.is_inline:
                if not self.adds:
                    made = child.with_marks(without_mark(child.marks, self.mark))
                elif parent.kind.allows_marks:
                    made = child.with_marks(with_mark(child.marks, self.mark))
            if found and made.kind.is_text and made.same_markup(found[-1]):
                found[-1] = made.with_text(found[-1].text + made.text)
            else:
                found.append(made)
        return found

    def apply(self, doc: Node) -> Node:
        if self.begin > self.end:
            raise StepError("the range ends before it begins")
        old = slice_of(doc, self.begin, self.end)
        place = Place(doc, self.begin)
        parent = place.node(place.shared_depth(self.end))
        content = tuple(self._changed(old.content, parent))
        return replace(doc, self.begin, self.end, Slice(content, old.open_start, old.open_end))

    def invert(self, doc: Node) -> Step:
        steps = list[MarkStep]()
        for node, at in inline_between(doc.content, self.begin, self.end):
            begin, end = max(self.begin, at), min(self.end, at + node.size)
            if not self.adds:
                if self.mark in node.marks:
                    _push(steps, MarkStep(True, begin, end, self.mark))
                continue
            added = with_mark(node.marks, self.mark)
            if added != node.marks:
                _push(steps, MarkStep(False, begin, end, self.mark))
                for mark in node.marks:
                    if mark not in added:
                        _push(steps, MarkStep(True, begin, end, mark))
        return steps[0] if len(steps) == 1 else MarkSetStep(tuple(steps))

    def map(self, maps: Sequence[StepMap]) -> "MarkStep | None":
        begin, end = map_all(maps, self.begin, 1).position, map_all(maps, self.end, -1).position
        return None if begin >= end else MarkStep(self.adds, begin, end, self.mark)

    @property
    def step_map(self) -> StepMap:
        return StepMap()

    @property
    def json(self) -> Json:
        name = "addMark" if self.adds else "removeMark"
        return {"stepType": name, "mark": self.mark.json, "from": self.begin, "to": self.end}


def _push(steps: list[MarkStep], step: MarkStep) -> None:
    last = steps[-1] if steps else None
    is_next = last is not None and (last.adds, last.end, last.mark) == (
        step.adds,
        step.begin,
        step.mark,
    )
    if last is not None and is_next:
        steps[-1] = MarkStep(step.adds, last.begin, step.end, step.mark)
    else:
        steps.append(step)


@dataclass(frozen=True, slots=True)
class MarkSetStep:
    """Several mark steps in one: what undoes a mark step."""

    steps: tuple[MarkStep, ...]

    def apply(self, doc: Node) -> Node:
        for step in self.steps:
            doc = step.apply(doc)
        return doc

    def invert(self, doc: Node) -> Step:
        made = list[MarkStep]()
        for step in self.steps:
            one = step.invert(doc)
            made += one.steps if isinstance(one, MarkSetStep) else [one]  # type: ignore[list-item]
        return MarkSetStep(tuple(made))

    def map(self, maps: Sequence[StepMap]) -> Step | None:
        found = tuple(made for step in self.steps if (made := step.map(maps)) is not None)
        return MarkSetStep(found) if found else None

    @property
    def step_map(self) -> StepMap:
        return StepMap()

    @property
    def json(self) -> Json:
        return {"stepType": "markSet", "steps": [step.json for step in self.steps]}


def _here(doc: Node, at: int) -> Node:
    node = node_at(doc, at)
    if node is None:
        raise StepError("there is no node at this position")
    if node.kind.is_text:
        raise StepError("a text has no attributes or marks of its own")
    return node


def _renewed(doc: Node, at: int, node: Node, made: Node) -> Node:
    return replace(doc, at, at + 1, Slice((made,), 0, 0 if node.kind.is_leaf else 1))


@dataclass(frozen=True, slots=True)
class NodeMarkStep:
    """Adds a mark to one node, or removes it."""

    adds: bool
    at: int
    mark: Mark

    def apply(self, doc: Node) -> Node:
        node = _here(doc, self.at)
        change = with_mark if self.adds else without_mark
        made = Node(node.kind, node.attrs, (), change(node.marks, self.mark))
        return _renewed(doc, self.at, node, made)

    def invert(self, doc: Node) -> Step:
        node = _here(doc, self.at)
        if not self.adds:
            return NodeMarkStep(True, self.at, self.mark) if self.mark in node.marks else self
        added = with_mark(node.marks, self.mark)
        if len(added) == len(node.marks):
            replaced = [mark for mark in node.marks if mark not in added]
            return NodeMarkStep(True, self.at, replaced[0] if replaced else self.mark)
        return NodeMarkStep(False, self.at, self.mark)

    def map(self, maps: Sequence[StepMap]) -> Step | None:
        found = map_all(maps, self.at, 1)
        return None if found.deleted_after else NodeMarkStep(self.adds, found.position, self.mark)

    @property
    def step_map(self) -> StepMap:
        return StepMap()

    @property
    def json(self) -> Json:
        name = "addNodeMark" if self.adds else "removeNodeMark"
        return {"stepType": name, "pos": self.at, "mark": self.mark.json}


@dataclass(frozen=True, slots=True)
class AttributeStep:
    """Sets one attribute of a node; of the document itself if `at` is None."""

    at: int | None
    name: str
    value: Any

    def _node(self, doc: Node) -> Node:
        return doc if self.at is None else _here(doc, self.at)

    def apply(self, doc: Node) -> Node:
        node = self._node(doc)
        try:
            value = check_attribute(node.kind, self.name, self.value, node.kind.name)
        except SchemaError as error:
            raise StepError(str(error)) from None
        attrs = tuple((n, value if n == self.name else old) for n, old in node.attrs)
        if self.at is None:
            made = Node(node.kind, attrs, node.content, node.marks)
            made.is_sound = True
            return made
        return _renewed(doc, self.at, node, Node(node.kind, attrs, (), node.marks))

    def invert(self, doc: Node) -> Step:
        return AttributeStep(self.at, self.name, self._node(doc).attribute(self.name))

    def map(self, maps: Sequence[StepMap]) -> Step | None:
        if self.at is None:
            return self
        found = map_all(maps, self.at, 1)
        return None if found.deleted_after else AttributeStep(found.position, self.name, self.value)

    @property
    def step_map(self) -> StepMap:
        return StepMap()

    @property
    def json(self) -> Json:
        if self.at is None:
            return {"stepType": "docAttr", "attr": self.name, "value": self.value}
        return {"stepType": "attr", "pos": self.at, "attr": self.name, "value": self.value}
