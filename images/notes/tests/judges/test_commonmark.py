"""Tests that Markdown keeps its meaning after import and export, with reference renderers.

commonmark.js renders the 652 examples of CommonMark, cmark-gfm those of GitHub's additions.
"""

import json
import subprocess

import pytest

from notes.doc.attributes import Json
from tests.judges.programs import HERE
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


def test_commonmark_js_reads_the_same() -> None:
    assert [meaning(h) for h in commonmark_js([e["markdown"] for e in COMMONMARK])] == [
        meaning(e["html"]) for e in COMMONMARK
    ]
    # `<del>` is written as GitHub's strikethrough, which this renderer does not know.
    rendered = commonmark_js([through(e["markdown"]) for e in COMMONMARK])
    lost = {
        example["example"]
        for example, html in zip(COMMONMARK, rendered, strict=True)
        if meaning(html) != meaning(example["html"])
        and meaning(cmark_gfm(through(example["markdown"]))) != meaning(example["html"])
    }
    print("CommonMark examples that keep their meaning:", 652 - len(lost), "of 652")
    assert lost == set(OTHERWISE)


@pytest.mark.parametrize("example", GFM, ids=lambda example: example["example"])
def test_cmark_gfm_reads_the_same(example: Json) -> None:
    expected = meaning(cmark_gfm(example["markdown"]))
    assert meaning(cmark_gfm(through(example["markdown"]))) == expected
