"""The manifest of an own export: data of pages and files that their names cannot express.

Invariant: fields with default values are omitted, so an export without history stays unchanged.
"""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

MANIFEST = "notes-export.json"
HISTORY = "notes-export.history"

_Line = Annotated[str, msgspec.Meta(max_length=300, pattern=r"^[^\x00]*$")]
Number = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class VersionEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A version of a page; `path` is the file of its text, None for the current version."""

    version: Number
    title: _Line
    at: Moment
    author: _Line | None = None
    restored_from: Number | None = None
    path: str | None = None


class CommentEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A comment on a page, with its author's name."""

    id: UUID
    body: Annotated[str, msgspec.Meta(min_length=1, max_length=20_000, pattern=r"^[^\x00]*$")]
    at: Moment
    author: _Line | None = None
    parent: UUID | None = None
    quote: Annotated[str, msgspec.Meta(max_length=2000, pattern=r"^[^\x00]*$")] | None = None
    edited_at: Moment | None = None
    resolved_at: Moment | None = None


class PageEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A page's data that the name of its Markdown file cannot express.

    `parent` is the path of the parent page if the folders do not show it. `comments` is the path of
    the list of comments.
    """

    path: str
    title: str
    is_template: bool = False
    parent: str | None = None
    versions: list[VersionEntry] = []
    comments: str | None = None


class FileEntry(msgspec.Struct, frozen=True):
    """An attachment's data that its file name cannot express."""

    path: str
    page: str
    name: str
    type: str


class Manifest(msgspec.Struct, frozen=True):
    """The order and the exact names of a zip's pages and files."""

    format: int
    name: str
    pages: list[PageEntry]
    files: list[FileEntry]
