"""Stored documents and stored edits: parsed, applied, written."""

from collections.abc import Sequence

import msgspec

from notes.doc.attributes import SchemaError
from notes.doc.schema import normalise
from notes.steps.model import Node, StepError
from notes.steps.reading import document
from notes.steps.step_json import apply_all, step_from


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


def replayed(doc: bytes, edits: Sequence[bytes]) -> bytes:
    """A stored document after edits, each a list of steps. Raises `SchemaError`."""
    made = parse(doc)
    try:
        for steps in edits:
            made = applied(made, steps)
    except StepError as error:
        raise SchemaError("edits", str(error)) from None
    return msgspec.json.encode(made.json)
