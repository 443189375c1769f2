"""Stores what an import has read in staging tables, invisible until all of it is read.

Invariant: a row is written together with its line of the report, in a transaction that checks the
job's attempt; existing rows stay unchanged, so another attempt continues.
"""

import asyncio
import hashlib
import zlib
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import IO, Any, LiteralString
from uuid import UUID, uuid5

from notes.db.connect import Conn, take_time
from notes.files import chunks
from notes.files.chunks import CHUNK_BYTES
from notes.files.names import file_name, media_type
from notes.jobs.job import Job
from notes.pages.content import Content
from notes.quotas.limits import ROW_BYTES
from notes.transfer.manifest import CommentEntry


@dataclass(frozen=True, slots=True)
class Line:
    """The report's line for one file of the zip."""

    number: int
    path: str
    outcome: str
    node_id: UUID | None = None
    file_id: UUID | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Version:
    """An earlier version of a staged page."""

    version: int
    title: str
    doc: str
    author: str | None
    at: datetime
    restored_from: int | None


@dataclass(slots=True)
class Staged:
    """A page ready to be published."""

    node_id: UUID
    ord: int
    parent_id: UUID | None
    title: str
    is_template: bool
    content: Content
    file_refs: list[UUID]
    line: Line | None
    version: int = 1
    author: str | None = None
    restored_from: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    versions: list[Version] = field(default_factory=list)
    comments: list[tuple[UUID, UUID | None, CommentEntry]] = field(default_factory=list)


async def staged_pages(job: Job) -> dict[UUID, list[UUID]]:
    """The pages that an earlier attempt has stored, and the files that they show."""
    rows = await job.app.db.all(
        "SELECT node_id, file_refs FROM import_pages WHERE job_id = %s ORDER BY ord", (job.id,)
    )
    return {row["node_id"]: list(row["file_refs"]) for row in rows}


async def staged_files(job: Job) -> set[UUID]:
    """The ids of the files that are stored completely."""
    rows = await job.app.db.all("SELECT file_id FROM import_files WHERE job_id = %s", (job.id,))
    return {row["file_id"] for row in rows}


async def stage_lines(job: Job, lines: list[Line]) -> None:
    for at in range(0, len(lines), 1000):
        await job.transact(partial(_lines, job=job, lines=lines[at : at + 1000]))


async def _lines(conn: Conn, job: Job, lines: list[Line]) -> None:
    async with conn.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO import_report (job_id, number, path, outcome, node_id, file_id, notes)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            [
                (job.id, i.number, i.path, i.outcome, i.node_id, i.file_id, list(i.notes))
                for i in lines
            ],
        )


async def stage_pages(job: Job, pages: list[Staged]) -> None:
    """Stores pages with their versions and comments."""
    if pages:
        await job.transact(partial(_pages, job=job, pages=pages))


async def _pages(conn: Conn, job: Job, pages: list[Staged]) -> None:
    async with conn.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO import_pages (job_id, node_id, ord, parent_id, title, is_template,"
            " version, doc, body_text, search, links, file_refs, author_name, restored_from,"
            " created_at, updated_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s::json, %s,"
            " %s::tsvector, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            [_page(job, page) for page in pages],
        )
        versions = [
            (job.id, p.node_id, v.version, v.title, v.doc, v.author, v.at, v.restored_from)
            for p in pages
            for v in p.versions
        ]
        if versions:
            await cursor.executemany(
                "INSERT INTO import_revisions (job_id, node_id, version, title, doc, author_name,"
                " created_at, restored_from) VALUES (%s, %s, %s, %s, %s::json, %s, %s, %s)"
                " ON CONFLICT DO NOTHING",
                versions,
            )
        comments = [
            (job.id, made, p.node_id, above, c.author, c.body, c.quote, c.at, c.edited_at,
             c.resolved_at)
            for p in pages
            for made, above, c in p.comments
        ]  # fmt: skip
        if comments:
            await cursor.executemany(
                "INSERT INTO import_comments (job_id, comment_id, node_id, parent_id, author_name,"
                " body, quote, created_at, edited_at, resolved_at)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                comments,
            )
    await conn.execute(
        _UPLOAD + " ON CONFLICT (id) DO UPDATE SET reserved = uploads.reserved + excluded.reserved",
        _upload(job, _held(job), sum(_bytes(page) for page in pages)),
    )
    await _lines(conn, job, [page.line for page in pages if page.line is not None])


