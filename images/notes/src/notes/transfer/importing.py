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
from functools import partial
from typing import IO
from urllib.parse import unquote
from uuid import UUID, uuid5

from notes.auth import audit
from notes.db.connect import Conn
from notes.doc.attributes import SchemaError
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
from notes.pages import access, content
from notes.transfer.archive import ChunkFile, open_zip, shown
from notes.transfer.exporting import FileEntry
from notes.transfer.plan import Page, Plan, make_plan, read_manifest

STEP = 1024


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
    plan = make_plan(archive, await asyncio.to_thread(read_manifest, archive), row["name"])
    await job.progress(pages=0, pages_total=len(plan.pages), files=0, files_total=len(plan.files))
    try:
        await _make_pages(job, archive, plan)
        await _make_files(job, archive, plan)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
        raise JobFailedError("The zip is damaged.") from None

    async def done(conn: Conn) -> None:
        await conn.execute("DELETE FROM uploads WHERE id = %s", (source,))

    await job.transact(done)


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

    try:
        made: dict[str, object] = rewrite(parse_markdown(text), absolute)
    except SchemaError as error:
        raise JobFailedError(f"{shown(path)}: {error.message}.") from None
    return made


async def _insert_page(conn: Conn, job: Job, page: Page, prepared: content.Content) -> None:
    made = _id(job, page.key)
    cursor = await conn.execute("SELECT 1 FROM nodes WHERE id = %s", (made,))
    if await cursor.fetchone() is not None or job.space_id is None:
        return
    parent = _id(job, page.parent) if page.parent is not None else _target(job)
    await access.lock_tree(conn, job.space_id)
    if parent is not None:
        cursor = await conn.execute(
            "SELECT 1 FROM nodes WHERE id = %s AND space_id = %s AND trashed_at IS NULL",
            (parent, job.space_id),
        )
        if await cursor.fetchone() is None:
            raise JobFailedError(f"{shown(page.key)}: the page that it belongs below is gone.")
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
            # Its page may have been deleted meanwhile, and the file with it.
            " crc32) SELECT u.id, n.id, u.name, media_type, %s, user_id, %s, %s FROM uploads u"
            " JOIN nodes n ON n.id = %s WHERE u.id = %s ON CONFLICT DO NOTHING",
            (size, whole.digest(), crc, _id(job, entry.page), made),
        )
        await conn.execute("DELETE FROM uploads WHERE id = %s", (made,))

    await job.transact(end)


def _id(job: Job, key: str) -> UUID:
    return uuid5(job.id, key)


def _target(job: Job) -> UUID | None:
    parent = job.payload.get("parent_id")
    return UUID(parent) if parent else None
