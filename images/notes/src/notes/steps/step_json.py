"""Reads steps from their JSON, strictly, and applies them.

Invariant: an unknown step or field is refused, never dropped.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from notes.doc.attributes import Json, SchemaError
from notes.steps.checks import check_limits
from notes.steps.mark_steps import AttributeStep, MarkSetStep, MarkStep, NodeMarkStep
from notes.steps.marks import mark_of
from notes.steps.model import Node, StepError
from notes.steps.reading import slice_from
from notes.steps.schema import only
from notes.steps.steps import ReplaceAroundStep, ReplaceStep, Step

MAX_POSITION = 2**31 - 1
MAX_STEPS = 500


def _position(given: Json, name: str, path: str) -> int:
    value = given.get(name)
    if type(value) is not int or not 0 <= value <= MAX_POSITION:
        raise SchemaError(f"{path}.{name}", "a position is a whole number")
    return value


def _replace(given: Json, path: str) -> Step:
    only(given, {"stepType", "from", "to", "slice", "structure"}, path)
    return ReplaceStep(
        _position(given, "from", path),
        _position(given, "to", path),
        slice_from(given.get("slice"), f"{path}.slice"),
        _structure(given, path),
    )


def _replace_around(given: Json, path: str) -> Step:
    names = {"from", "to", "gapFrom", "gapTo", "insert"}
    only(given, names | {"stepType", "slice", "structure"}, path)
    part = slice_from(given.get("slice"), f"{path}.slice")
    at = {name: _position(given, name, path) for name in names}
    if at["insert"] > part.size:
        raise SchemaError(f"{path}.insert", "this is a position in the slice")
    return ReplaceAroundStep(
        at["from"],
        at["to"],
        at["gapFrom"],
        at["gapTo"],
        part,
        at["insert"],
        _structure(given, path),
    )


def _structure(given: Json, path: str) -> bool:
    value = given.get("structure", False)
    if not isinstance(value, bool):
        raise SchemaError(f"{path}.structure", "this is true or false")
    return value


def _mark(adds: bool) -> Callable[[Json, str], Step]:
    def read(given: Json, path: str) -> Step:
        only(given, {"stepType", "from", "to", "mark"}, path)
        begin, end = _position(given, "from", path), _position(given, "to", path)
        return MarkStep(adds, begin, end, mark_of(given.get("mark"), f"{path}.mark"))

    return read


def _node_mark(adds: bool) -> Callable[[Json, str], Step]:
    def read(given: Json, path: str) -> Step:
        only(given, {"stepType", "pos", "mark"}, path)
        return NodeMarkStep(
            adds, _position(given, "pos", path), mark_of(given.get("mark"), f"{path}.mark")
        )

    return read


def _mark_set(given: Json, path: str) -> Step:
    only(given, {"stepType", "steps"}, path)
    steps = given.get("steps")
    if not isinstance(steps, list) or len(steps) > MAX_STEPS:
        raise SchemaError(f"{path}.steps", f"this is a list of at most {MAX_STEPS} mark steps")
    found = [step_from(one, f"{path}.steps[{at}]") for at, one in enumerate(steps)]
    marks = tuple(step for step in found if isinstance(step, MarkStep))
    if len(marks) != len(found):
        raise SchemaError(f"{path}.steps", "only mark steps can be here")
    return MarkSetStep(marks)


def _attribute(given: Json, path: str, *, of_doc: bool) -> Step:
    only(given, {"stepType", "attr", "value"} | (set() if of_doc else {"pos"}), path)
    name = given.get("attr")
    if not isinstance(name, str):
        raise SchemaError(f"{path}.attr", "this is the name of an attribute")
    return AttributeStep(
        None if of_doc else _position(given, "pos", path), name, given.get("value")
    )


_READERS: Mapping[str, Callable[[Json, str], Step]] = {
    "replace": _replace,
    "replaceAround": _replace_around,
    "addMark": _mark(adds=True),
    "removeMark": _mark(adds=False),
    "markSet": _mark_set,
    "addNodeMark": _node_mark(adds=True),
    "removeNodeMark": _node_mark(adds=False),
    "attr": lambda given, path: _attribute(given, path, of_doc=False),
    "docAttr": lambda given, path: _attribute(given, path, of_doc=True),
}


def step_from(given: Any, path: str) -> Step:
    """A step from its JSON. Raises `SchemaError`."""
    kind = given.get("stepType") if isinstance(given, dict) else None
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise SchemaError(path, f"{str(kind)[:40]!r} is no step")
    if kind == "markSet" and ".steps" in path:
        raise SchemaError(path, "only mark steps can be here")
    return reader(given, path)


def apply_all(doc: Node, steps: Sequence[Step], most: int | None = None) -> Node:
    """The document after all steps. Raises a `StepError` that names the step.

    With `most` also if steps times nodes become more, since a step may make the document large
    for those after it; the first step may always be applied.
    """
    work = 0
    for at, step in enumerate(steps):
        try:
            work += doc.work * (len(step.steps) if isinstance(step, MarkSetStep) else 1)
            if most is not None and at and work > most:
                raise StepError("too much work for one edit; send the rest in several edits")
            doc = step.apply(doc)
            check_limits(doc)
        except StepError as error:
            raise StepError(f"steps[{at}]: {error}") from None
    return doc
