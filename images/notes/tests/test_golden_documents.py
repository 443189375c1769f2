"""Writes and checks the golden documents: the browser must read and render them as the server does.

`UPDATE_GOLDEN=1` writes them, and the schema by which the browser applies edits; the unit tests of
`web/` compare the browser's HTML with them, and the editor must return them unchanged.
"""

import json
import os
from pathlib import Path

from notes.doc.html_writer import html
from notes.doc.markdown_parser import parse
from notes.doc.schema import normalise
from notes.steps.reading import document
from tests.prosemirror_schema import schema

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "web/test/golden/documents.json"
SCHEMA = HERE.parent / "web/src/doc/schema.json"
OWN = {
    "marks": "**b** *i* ~~s~~ `c` <u>u</u> <mark>m</mark> x<sub>1</sub> "
    "[l **b**](https://a.example 't')\n",
    "lists": "1. a\n2. b\n\n3) c\n\n- [x] done\n- [ ] open\n\n- p\n\n  q\n  - deep\n",
    "table": "| a | b |\n| :-- | --: |\n| 1 | **2** |\n| | x |\n",
    "code": "```py\nx = 1 < 2\n```\n\n    plain\n",
    "headings": "# A b\n\n# A b\n\n###### Six\n\n# *Ü* & `c`\n",
    "footnotes": "a[^n] b[^m] c[^n]\n\n[^m]: M.\n\n[^n]: N.\n\n    More.\n",
    "links": "[p](/p/01234567-89ab-cdef-0123-456789abcdef#x) [s](sms:1) ![alt](/a.png 'T') ![x](ftp://a)\n",
    "mentions": "[@Ada **L**](mention:01234567-89ab-cdef-0123-456789abcdef) or [@Bob](Mention:)\n",
    "files": "[a.webm](/api/v1/attachments/01234567-89ab-cdef-0123-456789abcdef)\n\n"
    "[b.MP3](/api/v1/attachments/01234567-89ab-cdef-0123-456789abcdef)\n\n"
    "[c<.pdf](/api/v1/attachments/01234567-89ab-cdef-0123-456789abcdef?download=true)\n\n"
    "[d.mp4](https://evil.example/api/v1/attachments/01234567-89ab-cdef-0123-456789abcdef)\n\n"
    "see [e.mp4](/api/v1/attachments/01234567-89ab-cdef-0123-456789abcdef)\n\n"
    "[f.zip](/api/v1/attachments/01234567-89ab-cdef-0123-456789abcdef)\n",
    "html": "<div>\n<b>x</b>\n</div>\n\na <x-y> b\\\nc\nd\n\n> q\n\n---\n",
}


def documents() -> list[dict[str, object]]:
    """Each golden document with its name, its Markdown and the server's HTML."""
    spec = json.loads((HERE / "data/commonmark-0.31.2.json").read_text())
    sources = OWN | {f"CommonMark {one['example']}": one["markdown"] for one in spec[::6]}
    found = list[dict[str, object]]()
    for name, markdown in sources.items():
        doc = parse(markdown)
        found.append({"name": name, "markdown": markdown, "doc": doc, "html": html(doc)})
    return found


def test_the_golden_documents_are_current() -> None:
    text = json.dumps(documents(), ensure_ascii=False, separators=(",", ":")).replace(
        '},{"name"', '},\n{"name"'
    )
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text + "\n")
    assert GOLDEN.read_text() == text + "\n", "UPDATE_GOLDEN=1 writes them"


def test_an_editor_s_steps_apply_to_every_golden_document() -> None:
    for one in documents():
        assert document(one["doc"]).json == normalise(one["doc"]) == one["doc"], one["name"]


def test_the_browser_s_schema_is_the_server_s() -> None:
    text = json.dumps(schema(), indent=2) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        SCHEMA.write_text(text)
    assert json.loads(SCHEMA.read_text()) == schema(), "UPDATE_GOLDEN=1 writes it"
