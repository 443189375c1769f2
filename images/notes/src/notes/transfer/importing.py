"""The job that makes pages and attachments out of a zip.

Ids are derived from the job and the path, so another attempt after a crash makes nothing twice and
goes on where the first one stopped. Invariant: nothing in the zip decides an address outside of the
place that the import was asked for.
"""

import asyncio
import hashlib
import posixpath
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from functools import partial
from typing import IO
from urllib.parse import unquote
from uuid import UUID, uuid5

import msgspec

from notes.auth import audit
from notes.db.connect import Conn
from notes.doc.html import rewrite
from notes.doc.markdown_in import MAX_CHARACTERS
from notes.doc.markdown_in import parse as parse_markdown
from notes.events.record import tell
from notes.files import chunks
from notes.files.chunks import CHUNK_BYTES
from notes.files.names import file_name, media_type
from notes.http.call import Viewer
from notes.http.problems import Problem
from notes.jobs.runner import Job, JobFailedError
from notes.pages import content
from notes.transfer.archive import ChunkFile, open_zip, shown
from notes.transfer.exporting import MANIFEST, FileEntry, Manifest, PageEntry

_MARKDOWN = (".md", ".markdown")
_SKIPPED = re.compile(r"(^|/)(__MACOSX|\.DS_Store|\.git)(/|$)")
STEP = 1024


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


async def run_import(job: Job) -> None:
    """Runs the job. Raises `JobFailedError` for a zip that cannot be imported."""
    db = job.app.db
    source = UUID(job.payload["file_id"])
    row = await db.one(
        "SELECT coalesce(size, (SELECT sum(c.size) FROM chunks c WHERE c.file_id = f.id))::bigint"
        " AS size, name FROM (SELECT id, size, name FROM uploads UNION ALL"
        " SELECT id, size, name FROM attachments) f WHERE id = %s",
        (source,),
    )
    if row is None:
        raise JobFailedError("The uploaded zip is gone.")
    file = ChunkFile(db, source, row["size"] or 0, asyncio.get_running_loop())
    limit = job.app.settings.max_attachment_bytes
    archive = await asyncio.to_thread(open_zip, file, row["size"] or 0, limit)
    plan = _plan(archive, await asyncio.to_thread(_manifest, archive), row["name"])
    await job.progress(pages=0, pages_total=len(plan.pages), files=0, files_total=len(plan.files))
    try:
        await _make_pages(job, archive, plan)
        await _make_files(job, archive, plan)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
        raise JobFailedError("The zip is damaged.") from None

    async def done(conn: Conn) -> None:
        await conn.execute("DELETE FROM uploads WHERE id = %s", (source,))

    await job.transact(done)


def _manifest(archive: zipfile.ZipFile) -> Manifest | None:
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


def _plan(archive: zipfile.ZipFile, manifest: Manifest | None, zip_name: str) -> Plan:
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


async def _make_pages(job: Job, archive: zipfile.ZipFile, plan: Plan) -> None:
    urls = {page.path: f"/p/{_id(job, page.key)}" for page in plan.pages.values() if page.path}
    urls |= {f.path: f"/api/v1/attachments/{_id(job, 'file:' + f.path)}" for f in plan.files}
    for number, page in enumerate(plan.pages.values()):
        doc = None
        if page.path is not None:
            doc = await asyncio.to_thread(_read_page, archive, page.path, urls)
        try:
            prepared = await content.prepare(page.title, doc, None)
        except Problem as problem:
            raise JobFailedError(f"{shown(page.key)}: {problem}") from None
        await job.transact(partial(_insert_page, job=job, page=page, prepared=prepared))
        if number % 50 == 49:
            await job.progress(pages=number + 1)
    await job.progress(pages=len(plan.pages))


def _read_page(archive: zipfile.ZipFile, path: str, urls: dict[str, str]) -> dict[str, object]:
    info = archive.getinfo(path)
    if info.file_size > 4 * MAX_CHARACTERS:
        raise JobFailedError(f"{shown(path)}: it is too long for a page.")
    try:
        text = archive.read(info).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise JobFailedError(f"{shown(path)}: it is not UTF-8.") from None
    if len(text) > MAX_CHARACTERS:
        raise JobFailedError(f"{shown(path)}: it is too long for a page.")
    here = posixpath.dirname(path)

    def absolute(url: str) -> str:
        bare, mark, rest = re.match(r"([^?#]*)([?#]?)(.*)", url, re.DOTALL).groups()  # type: ignore[union-attr]
        target = posixpath.normpath(posixpath.join(here, unquote(bare)))
        return urls.get(target, "") + mark + rest if bare and target in urls else url

    made: dict[str, object] = rewrite(parse_markdown(text), absolute)
    return made


async def _insert_page(conn: Conn, job: Job, page: Page, prepared: content.Content) -> None:
    made = _id(job, page.key)
    cursor = await conn.execute("SELECT 1 FROM nodes WHERE id = %s", (made,))
    if await cursor.fetchone() is not None or job.space_id is None:
        return
    parent = _id(job, page.parent) if page.parent is not None else _target(job)
    await content.insert(
        conn,
        prepared,
        page.title,
        space_id=job.space_id,
        parent_id=parent,
        position=None,
        author=job.user_id,
        node_id=made,
        is_template=page.is_template,
    )
    await tell(conn, "page.made", space_id=job.space_id, node_id=made, parent_id=parent)
    who = Viewer(job.user_id, str(job.payload.get("name", "import")))
    where = {"space_id": job.space_id, "node_id": made}
    await audit.note(conn, who, "page.imported", page.title, **where)


async def _make_files(job: Job, archive: zipfile.ZipFile, plan: Plan) -> None:
    for number, entry in enumerate(plan.files):
        made = _id(job, "file:" + entry.path)
        row = await job.app.db.one("SELECT 1 FROM attachments WHERE id = %s", (made,))
        if row is None:
            # Opening reads, too: on the event loop it would wait for what only the loop can bring.
            with await asyncio.to_thread(archive.open, entry.path) as source:
                await _make_file(job, made, entry, source)
        if number % 10 == 9:
            await job.progress(files=number + 1)
    await job.progress(files=len(plan.files))


async def _make_file(job: Job, made: UUID, entry: FileEntry, source: IO[bytes]) -> None:
    async def begin(conn: Conn) -> None:
        # While it is unfinished it is an upload, and goes away as one.
        await conn.execute(
            "INSERT INTO uploads (id, space_id, user_id, name, media_type)"
            " VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            (made, job.space_id, job.user_id, file_name(entry.name), media_type(entry.type)),
        )

    await job.transact(begin)
    whole = hashlib.sha256()
    crc = size = number = 0
    while data := await asyncio.to_thread(source.read, CHUNK_BYTES):
        whole.update(data)
        crc = zlib.crc32(data, crc)
        size += len(data)
        await job.transact(partial(chunks.store, file_id=made, number=number, data=data))
        number += 1

    async def end(conn: Conn) -> None:
        await conn.execute(
            "INSERT INTO attachments (id, node_id, name, media_type, size, created_by, sha256,"
            " crc32) SELECT id, %s, name, media_type, %s, user_id, %s, %s FROM uploads"
            " WHERE id = %s ON CONFLICT DO NOTHING",
            (_id(job, entry.page), size, whole.digest(), crc, made),
        )
        await conn.execute("DELETE FROM uploads WHERE id = %s", (made,))

    await job.transact(end)


def _id(job: Job, key: str) -> UUID:
    return uuid5(job.id, key)


def _target(job: Job) -> UUID | None:
    parent = job.payload.get("parent_id")
    return UUID(parent) if parent else None
