"""Tests that hostile steps are refused with their place, and that applied ones can be saved."""

import json
import time
from typing import Any

import pytest

from notes.doc.attributes import SchemaError
from notes.doc.schema import normalise
from notes.steps.model import Node, StepError
from notes.steps.reading import document
from notes.steps.step_json import apply_all, step_from
from tests.random_steps import Chance

EMPTY = {"type": "doc", "content": [{"type": "paragraph"}]}


def line(text: str, *marks: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "text", "text": text}
    return made | ({"marks": list(marks)} if marks else {})


def doc_of(*blocks: Any) -> Node:
    return document({"type": "doc", "content": list(blocks)})


def paragraph(text: str) -> dict[str, Any]:
    return {"type": "paragraph", "content": [line(text)]}


def replacing(begin: int, end: int, *content: Any, **more: Any) -> dict[str, Any]:
    return {
        "stepType": "replace",
        "from": begin,
        "to": end,
        "slice": {"content": list(content), **more},
    }


def nested(levels: int) -> dict[str, Any]:
    node = paragraph("x")
    for _ in range(levels):
        node = {"type": "blockquote", "content": [node]}
    return node


LINK = {"type": "link", "attrs": {"href": " java\nscript:alert(1)"}}
UNREADABLE = {
    "an unknown step": ({"stepType": "evil"}, "step"),
    "no step": ([], "step"),
    "an unknown field": ({"stepType": "replace", "from": 0, "to": 0, "x": 1}, "step.x"),
    "a text as position": ({"stepType": "replace", "from": "0", "to": 0}, "step.from"),
    "a negative position": ({"stepType": "replace", "from": 0, "to": -1}, "step.to"),
    "an unknown node": (replacing(0, 0, {"type": "script"}), "step.slice.content[0]"),
    "an unknown mark": (
        replacing(1, 1, line("x", {"type": "blink"})),
        "step.slice.content[0].marks[0]",
    ),
    "an unknown attribute": (
        replacing(0, 0, {"type": "paragraph", "attrs": {"onclick": "x"}}),
        "step.slice.content[0].attrs.onclick",
    ),
    "an empty text": (replacing(1, 1, line("")), "step.slice.content[0]"),
    "a link that is code": (
        replacing(1, 1, line("x", LINK)),
        "step.slice.content[0].marks[0].attrs.href",
    ),
    "a mark that is code": (
        {"stepType": "addMark", "from": 1, "to": 2, "mark": LINK},
        "step.mark.attrs.href",
    ),
    "an image that is code": (
        replacing(1, 1, {"type": "image", "attrs": {"src": "data:text/html,x"}}),
        "step.slice.content[0].attrs.src",
    ),
    "a heading of level 9": (
        replacing(0, 0, {"type": "heading", "attrs": {"level": 9}}),
        "step.slice.content[0].attrs.level",
    ),
    "a slice open where it is not": (replacing(0, 0, paragraph("x"), openStart=2), "step.slice"),
    "a thousand levels": (replacing(0, 0, nested(1000)), None),
    "a set within a set": (
        {"stepType": "markSet", "steps": [{"stepType": "markSet", "steps": []}]},
        "step.steps[0]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREADABLE)
def test_hostile_json_is_refused_with_its_place(name: str) -> None:
    given, path = UNREADABLE[name]
    with pytest.raises(SchemaError) as refused:
        step_from(given, "step")
    if path is not None:
        assert refused.value.path == path


WRONG = {"type": "bulletList", "content": [paragraph("x")]}
CELL = {"type": "tableCell", "content": [{"type": "paragraph"}]}
INAPPLICABLE = {
    "outside of the document": replacing(100, 100, paragraph("x")),
    "before its begin": {"stepType": "replace", "from": 3, "to": 1},
    "a block in a line": replacing(1, 1, paragraph("x")),
    "a text between blocks": replacing(0, 0, line("x")),
    "an empty document": {"stepType": "replace", "from": 0, "to": 5},
    "a wrong node deep in the slice": replacing(0, 0, {"type": "blockquote", "content": [WRONG]}),
    "marks on a block": {"stepType": "addNodeMark", "pos": 0, "mark": {"type": "bold"}},
    "half a character": {"stepType": "replace", "from": 1, "to": 2},
    "more than 40 levels": replacing(0, 0, nested(41)),
    "an attribute of the document": {"stepType": "docAttr", "attr": "x", "value": 1},
    "an attribute of no node": {"stepType": "attr", "pos": 0, "attr": "src", "value": "/x"},
    "a gap outside of the range": {
        "stepType": "replaceAround", "from": 2, "to": 3, "gapFrom": 0, "gapTo": 5, "insert": 0,
    },
    "a huge table": replacing(0, 0, {"type": "table", "content": [
        {"type": "tableRow", "content": [CELL] * n} for n in (400, *[1] * 400)
    ]}),
}  # fmt: skip


@pytest.mark.parametrize("name", INAPPLICABLE)
def test_a_step_that_breaks_the_document_is_refused(name: str) -> None:
    doc = doc_of(paragraph("🙂b"))
    before = doc.json
    step = step_from(INAPPLICABLE[name], "step")
    with pytest.raises(StepError, match=r"^steps\[1\]: "):
        apply_all(doc, [step_from(replacing(4, 4, line("c")), "step"), step])
    assert doc.json == before


def test_positions_count_utf16_units() -> None:
    doc = doc_of(paragraph("🙂b"))
    assert doc.content_size == 5
    made = apply_all(doc, [step_from(replacing(3, 4, line("é𝔸")), "step")])
    assert made.json["content"] == [paragraph("🙂é𝔸")]


def test_a_large_document_takes_a_step_in_milliseconds() -> None:
    doc = doc_of(*[paragraph("some text of a line")] * 10_000)
    step = step_from(replacing(100_001, 100_001, line("x")), "step")
    begun = time.thread_time()
    for _ in range(10):
        doc = apply_all(doc, [step])
    assert (time.thread_time() - begun) / 10 < 0.1


@pytest.mark.parametrize("seed", range(150))
def test_random_steps_keep_a_document_that_can_be_saved(seed: int) -> None:
    chance = Chance(seed)
    doc = document(chance.doc())
    for _ in range(20):
        given = chance.step(doc)
        step = step_from(json.loads(json.dumps(given)), "step")
        assert step_from(json.loads(json.dumps(step.json)), "step") is not None
        try:
            made = apply_all(doc, [step])
        except StepError:
            continue
        assert step.invert(doc).apply(made).json == doc.json
        doc = made
        assert document(doc.json) == doc
        document(normalise(doc.json))
