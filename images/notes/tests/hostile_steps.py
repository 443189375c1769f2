"""Hostile steps and fields of an edit, each with the field that its refusal names."""

from typing import Any
from uuid import uuid4

from notes.doc.attributes import Json
from notes.steps.reading import MAX_NESTING
from notes.steps.step_json import MAX_POSITION
from tests.editing import HELLO, LINE, typed

URL = "steps[0].slice.content[0].marks[0].attrs.href"
SLICE = "steps[0].slice"
FIRST = f"{SLICE}.content[0]"


def linked(href: Any) -> Json:
    return typed("x", marks=[{"type": "link", "attrs": {"href": href}}])


def put(*nodes: Any, at: Any = 0, **of_slice: Any) -> Json:
    part = {"content": list(nodes), **of_slice}
    return {"stepType": "replace", "from": at, "to": at, "slice": part}


def nested(levels: int) -> Json:
    inner = LINE
    for _ in range(levels):
        inner = {"type": "blockquote", "content": [inner]}
    return inner


def cell(**attrs: Any) -> Json:
    row = {
        "type": "tableRow",
        "content": [{"type": "tableCell", "attrs": attrs, "content": [LINE]}],
    }
    return {"type": "table", "content": [row]}


def row(cells: int) -> Json:
    one = {"type": "tableCell", "content": [{"type": "paragraph"}]}
    return {"type": "tableRow", "content": [one] * cells}


def around(**more: Any) -> Json:
    given = {"from": 0, "to": 9, "gapFrom": 0, "gapTo": 9, "insert": 0, "slice": {"content": []}}
    return {"stepType": "replaceAround", **given, **more}


def marking(kind: Any, begin: Any = 1, end: Any = 3) -> Json:
    return {"stepType": "addMark", "from": begin, "to": end, "mark": {"type": kind}}


