"""Tests imports of Outline's and BookStack's exports.

The archives have the structures that these sources describe or create:
- Outline: its tasks ExportMarkdownZipTask, ExportDocumentTreeTask and ExportJSONTask, its type
  CollectionJSONExport, and the files outline-markdown.zip among its tests' fixtures;
- BookStack: "Portable ZIP File Format" in its developer documentation.
"""

import base64
import json
from typing import Any

import pytest

from tests.imported import PNG, Imported
from tests.replica import Client
from tests.zips import zipped

UPLOAD = "292079f8-0319-4111-bb5b-315e8ae8f14e/1404836c-5a24-4d38-ae53-ff63f03f9ebf/image.png"
ATTACHED = "22222222-2222-4222-8222-222222222222"


@pytest.mark.parametrize("folder", ["uploads", "public"])
def test_an_outline_export_in_markdown(admin: Client, folder: str) -> None:
    done = Imported(
        admin,
        zipped(
            (
                "Team/A%2FB plan.md",
                b"# A/B plan\n\nSee [notes](./A%252FB%20plan/Notes.md)\n"
                b"\n\\\n\n:::warning\nThis is **bad**.\n\n:::\n\n"
                b"- [ ] open\n- [x] done\n\n"
                + f"![](./{folder}/{UPLOAD})\n\n[gone](/doc/roadmap-pGIdT6co6u)\n".encode(),
            ),
            ("Team/A%2FB plan/Notes.md", f"# Notes\n\n![]({folder}/{UPLOAD})\n".encode()),
            (f"Team/{folder}/{UPLOAD}", PNG),
            (f"Team/{folder}/.DS_Store", b"x"),
            ("__MACOSX/Team/._Notes.md", b"x"),
        ),
    )
    assert done.job["result"]["source"] == "an Outline export"
    assert done.above == {"Team": None, "A/B plan": "Team", "Notes": "A/B plan"}
    text = done.text("A/B plan")
    assert "[notes](PAGE:Notes)" in text
    assert "> **Warning**" in text
    assert "> This is **bad**." in text
    assert "- [ ] open\n- [x] done" in text
    assert "![](FILE:image.png)" in text
    assert "(/doc/roadmap-pGIdT6co6u)" in text
    assert ":::" not in text
    assert "\\\n\n" not in text
    assert "![](FILE:image.png)" in done.text("Notes")
    assert done.files("A/B plan") == ["image.png"]


def text_node(text: str, *marks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "text", "text": text, **({"marks": list(marks)} if marks else {})}


def outline_document() -> dict[str, Any]:
    """A document of the editor's nodes, with a link, an attached picture and an unknown node."""
    link = {"type": "link", "attrs": {"href": "/doc/second-AbCdEf1234"}}
    return {
        "type": "doc",
        "content": [
            {"type": "heading", "attrs": {"level": 2}, "content": [text_node("Head")]},
            {
                "type": "paragraph",
                "content": [
                    text_node("see ", {"type": "strong"}),
                    text_node("it", link),
                    {"type": "br"},
                    {"type": "mention", "attrs": {"type": "user", "label": "Ann"}},
                    {"type": "image", "attrs": {"src": f"/api/attachments.redirect?id={ATTACHED}"}},
                ],
            },
            {
                "type": "checkbox_list",
                "content": [
                    {
                        "type": "checkbox_item",
                        "attrs": {"checked": True},
                        "content": [{"type": "paragraph", "content": [text_node("done")]}],
                    }
                ],
            },
            {
                "type": "container_notice",
                "attrs": {"style": "tip"},
                "content": [{"type": "paragraph", "content": [text_node("mind")]}],
            },
            {"type": "code_fence", "attrs": {"language": "sql"}, "content": [text_node("SELECT")]},
            {
                "type": "table",
                "content": [
                    {
                        "type": "tr",
                        "content": [
                            {
                                "type": kind,
                                "attrs": {"alignment": None},
                                "content": [{"type": "paragraph", "content": [text_node(kind)]}],
                            }
                        ],
                    }
                    for kind in ("th", "td")
                ],
            },
            {"type": "something_new", "content": [text_node("kept")]},
            {"type": "paragraph", "content": [
                text_node("bad", {"type": "link", "attrs": {"href": "javascript:alert(1)"}})]},
        ],
    }  # fmt: skip


def outline_collection(key: str) -> dict[str, Any]:
    """A collection of two pages, one below the other, with a file that is stored as `key`."""
    one, two, three = ("11111111-1111-4111-8111-11111111111" + n for n in "123")
    document = {
        "urlId": "x",
        "data": outline_document(),
        "createdByName": "Ann",
        "publishedAt": None,
    }
    return {
        "collection": {
            "id": three, "urlId": "c", "name": "Team: all",
            "data": {"type": "doc", "content": [
                {"type": "paragraph", "content": [text_node("About")]}]},
            "documentStructure": [
                {"id": one, "title": "First", "children": [{"id": two, "children": []}]}],
        },
        "documents": {
            one: {**document, "id": one, "title": "First"},
            two: {**document, "id": two, "title": "Second", "urlId": "AbCdEf1234",
                  "parentDocumentId": one, "data": {"type": "doc", "content": []}},
        },
        "attachments": {
            ATTACHED: {"id": ATTACHED, "key": key, "name": "shot.png", "contentType": "image/png",
                   "documentId": one}},
    }  # fmt: skip


