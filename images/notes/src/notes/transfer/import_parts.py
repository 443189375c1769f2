"""Small parts of an import: lines of its report, whole files, folders, and aliases of notes."""

import posixpath
import re
from uuid import UUID

from notes.pages.content import Content
from notes.transfer.archive import Archive, damage
from notes.transfer.import_plan import File, Page, Plan, guess
from notes.transfer.links import Index
from notes.transfer.properties import names_of, split_matter
from notes.transfer.staging import Line


def line_of(archive: Archive, file: File, made: UUID, number: int) -> Line:
    notes = tuple(archive.notes.get(file.path, ()))
    return Line(number, file.path, "file", file_id=made, notes=notes)


def whole(page: Page) -> File:
    path = page.path or ""
    return File(path, page.key, posixpath.basename(path), guess(path))


def files_of(prepared: Content) -> list[UUID]:
    """The ids of the files that a stored document shows."""
    found = re.findall(r'"/api/v1/attachments/([0-9a-f-]{36})', prepared.doc)
    return list(dict.fromkeys(UUID(text) for text in found))


def folder(page: Page) -> str:
    return posixpath.dirname(page.path or "")


def add_aliases(archive: Archive, plan: Plan, index: Index, ids: dict[str, UUID]) -> None:
    """Adds the aliases in the properties of Obsidian notes to the index."""
    for key, page in plan.pages.items():
        if page.form != "markdown" or page.path is None:
            continue
        with damage(page.path):
            data = archive.members[page.path].read(70_000)
        if data.startswith((b"---", b"\xef\xbb\xbf---")):
            matter, _ = split_matter(data.decode("utf-8-sig", "replace").replace("\r\n", "\n"))
            for name in names_of(matter) if matter else []:
                index.name(name, f"/p/{ids[key]}")
