"""Tests that documents and Markdown convert to each other without loss."""

import tracemalloc
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from notes.doc import markdown_parser
from notes.doc.attributes import Json, SchemaError
from notes.doc.diff import diff
from notes.doc.excerpt import highlight
from notes.doc.html_writer import html
from notes.doc.markdown_parser import parse
from notes.doc.markdown_writer import markdown
from notes.doc.schema import normalise
from tests.meaning import harmless
from tests.random_documents import DOC, TRICKY, node


@given(DOC)
@settings(max_examples=250, deadline=None)
def test_markdown_keeps_every_document(doc: Json) -> None:
    normal = normalise(doc)
    assert normalise(normal) == normal
    text = markdown(normal)
    assert parse(text) == normal, text
    harmless(html(normal))


@given(
    st.lists(TRICKY | st.text(max_size=8) | st.sampled_from(["\n\n", "\n", "    "])).map("".join)
)
@example("- [ ] a\n- b\n\n1. c\n2) d")
@example("| a | b |\n|---|:-:|\n| `x\\|y` | z |")
@example("[^1]: [^1]: \\\\\x08")
@example("a\n[^1]\\: b\n\n[^1]: c")
@settings(max_examples=400, deadline=None)
def test_any_text_is_a_document_and_settles_at_once(text: str) -> None:
    doc = parse(text)
    assert parse(markdown(doc)) == doc
    harmless(html(doc))


def test_empty_lists_within_each_other_are_no_rule() -> None:
    doc: Json = {"type": "doc", "content": []}
    inner: list[Json] = []
    for _ in range(4):
        inner = [node("bulletList", [node("listItem", inner)])]
    doc["content"] = inner
    normal = normalise(doc)
    assert parse(markdown(normal)) == normal


def test_ordinary_markdown_stays_as_it_is() -> None:
    text = (
        "# Title\n\nSome **bold**, *italic* and `code` with a [link](https://a.example/).\n\n"
        "- one\n- two\n  - nested\n- [link](/p/x)\n\n1. first\n2. second\n\n"
        "- [x] done\n- [ ] open\n"
        "\n> quoted\n\n```python\nprint(1)\n```\n\n| a | b |\n| --- | --: |\n| 1 | 2 |\n\n"
        "line\\\nnext, snake_case & more\n"
    )
    assert markdown(parse(text)) == text


@pytest.mark.parametrize(
    "doc",
    [
        None,
        [],
        {"type": "paragraph"},
        {"type": "doc", "content": "x"},
        {"type": "doc", "content": [{"type": "script"}]},
        {"type": "doc", "content": [{"type": "heading", "attrs": {"level": 9}}]},
        {"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text"}]}]},
        {"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "table"}]}]},
        {"type": "doc", "content": [{"type": "bulletList", "content": [{"type": "paragraph"}]}]},
        {"type": "doc", "content": [{"type": "image", "attrs": {"src": "javascript:alert(1)"}}]},
        {"type": "doc", "content": [{"type": "image", "attrs": {"src": "data:text/html,x"}}]},
        {
            "type": "doc",
            "content": [
                {
                    "type": "paragraph",
                    "content": [
                        {
                            "type": "text",
                            "text": "x",
                            "marks": [
                                {"type": "link", "attrs": {"href": " JaVa\tscript:alert(1)"}}
                            ],
                        }
                    ],
                }
            ],
        },
    ],
)
def test_what_is_no_document_is_refused(doc: Any) -> None:
    with pytest.raises(SchemaError):
        normalise(doc)


@pytest.mark.parametrize("wrong", [["left"], {"a": 1}, 5, None, True])
def test_attributes_of_another_type_do_no_harm(wrong: Any) -> None:
    text = {"type": "text", "text": "x"}
    cell = {
        "type": "tableCell",
        "attrs": {"align": wrong},
        "content": [{"type": "paragraph", "content": [text]}],
    }
    rows = [{"type": "tableRow", "content": [cell]}]
    made = normalise({"type": "doc", "content": [{"type": "table", "content": rows}]})
    assert "align" not in str(made)
    for line in (
        {"type": "paragraph", "content": [{**text, "marks": [{"type": wrong}]}]},
        {"type": "heading", "attrs": {"level": True}, "content": [text]},
    ):
        with pytest.raises(SchemaError):
            normalise({"type": "doc", "content": [line]})


def test_marks_within_each_other_cost_no_more_than_their_number() -> None:
    nested = "*a " * 1_500 + "b* " * 1_500
    unclosed = "<u>" * 4_000 + "x" + "</b>" * 4_000
    for text in (nested, unclosed):
        tracemalloc.start()
        doc = parse(text)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 40_000_000
        assert parse(markdown(doc)) == doc


def test_markdown_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown_parser, "MAX_CPU_S", 0.2)
    with pytest.raises(SchemaError):
        parse("[" * 100_000)
    assert parse("[one](/p/1)")["content"][0]["content"][0]["text"] == "one"


@pytest.mark.parametrize(("old", "new"), [(190, 7), (190, 190)])
def test_versions_of_many_equal_lines_are_compared(old: int, new: int) -> None:
    head, tail = [f"head {n}\n" for n in range(50)], [f"tail {n}\n" for n in range(50)]
    before = "".join([*head, *(f"{n % old}\n" for n in range(20_000)), *tail])
    after = "".join([*head, *(f"{n * 7 % new}\n" for n in range(20_000)), *tail])
    pieces = diff(before, after)
    assert "".join(p.text for p in pieces if p.kind != "added") == before
    assert "".join(p.text for p in pieces if p.kind != "removed") == after
    assert pieces[0].kind == pieces[-1].kind == "same"


def test_depth_is_bounded() -> None:
    doc: Json = {"type": "paragraph"}
    for _ in range(60):
        doc = {"type": "blockquote", "content": [doc]}
    with pytest.raises(SchemaError):
        normalise({"type": "doc", "content": [doc]})


def test_a_dangerous_link_in_markdown_becomes_text() -> None:
    doc = parse("[click](javascript:alert(1)) ![x](data:text/html;base64,xx)")
    assert "javascript" not in str(doc)
    assert doc["content"][0]["content"] == [{"type": "text", "text": "click x"}]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("x " * 500 + "a needle here", "needle"),
        ("needless " * 300 + "then a needle", "needle"),
        ("ü " * 500 + "a needle here", "needle"),
        ("no such thing " * 100, "needle"),
    ],
)
def test_an_excerpt_is_taken_from_around_the_first_hit(text: str, word: str) -> None:
    fragments = highlight(text, [word])
    joined = "".join(f.text for f in fragments)
    assert joined in text
    assert len(joined) < 400
    assert any(f.hit for f in fragments) is (word in text)
