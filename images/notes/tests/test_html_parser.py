"""Reads HTML that is out of order into documents that the schema takes."""

import pytest

from notes.doc.attributes import Json
from notes.doc.html_parser import read
from notes.doc.schema import normalise


def _paragraph(text: str) -> Json:
    return {"type": "paragraph", "content": [{"type": "text", "text": text}]}


@pytest.mark.parametrize(
    ("source", "inside"),
    [
        ("<tr><hr></tr>", [{"type": "horizontalRule"}]),
        ("<tr>words</tr>", [_paragraph("words")]),
        ("<tr><td>a</td>b</tr>", [_paragraph("a"), _paragraph("b")]),
        ("<tr><td></td><td>a</td></tr>", [_paragraph("a")]),
    ],
)
def test_a_row_outside_of_a_table_keeps_what_is_in_it(source: str, inside: list[Json]) -> None:
    quote = {"type": "blockquote", "content": inside}
    document = {"type": "doc", "content": [quote]}
    assert normalise({"type": "doc", "content": read(source).blocks}) == document
