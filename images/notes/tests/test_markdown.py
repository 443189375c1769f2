"""Tests that CommonMark and GitHub's additions keep their meaning after import and export.

The renderer here is markdown-it-py's own; tests/judges uses others.
"""

import json
import time
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from notes.doc.attributes import Json
from notes.doc.html_writer import html
from notes.doc.markdown_parser import parse
from notes.doc.markdown_writer import markdown
from tests.meaning import harmless, meaning

DATA = Path(__file__).parent / "data"
#: Examples of CommonMark that change their meaning, with the reason.
OTHERWISE = {
    484: "a link without any text shows nothing; nobody could click on it, or find it to remove it",
    487: "the same",
    608: "GitHub's addition: a bare address is a link",
    611: "the same",
    612: "the same, for mail",
}
COMMONMARK: list[Json] = json.loads((DATA / "commonmark-0.31.2.json").read_text())
GFM: list[Json] = json.loads((DATA / "gfm.json").read_text())


def through(text: str) -> str:
    """The Markdown after reading and writing a text; asserts that repeating changes nothing."""
    doc = parse(text)
    out = markdown(doc)
    assert parse(out) == doc, out
    return out


def kept(render: MarkdownIt, examples: list[Json]) -> set[int]:
    """The examples whose meaning afterwards is that of their specification."""
    return {
        example["example"]
        for example in examples
        if meaning(render.render(through(example["markdown"]))) == meaning(example["html"])
    }


def test_commonmark_keeps_its_meaning() -> None:
    render = MarkdownIt("commonmark").enable("strikethrough")
    examples = {example["example"] for example in COMMONMARK}
    assert len(examples) == 652
    assert examples - kept(render, COMMONMARK) == set(OTHERWISE)


@pytest.mark.parametrize("example", GFM, ids=lambda example: example["example"])
def test_what_github_adds_settles_at_once(example: Json) -> None:
    through(example["markdown"])


def shown(text: str) -> str:
    return html(parse(text))


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("<div onclick=x>\n<script>a</script>\n</div>\n", "htmlBlock"),
        ("<!-- a\n\nb -->\n\nc\n", "htmlBlock paragraph"),
        ("a <span class='x'>b</span> <!-- c -->\n", "paragraph"),
        ("- <div>a</div>\n\n- b\n", "bulletList"),
        ("> <details>\n> <summary>a</summary>\n>\n> b\n>\n> </details>\n", "blockquote"),
    ],
)
def test_raw_html_is_kept_and_never_live(text: str, kinds: str) -> None:
    doc = parse(text)
    assert " ".join(block["type"] for block in doc["content"]) == kinds
    assert markdown(doc) == text
    live = html(doc)
    for tag in ("<div", "<script", "<span", "<details", "<!--", "<summary"):
        assert tag not in live
        assert tag not in text or tag.replace("<", "&lt;") in live


@pytest.mark.parametrize(
    "text",
    [
        "[a](javascript:alert(1))", "[a](JaVaScRiPt&#58;alert(1))", "[a](java\tscript:alert(1))",
        "[a](\x01javascript:alert(1))", "<javascript:alert(1)>", "![a](javascript:alert(1))",
        "[a](vbscript:x)", "[a](data:text/html,x)", "[a](&#x6a;avascript:x)", "[a](file:///etc)",
        "[a]: javascript:x\n\n[a]", "<a href='javascript:x' onclick=y>a</a>", "[a](x:y)",
        "[a](ms-msdt:/id)", "<img src=x onerror=alert(1)>", "[a](<  javascript:x>)",
        '[a](https://a.example "onmouseover=\'x\'")', "![\"onerror=x](/a)", "[^\"><script>]: x",
        "a[^'onclick]\n\n[^'onclick]: x", "# \"onclick=x <script>", "[a](\u200bjavascript:x)",
        "```\"><script>\nx\n```", "[a](/p/1\"onclick=x)",
    ],
)  # fmt: skip
def test_nothing_unsafe_comes_out_of_any_markdown(text: str) -> None:
    harmless(shown(text))