def test_an_outline_export_in_json(admin: Client) -> None:
    key = f"uploads/{UPLOAD}"
    done = Imported(
        admin,
        zipped(
            ("metadata.json", b'{"exportVersion": 1}'),
            ("Team: all.json", json.dumps(outline_collection(key)).encode()),
            (key, PNG),
        ),
    )
    assert done.above == {"Team: all": None, "First": "Team: all", "Second": "First"}
    text = done.text("First")
    for wanted in (
        "## Head", "[it](PAGE:Second)", "@Ann", "![](FILE:shot.png)", "- [x] done", "> **Tip**",
        "> mind", "```sql\nSELECT\n```", "| th |\n| --- |\n| td |", "kept", "bad",
    ):  # fmt: skip
        assert wanted in text, (wanted, text)
    assert "javascript" not in text
    assert done.text("Team: all") == "About\n"
    assert done.files("First") == ["shot.png"]


def test_a_bookstack_portable_zip(admin: Client) -> None:
    book = {
        "instance": {"id_ciphertext": "x", "version": "v24.12"},
        "exported_at": "2024-12-01T12:00:00+00:00",
        "book": {
            "id": 8, "name": "Handbook", "description_html": "<p>All of <em>it</em></p>",
            "cover": "cover.png", "tags": [{"name": "area", "value": "ops"}],
            "pages": [
                {"id": 41, "name": "Last", "priority": 9, "html": "",
                 "markdown": "See [it]([[bsexport:page:40]]) and ![]([[bsexport:image:22]])\n"},
                {"id": 42, "name": "Early", "priority": 1,
                 "html": '<p class="callout info">Mind</p>'
                         '<p><a href="[[bsexport:chapter:2]]">chapter</a></p>'},
            ],
            "chapters": [
                {"id": 2, "name": "Chapter", "priority": 5, "description_html": "",
                 "pages": [
                     {"id": 40, "name": "Inner", "priority": 1,
                      "html": '<h2 id="bkmrk-x">T</h2><img src="[[bsexport:image:a.png]]">'
                              '<p><a href="[[bsexport:attachment:9]]">file</a></p>',
                      "images": [{"id": 22, "name": "shot", "file": "a.png", "type": "gallery"}],
                      "attachments": [
                          {"id": 9, "name": "Paper", "file": "paper.pdf"},
                          {"id": 10, "name": "Site", "link": "https://x.example/"}]},
                 ]},
            ],
        },
    }  # fmt: skip
    done = Imported(
        admin,
        zipped(
            ("data.json", json.dumps(book).encode()),
            ("files/a.png", PNG),
            ("files/paper.pdf", b"%PDF-"),
            ("files/cover.png", PNG),
        ),
    )
    assert done.above == {
        "Handbook": None, "Early": "Handbook", "Chapter": "Handbook", "Last": "Handbook",
        "Inner": "Chapter",
    }  # fmt: skip
    assert list(done.ids).index("Early") < list(done.ids).index("Last")
    top = done.text("Handbook")
    assert "All of *it*" in top
    assert "FILE:cover.png" in top
    assert "| area | ops |" in top
    assert "[it](PAGE:Inner) and ![](FILE:shot.png)" in done.text("Last")
    assert "> Mind" in done.text("Early")
    assert "[chapter](PAGE:Chapter)" in done.text("Early")
    inner = done.text("Inner")
    assert "![](FILE:shot.png)" in inner
    assert "[file](FILE:Paper.pdf)" in inner
    assert "[Site](https://x.example/)" in inner


def test_bookstack_pages_in_html_and_markdown(admin: Client) -> None:
    """A page that was exported alone contains its pictures in its text."""
    data = base64.b64encode(PNG).decode()
    html = (
        '<!doctype html><html><head><title>P</title></head><body class="export"><div '
        f'class="page-content"><h1 id="bkmrk">P</h1><img src="data:image/png;base64,{data}">'
        '<p class="callout warning">Careful</p></div></body></html>'
    )
    markdown = f"# B\n\n![x](data:image/png;base64,{data})\n"
    done = Imported(admin, zipped(("p.html", html.encode()), ("b.md", markdown.encode())))
    assert "# P" in done.text("p")
    assert "FILE:picture 1.png" in done.text("p")
    assert "> Careful" in done.text("p")
    assert "![x](FILE:picture 1.png)" in done.text("b")
    assert "became files" in done.notes("b.md")
