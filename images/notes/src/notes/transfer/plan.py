"""What a zip becomes: pages, parents first, and the page that each file belongs to.

Decides from the zip's names and its manifest alone. Invariant: whatever a zip holds has one place,
manifest or not.
"""

import posixpath
import re
import zipfile
import zlib
from dataclasses import dataclass, field

import msgspec

from notes.jobs.runner import JobFailedError
from notes.transfer.exporting import MANIFEST, FileEntry, Manifest, PageEntry

_MARKDOWN = (".md", ".markdown")
_SKIPPED = re.compile(r"(^|/)(__MACOSX|\.DS_Store|\.git)(/|$)")


@dataclass(slots=True)
class Page:
    """A page to make; `path` None for a folder that has no Markdown file."""

    key: str
    title: str
    parent: str | None
    path: str | None
    is_template: bool = False


@dataclass(slots=True)
class Plan:
    """What a zip becomes: pages, parents first, and files with the page each belongs to."""

    pages: dict[str, Page] = field(default_factory=dict)
    files: list[FileEntry] = field(default_factory=list)


def read_manifest(archive: zipfile.ZipFile) -> Manifest | None:
    """The manifest of an own export. Raises `JobFailedError` for a damaged one."""
    try:
        info = archive.getinfo(MANIFEST)
    except KeyError:
        return None
    if info.file_size > 64 * 1024 * 1024:
        raise JobFailedError(f"{MANIFEST}: it is too large.")
    try:
        return msgspec.json.decode(archive.read(info), type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, zipfile.BadZipFile, zlib.error):
        raise JobFailedError(f"{MANIFEST}: it is damaged.") from None


def make_plan(archive: zipfile.ZipFile, manifest: Manifest | None, zip_name: str) -> Plan:
    """The plan; names that no manifest lists are ordered as a person would."""
    names = [
        info.filename
        for info in archive.infolist()
        if not info.is_dir() and info.filename != MANIFEST and not _SKIPPED.search(info.filename)
    ]
    present = set(names)
    listed = [page for page in (manifest.pages if manifest else []) if page.path in present]
    known = {page.path for page in listed}
    others = sorted(
        (n for n in names if n.lower().endswith(_MARKDOWN) and n not in known), key=_natural
    )
    plan = Plan()
    for page in [*listed, *(PageEntry(name, _stem(name)) for name in sorted(others, key=_natural))]:
        _add_page(plan, page)
    files = {entry.path: entry for entry in (manifest.files if manifest else [])}
    markdown_files = {page.path for page in plan.pages.values()}
    for name in sorted(present - markdown_files, key=_natural):
        entry = files.get(name)
        owner = _owner(plan, entry.page if entry else None, name)
        if owner is None:
            owner = "/files"
            stem = zip_name.rsplit(".", 1)[0]
            plan.pages.setdefault(owner, Page(owner, _title(stem), None, None))
        base = posixpath.basename(name)
        plan.files.append(
            FileEntry(
                name, owner, entry.name if entry else base, entry.type if entry else _guess(base)
            )
        )
    return plan


def _add_page(plan: Plan, page: PageEntry) -> None:
    key = page.path.rsplit(".", 1)[0]
    parent = _folder(plan, posixpath.dirname(page.path))
    if key in plan.pages:  # the folder of this name came first
        plan.pages[key].path, plan.pages[key].title = page.path, _title(page.title)
        plan.pages[key].is_template = page.is_template
    else:
        plan.pages[key] = Page(key, _title(page.title), parent, page.path, page.is_template)


def _folder(plan: Plan, path: str) -> str | None:
    """The key of a folder's page, which is made (and those above it) if there is none."""
    if not path:
        return None
    if path not in plan.pages:
        parent = _folder(plan, posixpath.dirname(path))
        plan.pages[path] = Page(path, _title(posixpath.basename(path)), parent, None)
    return path


def _owner(plan: Plan, page: str | None, name: str) -> str | None:
    if page is not None and page.rsplit(".", 1)[0] in plan.pages:
        return page.rsplit(".", 1)[0]
    folder = posixpath.dirname(name)
    while folder:
        for key in (folder, folder.removesuffix(".files")):
            if key in plan.pages:
                return key
        folder = posixpath.dirname(folder)
    return next(iter(plan.pages), None)


def _natural(name: str) -> list[tuple[int, int, str]]:
    return [
        (0, int(part[:18]), "") if part.isascii() and part.isdigit() else (1, 0, part.lower())
        for part in re.split(r"(\d+)", name)
    ]


def _stem(path: str) -> str:
    return posixpath.basename(path).rsplit(".", 1)[0]


def _title(text: str) -> str:
    clean = "".join(c for c in text if c.isprintable()).strip()[:300].strip()
    return clean or "Untitled"


def _guess(name: str) -> str:
    import mimetypes

    return mimetypes.guess_type(name)[0] or ""
