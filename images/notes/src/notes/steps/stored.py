"""Stored documents and stored edits: parsed, applied, written."""

from collections.abc import Sequence
from typing import Any

import msgspec

from notes.doc.attributes import SchemaError
from notes.doc.schema import MAX_NODES, normalise
from notes.steps.model import Node, StepError
from notes.steps.reading import document
from notes.steps.step_json import MAX_STEPS, apply_all, step_from
from notes.steps.steps import ReplaceAroundStep, ReplaceStep


def parse(content: bytes) -> Node:
    """A stored document; one that an older version stored is brought to its normal form first."""
    given = msgspec.json.decode(content)
    try:
        return document(given)
    except (SchemaError, StepError):
        return document(normalise(given))


def applied(doc: Node, steps: bytes) -> Node:
    """The document after the steps of a stored edit."""
    given = msgspec.json.decode(steps)
    return apply_all(doc, [step_from(one, f"steps[{at}]") for at, one in enumerate(given)])


def checked_steps(given: Any) -> bytes:
    """Many steps as this application writes them; each can be read. Raises `SchemaError`.

    Together they may have as many nodes as a page, so that there is room to apply them. An escaped
    letter could hide a mention from who looks for one in the JSON.
    """
    if not isinstance(given, list) or len(given) > MAX_STEPS:
        raise SchemaError("steps", f"this is a list of at most {MAX_STEPS} steps")
    nodes = 0
    for at, one in enumerate(given):
        try:
            step = step_from(one, f"steps[{at}]")
        except StepError as error:
            raise SchemaError(f"steps[{at}]", str(error)) from None
        if isinstance(step, ReplaceStep | ReplaceAroundStep):
            nodes += sum(node.nodes for node in step.part.content)
        if nodes > MAX_NODES:
            raise SchemaError(f"steps[{at}]", f"more than {MAX_NODES} nodes")
    return msgspec.json.encode(given)


def replayed(doc: bytes, edits: Sequence[bytes]) -> bytes:
    """A stored document after edits, each a list of steps. Raises `SchemaError`."""
    made = parse(doc)
    try:
        for steps in edits:
            made = applied(made, steps)
    except StepError as error:
        raise SchemaError("edits", str(error)) from None
    return msgspec.json.encode(made.json)
