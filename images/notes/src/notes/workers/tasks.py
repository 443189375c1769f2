"""The tasks on untrusted text, with the time limit of each.

The rest of the application uses `notes.doc` only through this module: plain data in, plain data
out, so each task can run in a separate process. Invariant: a worker process imports only this
module and its dependencies, and holds no secret and no connection.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec

from notes.doc import diff as differ
from notes.doc.attributes import SchemaError
from notes.doc.excerpt import Fragment, highlight
from notes.doc.html_writer import derive, html, rewrite
from notes.doc.markdown_parser import parse
from notes.doc.markdown_writer import markdown
from notes.doc.schema import empty, normalise
from notes.doc.tokenizer import vector

MAX_FIELDS = 200
PIECE_BYTES = 16_384


class Prepared(msgspec.Struct, frozen=True):
    """A document ready to be stored: its JSON, text, search vector and linked page ids."""

    doc: bytes
    text: str
    search: str
    links: str


def prepare(title: str, doc: bytes | None, text: str | None) -> Prepared:
    """Checks a document (or reads Markdown) and derives the other data. Raises `SchemaError`."""
    if text is not None:
        sound = parse(text)
    else:
        sound = empty() if doc is None else normalise(_decoded(doc))
    derived = derive(sound)
    return Prepared(
        msgspec.json.encode(sound),
        derived.text,
        vector(title, derived.text),
        "{" + ",".join(str(link) for link in derived.links) + "}",
    )


def read_markdown(text: str) -> bytes:
    """Reads a Markdown text into a document. Raises `SchemaError`."""
    return msgspec.json.encode(parse(text))


class Foreign(msgspec.Struct, frozen=True):
    """A page of another program after reading; addresses are still those of its zip."""

    doc: bytes
    title: str | None
    notes: list[str]
    pictures: list[tuple[str, str, bytes]]
    is_cut: bool


def read_foreign(form: str, kind: str, title: str, data: bytes) -> Foreign:
    """Reads a page of a zip. Raises `SchemaError`."""
    from notes.transfer.page_reader import Source, UnreadablePageError, read_page

    try:
        found = read_page(Source(form, kind, title, data))  # type: ignore[arg-type]
    except UnreadablePageError as error:
        raise SchemaError("page", str(error)) from None
    return Foreign(
        msgspec.json.encode(found.doc), found.title, found.notes, found.pictures, found.is_cut
    )


def page_html(doc: bytes, options: dict[str, Any]) -> str:
    """A stored document as HTML; `options` are the further arguments of `html`."""
    return html(_decoded(doc), **options)


def page_markdown(doc: bytes, addresses: dict[str, str]) -> str:
    """A stored document as Markdown, with `addresses` replaced."""
    found = _decoded(doc)
    return markdown(rewrite(found, lambda url: addresses.get(url, url)) if addresses else found)


def replace(doc: bytes, addresses: dict[str, str]) -> bytes:
    """A document with `addresses` replaced."""
    changed = rewrite(_decoded(doc), lambda url: addresses.get(url, url))
    return msgspec.json.encode(changed)


def list_addresses(doc: bytes) -> list[str]:
    """Every address in a document, once."""
    found = dict[str, None]()

    def note(url: str) -> str:
        found[url] = None
        return url

    rewrite(_decoded(doc), note)
    return list(found)


def compare(old: bytes, new: bytes) -> list[differ.Piece]:
    """Compares the Markdown of two stored documents."""
    return differ.diff(markdown(_decoded(old)), markdown(_decoded(new)))


def compare_exact(old: bytes, new: bytes) -> list[differ.Piece]:
    """Compares two documents as editors hold them. Raises `SchemaError`."""
    return differ.diff(*(markdown(normalise(_decoded(doc))) for doc in (old, new)))


def replay(doc: bytes, edits: list[bytes]) -> bytes:
    """A stored document after edits, each a list of steps. Raises `SchemaError`."""
    from notes.steps.stored import replayed

    return replayed(doc, edits)


def excerpts(rows: list[tuple[str, str]], marked: list[str]) -> list[list[list[Fragment]]]:
    """The parts of each title and text around their hits."""
    return [[highlight(title, marked, whole=True), highlight(text, marked)] for title, text in rows]


def read_form(body: bytes) -> dict[str, str]:
    """The fields of a form. Raises `SchemaError` for a damaged one."""
    pairs = body.split(b"&", MAX_FIELDS)
    if len(pairs) > MAX_FIELDS:
        raise SchemaError("form", "it has too many fields")
    try:
        found = (pair.partition(b"=") for pair in pairs if pair)
        return {_plain(name).decode(): _plain(value).decode() for name, _, value in found}
    except UnicodeDecodeError:
        raise SchemaError("form", "it is damaged") from None


def _plain(text: bytes) -> bytes:
    """Decodes a form's text in pieces, since each escape needs an object in memory."""
    made = bytearray()
    at = 0
    while at < len(text):
        end = at + PIECE_BYTES
        cut = text.find(b"%", end - 2, end)
        end = cut if cut >= 0 else end
        made += unquote_to_bytes(text[at:end].replace(b"+", b" "))
        at = end
    return bytes(made)