def _page(job: Job, page: Staged) -> tuple[Any, ...]:
    content = page.content
    return (
        job.id, page.node_id, page.ord, page.parent_id, page.title, page.is_template,
        page.version, content.doc, content.text, content.search, content.links,
        page.file_refs, page.author, page.restored_from, page.created_at, page.updated_at,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to create: its id, page, name and type."""

    id: UUID
    node_id: UUID
    name: str
    type: str


async def stage_file(job: Job, file: NewFile, source: IO[bytes], line: Line | None) -> None:
    """Stores a file's bytes as an upload of the job."""

    async def begin(conn: Conn) -> None:
        await conn.execute(_NEW_UPLOAD, _upload(job, file, ROW_BYTES))

    await job.transact(begin)
    whole = hashlib.sha256()
    crc = size = number = 0
    while data := await asyncio.to_thread(source.read, CHUNK_BYTES):
        whole.update(data)
        crc = zlib.crc32(data, crc)
        size += len(data)
        await job.transact(partial(chunks.store, file_id=file.id, number=number, data=data))
        number += 1

    async def end(conn: Conn) -> None:
        await conn.execute(_WHOLE, _whole(job, file, size, whole.digest(), crc))
        if line is not None:
            await _lines(conn, job, [line])

    await job.transact(end)


@dataclass(frozen=True, slots=True)
class SmallFile:
    """A small file with its bytes and its line of the report."""

    file: NewFile
    data: bytes
    line: Line | None


async def stage_small_files(job: Job, files: list[SmallFile]) -> None:
    """Stores several files in one transaction, since one for each tiny file would be slow."""
    if not files:
        return

    async def work(conn: Conn) -> None:
        async with conn.cursor() as cursor:
            # Reserved at once, since the bytes pass by `chunks.store`, which counts; in one
            # statement, since each one updates the counters.
            rows = [_upload(job, small.file, len(small.data) + ROW_BYTES) for small in files]
            await cursor.execute(
                "INSERT INTO uploads (id, space_id, user_id, name, media_type, job_id, reserved)"
                " SELECT * FROM unnest(%s::uuid[], %s::uuid[], %s::uuid[], %s::text[], %s::text[],"
                " %s::uuid[], %s::bigint[]) ON CONFLICT DO NOTHING",
                [list(column) for column in zip(*rows, strict=True)],
            )
            await cursor.executemany(
                "INSERT INTO chunks (file_id, number, size, data) VALUES (%s, 0, %s, %b)"
                " ON CONFLICT DO NOTHING",
                [(small.file.id, len(small.data), small.data) for small in files if small.data],
            )
            await cursor.executemany(
                _WHOLE,
                [
                    _whole(
                        job,
                        small.file,
                        len(small.data),
                        hashlib.sha256(small.data).digest(),
                        zlib.crc32(small.data),
                    )
                    for small in files
                ],
            )
        await _lines(conn, job, [small.line for small in files if small.line is not None])

    await job.transact(work)


_UPLOAD: LiteralString = (
    "INSERT INTO uploads (id, space_id, user_id, name, media_type, job_id, reserved)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s)"
)
_NEW_UPLOAD: LiteralString = _UPLOAD + " ON CONFLICT DO NOTHING"
_WHOLE: LiteralString = (
    "INSERT INTO import_files (job_id, file_id, node_id, size, sha256, crc32)"
    " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
)


def _whole(job: Job, file: NewFile, size: int, sha256: bytes, crc32: int) -> tuple[Any, ...]:
    return (job.id, file.id, file.node_id, size, sha256, crc32)


def _upload(job: Job, file: NewFile, reserved: int) -> tuple[Any, ...]:
    name, kind = file_name(file.name), media_type(file.type)
    return (file.id, job.space_id, job.user_id, name, kind, job.id, reserved)


def _held(job: Job) -> NewFile:
    """An upload without bytes, which counts for the quotas while the job's pages wait."""
    made = uuid5(job.id, "staged pages")
    return NewFile(made, made, "pages", "")


def _bytes(page: Staged) -> int:
    """The bytes that a page, its versions and comments count for when they are published."""
    texts = [(page.title, page.content.doc), *((v.title, v.doc) for v in page.versions)]
    texts += [(comment.body, comment.quote or "") for *_, comment in page.comments]
    return sum(ROW_BYTES + len((first + other).encode()) for first, other in texts)


async def free_pages(conn: Conn, job: Job) -> None:
    """Ends the reservation of the job's pages, which count for themselves from now on."""
    await conn.execute("UPDATE uploads SET reserved = 0 WHERE id = %s", (_held(job).id,))


async def undo(conn: Conn, job_id: UUID) -> None:
    """Deletes everything that an import has stored; its zip too, unless it is an attachment."""
    await take_time(conn)
    await conn.execute("DELETE FROM import_report WHERE job_id = %s", (job_id,))
    await clear(conn, job_id)


async def clear(conn: Conn, job_id: UUID) -> None:
    """Deletes the rows that are only needed until the pages are published."""
    await conn.execute("DELETE FROM import_pages WHERE job_id = %s", (job_id,))
    await conn.execute("DELETE FROM import_revisions WHERE job_id = %s", (job_id,))
    await conn.execute("DELETE FROM import_comments WHERE job_id = %s", (job_id,))
    await conn.execute("DELETE FROM import_files WHERE job_id = %s", (job_id,))
    await conn.execute("DELETE FROM uploads WHERE job_id = %s", (job_id,))
