"""Tests that Markdown keeps its meaning after import, pasting and export, with reference renderers.

commonmark.js renders the 652 examples of CommonMark, cmark-gfm those of GitHub's additions.
"""

import json
import subprocess
from pathlib import Path

import pytest

from notes.doc.attributes import Json
from notes.doc.markdown_parser import parse
from notes.doc.markdown_writer import markdown
from tests.judges.programs import HERE, node
from tests.meaning import meaning
from tests.test_markdown import COMMONMARK, GFM, OTHERWISE, through

pytestmark = pytest.mark.judge
EXTENSIONS = ("table", "strikethrough", "autolink", "tasklist", "footnotes")


def commonmark_js(texts: list[str]) -> list[str]:
    done = subprocess.run(
        ["node", str(HERE / "commonmark.mjs")], input=json.dumps(texts),
        capture_output=True, text=True, check=True, cwd=HERE, timeout=120,
    )  # fmt: skip
    rendered: list[str] = json.loads(done.stdout)
    return rendered


def cmark_gfm(text: str) -> str:
    extensions = [part for name in EXTENSIONS for part in ("-e", name)]
    return subprocess.run(
        ["cmark-gfm", "--unsafe", *extensions],
        input=text, capture_output=True, text=True, check=True, timeout=20,
    ).stdout  # fmt: skip


def lost(written: list[str]) -> set[str]:
    """The examples of CommonMark that have another meaning as they were written again."""
    # `<del>` is written as GitHub's strikethrough, which this renderer does not know.
    rendered = commonmark_js(written)
    found = {
        example["example"]
        for example, text, html in zip(COMMONMARK, written, rendered, strict=True)
        if meaning(html) != meaning(example["html"])
        and meaning(cmark_gfm(text)) != meaning(example["html"])
    }
    print("CommonMark examples that keep their meaning:", 652 - len(found), "of 652")
    return found


def test_commonmark_js_reads_the_same() -> None:
    assert [meaning(h) for h in commonmark_js([e["markdown"] for e in COMMONMARK])] == [
        meaning(e["html"]) for e in COMMONMARK
    ]
    assert lost([through(e["markdown"]) for e in COMMONMARK]) == set(OTHERWISE)


def pasted(texts: list[str], tmp_path: Path) -> list[Json]:
    """The documents of Markdown texts that are pasted into an empty page of the editor."""
    given, made = tmp_path / "texts.json", tmp_path / "documents.json"
    given.write_text(json.dumps(texts))
    done = node("pasted_markdown.mjs", str(given), str(made), timeout_s=120)
    assert done.returncode == 0, done.stdout + done.stderr
    found: list[Json] = json.loads(made.read_text())
    return found


def test_pasted_markdown_is_read_as_the_import_reads_it(tmp_path: Path) -> None:
    texts = [e["markdown"] for e in (*COMMONMARK, *GFM)]
    found = pasted(texts, tmp_path)
    unlike = [t for t, doc in zip(texts, found, strict=True) if doc != parse(t)]
    assert unlike == []
    assert lost([markdown(doc) for doc in found[: len(COMMONMARK)]]) == set(OTHERWISE)


@pytest.mark.parametrize("example", GFM, ids=lambda example: example["example"])
def test_cmark_gfm_reads_the_same(example: Json) -> None:
    expected = meaning(cmark_gfm(example["markdown"]))
    assert meaning(cmark_gfm(through(example["markdown"]))) == expected