def split_body(body: bytes) -> tuple[bytes, bytes]:
    """Splits a request's JSON into the rest and the field `doc`. Raises `SchemaError`."""
    return _split(body, "doc")


def _split(body: bytes, name: str) -> tuple[bytes, bytes]:
    try:
        fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except RecursionError:
        raise SchemaError("body", "has too many levels") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SchemaError("body", str(error)) from None
    found = bytes(fields.pop(name, b""))
    return msgspec.json.encode(fields), found


def split_steps(body: bytes) -> tuple[bytes, bytes]:
    """Splits the JSON of an edit into the rest and its steps, checked and written again.

    Raises `SchemaError`. Together they have no more nodes than a page may have.
    """
    from notes.steps.stored import checked_steps

    rest, steps = _split(body, "steps")
    return rest, checked_steps(_decoded(steps or b"[]", "steps"))


def _decoded(content: bytes, name: str = "doc") -> Any:
    try:
        return msgspec.json.decode(content)
    except RecursionError:
        raise SchemaError(name, "has too many levels") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SchemaError(name, f"is not JSON ({error})") from None


@dataclass(frozen=True, slots=True)
class Task:
    """A function, its time limits, and a test for input that the caller may process itself.

    `cpu_s` is processor time; `wall_s` is elapsed time, on a machine with other work too.
    `is_small` decides quickly; input that it accepts takes the event loop a few milliseconds.
    """

    name: str
    work: Callable[..., Any]
    returns: Any
    cpu_s: int
    wall_s: int
    is_small: Callable[..., bool]


SMALL_DOC_BYTES = 24_000
SMALL_TABLE_CELLS = 1000
SMALL_MARKDOWN_CHARACTERS = 100  # unclosed brackets take quadratic time
SMALL_TEXT_CHARACTERS = 50_000


def _is_plain(doc: bytes) -> bool:
    """True if processing a document takes linear time.

    Rows of a table are padded to the longest one; an escaped letter could hide the type names.
    """
    if len(doc) > SMALL_DOC_BYTES or b"\\u" in doc:
        return False
    cells = doc.count(b"tableCell") + doc.count(b"tableHeader")
    return doc.count(b"tableRow") * cells <= SMALL_TABLE_CELLS


def _is_small_content(title: str, doc: bytes | None, text: str | None) -> bool:
    if text is not None:
        return len(text) <= SMALL_MARKDOWN_CHARACTERS
    return doc is None or _is_plain(doc)


def _is_small_search(rows: list[tuple[str, str]], marked: list[str]) -> bool:
    return sum(len(text) for _, text in rows) <= SMALL_TEXT_CHARACTERS


TASKS: Mapping[str, Task] = {
    task.name: task
    for task in (
        Task("prepare", prepare, Prepared, 10, 25, _is_small_content),
        Task(
            "read_markdown",
            read_markdown,
            bytes,
            10,
            25,
            lambda text: len(text) <= SMALL_MARKDOWN_CHARACTERS,
        ),
        Task("read_foreign", read_foreign, Foreign, 20, 60, lambda form, kind, title, data: False),
        Task("page_html", page_html, str, 10, 25, lambda doc, options: _is_plain(doc)),
        Task("page_markdown", page_markdown, str, 10, 25, lambda doc, addresses: _is_plain(doc)),
        Task("replace", replace, bytes, 10, 25, lambda doc, addresses: _is_plain(doc)),
        Task("list_addresses", list_addresses, list[str], 10, 25, _is_plain),
        Task("replay", replay, bytes, 20, 60, lambda doc, edits: False),
        Task("compare", compare, list[differ.Piece], 10, 25, lambda old, new: False),
        Task("compare_exact", compare_exact, list[differ.Piece], 10, 25, lambda old, new: False),
        Task("excerpts", excerpts, list[list[list[Fragment]]], 5, 15, _is_small_search),
        Task("split_body", split_body, tuple[bytes, bytes], 5, 15, lambda body: False),
        Task("split_steps", split_steps, tuple[bytes, bytes], 10, 25, lambda body: False),
        Task("read_form", read_form, dict[str, str], 5, 15, lambda body: len(body) <= 16_384),
    )
}