#: The steps of an edit.
STEPS: dict[str, tuple[Any, str]] = {
    "no step": ([None], "steps[0]"),
    "a text for a step": (["replace"], "steps[0]"),
    "no kind": ([{"from": 0, "to": 0}], "steps[0]"),
    "an unknown kind": ([{"stepType": "drop", "from": 0, "to": 9}], "steps[0]"),
    "a kind that is a list": ([{"stepType": ["replace"]}], "steps[0]"),
    "an unknown field": ([{**typed("x"), "author": "Bob"}], "steps[0].author"),
    "an unknown node": ([put({"type": "script", "content": []})], FIRST),
    "a node that is a list": ([put([LINE])], FIRST),
    "an unknown mark": ([typed("x", marks=[{"type": "blink"}])], f"{FIRST}.marks[0]"),
    "a mark with attributes of its own": (
        [typed("x", marks=[{"type": "bold", "attrs": {"onclick": "x"}}])],
        f"{FIRST}.marks[0].attrs.onclick",
    ),
    "an unknown mark for a range": ([marking("blink")], "steps[0].mark"),
    "a mark whose kind is an object": ([marking({})], "steps[0].mark"),
    "a paragraph in a text": ([put(LINE, at=3)], "steps[0]"),
    "a document in a document": ([put(HELLO)], "steps[0]"),
    "a document without blocks": ([{"stepType": "replace", "from": 0, "to": 10}], "steps[0]"),
    "a link that runs code": ([linked("javascript:alert(1)")], URL),
    "a link that runs code, in capitals": ([linked(" JaVaScript:alert(1)")], URL),
    "a link that runs code, with a line break": ([linked("java\nscript:alert(1)")], URL),
    "a link that runs code, after a control character": ([linked("\x01 javascript:alert(1)")], URL),
    "a link that runs code, as data": ([linked("data:text/html,<script>1</script>")], URL),
    "a link that is an object": ([linked({"toString": "javascript:1"})], URL),
    "a picture that runs code": (
        [put({"type": "image", "attrs": {"src": "javascript:alert(1)"}}, at=1)],
        f"{FIRST}.attrs.src",
    ),
    "an attribute that runs code": (
        [{"stepType": "attr", "pos": 0, "attr": "onclick", "value": "x"}],
        "steps[0]",
    ),
    "an attribute of the document": (
        [{"stepType": "docAttr", "attr": "onclick", "value": "x"}],
        "steps[0]",
    ),
    "an attribute whose name is a list": (
        [{"stepType": "attr", "pos": 0, "attr": ["level"], "value": 1}],
        "steps[0].attr",
    ),
    "a huge attribute": (
        [put({"type": "codeBlock", "attrs": {"language": "x" * 10_001}})],
        f"{FIRST}.attrs.language",
    ),
    "a huge address": ([linked("https://example.org/" + "a" * 4_001)], URL),
    "an attribute that is an object": (
        [put({"type": "codeBlock", "attrs": {"language": {}}})],
        f"{FIRST}.attrs.language",
    ),
    "an alignment that is a list": (
        [put(cell(align=["left"]))],
        f"{FIRST}.content[0].content[0].attrs.align",
    ),
    "a level that is no whole number": (
        [put({**LINE, "type": "heading", "attrs": {"level": 1.5}})],
        f"{FIRST}.attrs.level",
    ),
    "a position after the end": ([typed("x", 100)], "steps[0]"),
    "a position far outside": ([typed("x", MAX_POSITION)], "steps[0]"),
    "a position before the beginning": ([typed("x", -1)], "steps[0].from"),
    "a position that is no whole number": ([put(LINE, at=0.5)], "steps[0].from"),
    "a position that is a text": ([put(LINE, at="0")], "steps[0].from"),
    "a position that is true": ([put(LINE, at=True)], "steps[0].from"),
    "no position": ([put(LINE, at=None)], "steps[0].from"),
    "a position beyond 64 bits": ([put(LINE, at=2**70)], "steps[0].from"),
    "an end before the beginning": ([{"stepType": "replace", "from": 5, "to": 2}], "steps[0]"),
    "a mark outside": ([marking("bold", 1, 999)], "steps[0]"),
    "a gap outside": ([around(gapFrom=3, gapTo=99)], "steps[0]"),
    "a gap that ends before it begins": ([around(gapFrom=7, gapTo=2)], "steps[0]"),
    "a place for the gap outside of the slice": ([around(insert=7)], "steps[0].insert"),
    "a slice that is open without levels": ([put(openStart=3)], SLICE),
    "a slice that is open below zero": ([put(LINE, openStart=-1)], SLICE),
    "a slice that is open by halves": ([put(LINE, openStart=0.5)], SLICE),
    "a slice that is open at more levels than it has": (
        [put({"type": "paragraph"}, openStart=2)],
        SLICE,
    ),
    "too many levels": ([put(nested(60))], "steps[0]"),
    "far too many levels": ([put(nested(300))], FIRST + ".content[0]" * (MAX_NESTING + 1)),
    "a table with a million cells": (
        [put({"type": "table", "content": [row(1_000), *([row(1)] * 999)]})],
        "steps[0]",
    ),
    "many steps": ([typed("x")] * 501, "steps"),
    "many steps in one": (
        [{"stepType": "markSet", "steps": [marking("bold")] * 501}],
        "steps[0].steps",
    ),
    "many steps in two": (
        [{"stepType": "markSet", "steps": [marking("bold")] * 400}] * 2,
        "steps",
    ),
    "steps that are a text": ("typed", "steps"),
}
#: Other fields of an edit.
FIELDS: dict[str, tuple[Json, str]] = {
    "no number": ({"n": None}, "n"),
    "a number below zero": ({"n": -1}, "n"),
    "a number beyond 64 bits": ({"n": 2**63}, "n"),
    "a base below zero": ({"base_seq": -1}, "base_seq"),
    "a base that is no id": ({"base_id": "1 OR 1=1"}, "base_id"),
    "a client that is no id": ({"client": "'"}, "client"),
    "another author": ({"author_id": str(uuid4())}, "author_id"),
    "a huge title": ({"title": "x" * 100_000}, "title"),
    "a title that is an object": ({"title": {}}, "title"),
}
