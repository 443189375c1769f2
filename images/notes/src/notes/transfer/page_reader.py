"""Reads one page of a zip into a document; all foreign text is parsed here.

`read_page` is a pure function of bytes, which runs in a worker process. Invariant: for any bytes it
takes bounded time and memory, or raises an error with the reason.
"""

import csv
from dataclasses import dataclass, field
from typing import Any

import msgspec

from notes.doc.attributes import Json, SchemaError
from notes.doc.markdown_parser import MAX_CHARACTERS
from notes.doc.markdown_parser import parse as parse_markdown
from notes.transfer import markdown_text
from notes.transfer.sources import Form, Kind
from notes.transfer.table_reader import properties, read_csv

MAX_BYTES = 16 * 1024 * 1024  # including pictures embedded in a text
MAX_HTML_CHARACTERS = 3 * MAX_CHARACTERS


@dataclass(frozen=True, slots=True)
class Source:
    """A page of the zip before reading."""

    form: Form
    kind: Kind
    title: str
    data: bytes


@dataclass(slots=True)
class PageRead:
    """A page after reading; addresses are still those of the zip."""

    doc: Json
    title: str | None = None
    notes: list[str] = field(default_factory=list)
    pictures: list[tuple[str, str, bytes]] = field(default_factory=list)
    # The table is cut: attach the whole file too.
    is_cut: bool = False


class UnreadablePageError(ValueError):
    """The page cannot be read; the text gives the reason."""


def read_page(source: Source) -> PageRead:
    """Reads a page. Raises `UnreadablePageError`."""
    try:
        if source.form == "outline":
            return _outline(source)
        text, guessed = decoded(source.data)
        made = {"html": _html, "csv": _csv}.get(source.form, _markdown)(source, text)
        made.notes += guessed
    except SchemaError as error:
        raise UnreadablePageError(error.message) from None
    except RecursionError:
        raise UnreadablePageError("it is nested too deeply") from None
    return made


def decoded(data: bytes) -> tuple[str, list[str]]:
    """The decoded text, and notes on a guessed encoding."""
    try:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return data.decode("utf-16"), ["it was read as UTF-16"]
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace"), ["it is not UTF-8 and was read as Windows-1252"]


def _markdown(source: Source, text: str) -> PageRead:
    found = markdown_text.ready(text, source.kind, source.title)
    if len(found.text) > MAX_CHARACTERS:
        raise UnreadablePageError(f"it has more than {MAX_CHARACTERS} characters")
    doc = parse_markdown(found.text)
    above = properties(found.properties)
    if above:
        doc = {**doc, "content": [*above, *doc["content"]]}
    return PageRead(doc, found.title, found.notes, found.pictures)


def _html(source: Source, text: str) -> PageRead:
    from notes.doc import html_parser

    found = markdown_text.Text(text)
    markdown_text.take_pictures(found)
    markdown_text.take_references(found)
    if len(found.text) > MAX_HTML_CHARACTERS:
        raise UnreadablePageError(f"it has more than {MAX_HTML_CHARACTERS} characters")
    try:
        read = html_parser.read(found.text)
    except html_parser.UnreadableHtmlError as error:
        raise UnreadablePageError(str(error)) from None
    if read.is_flattened:
        found.note("blocks that were nested too deeply were flattened")
    if read.has_dropped:
        found.note("links and pictures with addresses that could run code became text")
    title = read.title if source.kind == "notion" else None
    return PageRead({"type": "doc", "content": read.blocks}, title, found.notes, found.pictures)


def _csv(source: Source, text: str) -> PageRead:
    try:
        blocks, notes, is_cut = read_csv(text)
    except csv.Error as error:
        raise UnreadablePageError(f"it is not readable as CSV ({error})") from None
    return PageRead({"type": "doc", "content": blocks}, None, notes, is_cut=is_cut)


def _outline(source: Source) -> PageRead:
    from notes.doc import outline_parser

    try:
        data: Any = msgspec.json.decode(source.data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise UnreadablePageError("its document is damaged") from None
    return PageRead({"type": "doc", "content": outline_parser.read(data)})