def test_headings_have_githubs_anchors() -> None:
    headings = ["Über uns!", "A  b_c-d", "A  b_c-d", "`x` *y*", "A  b_c-d-1", "!", "中文 é"]
    text = "\n\n".join(f"# {heading}" for heading in headings)
    found = [part.partition('"')[0] for part in shown(text).split(' id="')[1:]]
    assert found == ["über-uns", "a--b_c-d", "a--b_c-d-1", "x-y", "a--b_c-d-1-1", "中文-é"]


def test_single_line_breaks_survive() -> None:
    text = "one\ntwo **three\nfour**\n\n- a\n  b\n\n> c\n> d\n"
    assert through(text) == text
    assert "one\ntwo" in shown(text)


def test_tasks_may_be_mixed_and_ordered() -> None:
    for text in ("- [x] a\n- b\n- [ ] c\n", "1. [ ] a\n2. b\n", "- [x] a\n- [ ] b\n"):
        assert len(parse(text)["content"]) == 1
        assert through(text) == text
        assert shown(text).count('class="task"') == text.count("[")
    assert "checked" not in str(parse("- \\[x] a\n- &#91;x] b\n- [x]\\\n"))


def test_footnotes_are_numbered_as_they_are_read() -> None:
    text = "b[^b] a[^A] b[^b] [^c]\n\n[^a]: first\n\n    more\n\n[^b]: second\n\n[^unused]: x\n"
    assert through(text) == text.replace("[^A]", "[^a]").replace("[^c]", "\\[^c\\]")
    live = shown(text)
    assert live.index('href="#fn:b">1<') < live.index('href="#fn:a">2<')
    assert live.index('<li id="fn:b">') < live.index('<li id="fn:a">') < live.index("fn:unused")
    assert live.count('id="fnref:b"') == 1


def test_addresses_of_unknown_schemes_are_kept_but_lead_nowhere() -> None:
    text = "[a](obsidian://open?vault=b) <irc://c.example/d>\n"
    assert through(text) == text
    assert "<a " not in shown(text)


def test_an_escaped_hash_or_box_is_a_text() -> None:
    for content in ("#", "a #", "\\#"):
        line = [{"type": "text", "text": content}]
        doc = {
            "type": "doc",
            "content": [{"type": "heading", "attrs": {"level": 1}, "content": line}],
        }
        assert parse(markdown(doc)) == doc
    for content in ("[x] a", "[ ]", "[X] "):
        line = [{"type": "text", "text": content}]
        item = {"type": "listItem", "content": [{"type": "paragraph", "content": line}]}
        doc = {"type": "doc", "content": [{"type": "bulletList", "content": [item]}]}
        assert parse(markdown(doc)) == doc


SLOW = {
    "[": "[", "![": "![", "[a](": "[a](", "[a](<b": "[a](<b", "emphasis": "*a **a ", "_": "_a ",
    "<!--": "a <!-- ", "<?": "a <? ", "<a b='": "<a b='", "www": "www.", "http": "http://a.b/(",
    "mail": "a@b.", "label": "[^", "labels": "[^a]", "notes": "[^a]:", "u": "<u>", "~": "~a",
    "blocks": "<!--\n\n", "items": "- <!--\n\n", "headings": "# a\n", "cells": "|a", "soft": "a\n",
}  # fmt: skip


@pytest.mark.parametrize("name", SLOW)
def test_reading_and_writing_take_time_in_proportion(name: str) -> None:
    def cost(times: int) -> float:
        text = "[^a]: x\n\n" + SLOW[name] * times
        started = time.process_time()
        doc = parse(text)
        html(doc)
        assert markdown(doc)
        return time.process_time() - started

    cost(100)
    assert cost(4000) < 0.05 + 12 * cost(1000)


def test_closing_brackets_after_a_bare_address_take_time_in_proportion() -> None:
    started = time.process_time()
    parse("http://a" + ")" * 200_000)
    parse("a" * 200_000 + "@b.c")
    assert time.process_time() - started < 2
