"""The job that creates pages and attachments from a zip.

It first reads everything into staging tables (`staging`), then makes all of it visible in one
transaction (`publishing`). Ids are derived from the job and the path, so another attempt continues
where the first one stopped. Invariant: an import writes nothing outside of its target, whatever the
zip contains.
"""

import asyncio
import io
import posixpath
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from uuid import UUID, uuid5

import psycopg

from notes.doc.attributes import Json
from notes.jobs.job import Job, JobFailedError
from notes.pages.content import Content
from notes.transfer import import_parts as parts
from notes.transfer import page_reader, publishing, staging, worker_requests
from notes.transfer.archive import Archive, damage
from notes.transfer.import_history import add_history
from notes.transfer.import_plan import (
    File,
    Page,
    Plan,
    owner_by_folder,
    titled,
)
from notes.transfer.links import index_of
from notes.transfer.opening import open_archive, plan_of
from notes.transfer.relink import Relinker, bare, said
from notes.transfer.sources import KINDS
from notes.transfer.staging import Line, NewFile, SmallFile, Staged

MAX_READING_S = 1800.0  # for all pages together; an ordinary zip of 200 MB takes minutes
BATCH_PAGES = 25
BATCH_BYTES = 2_000_000
BATCH_FILES = 50
SMALL_BYTES = 200_000


async def run_import(job: Job) -> None:
    """Runs the job. Raises `JobFailedError` for a zip that cannot be imported."""
    if await publishing.finished(job):
        return
    if job.payload.get("mode", "once") == "once":
        former = await job.app.db.run(lambda conn: publishing.same_import(conn, job))
        if former is not None:
            await job.transact(partial(publishing.say_already, job=job, former=former))
            return
    with _full_disk_told():
        # A preview has read everything; its rows are published.
        kind = job.payload.get("read") or await _read(job)
        await job.transact(partial(publishing.publish, job=job, kind=kind))


async def run_preview(job: Job) -> None:
    """Reads a zip as an import does, and leaves what it has read for `publishing.publish`."""
    if await publishing.finished(job):
        return
    with _full_disk_told():
        kind = await _read(job)
        await job.transact(partial(publishing.say_ready, job=job, kind=kind))


@contextmanager
def _full_disk_told() -> Iterator[None]:
    """Lets the job fail with its reason if the database's disk is full."""
    try:
        yield
    except psycopg.errors.DiskFull:
        raise JobFailedError("The database's disk is full; nothing was imported.") from None


async def _read(job: Job) -> str:
    """Reads the job's zip into the staging tables; returns the kind of zip."""
    archive, name = await open_archive(job)
    plan = await asyncio.to_thread(plan_of, archive, name)
    await _Import(job, archive, plan).read()
    return KINDS[plan.kind]


class _Import:
    """One attempt at reading a zip."""

    def __init__(self, job: Job, archive: Archive, plan: Plan) -> None:
        self._job = job
        self._archive = archive
        self._plan = plan
        self._read_s = 0.0
        self._whole_files: list[File] = []
        self._pages = {key: self._id(key) for key in plan.pages}
        self._files = {file.path: self._id(f"file:{file.path}") for file in plan.files}
        # The first page that shows a file owns it.
        self._owners = dict[UUID, UUID]()
        self._index = index_of(
            plan,
            {key: f"/p/{made}" for key, made in self._pages.items()},
            {path: f"/api/v1/attachments/{made}" for path, made in self._files.items()},
        )

    async def read(self) -> None:
        """Reads all pages and files of the zip into the staging tables."""
        plan = self._plan
        if plan.kind in {"obsidian", "files"}:
            await asyncio.to_thread(
                parts.add_aliases, self._archive, plan, self._index, self._pages
            )
        await self._job.progress(
            pages=0, pages_total=len(plan.pages), files=0, files_total=len(plan.files)
        )
        await staging.stage_lines(
            self._job,
            [
                Line(number, path, "left out", notes=(reason,))
                for number, (path, reason) in enumerate(plan.left_out)
            ],
        )
        await self._read_pages()
        await self._read_files()

    def _id(self, key: str) -> UUID:
        return uuid5(self._job.id, key)

    async def _read_pages(self) -> None:
        plan, ids = self._plan, self._pages
        there = await staging.staged_pages(self._job)
        batch, size = list[Staged](), 0
        children = dict[str | None, dict[str, str]]()
        for key, page in plan.pages.items():
            children.setdefault(page.parent, {}).setdefault(bare(page.title), f"/p/{ids[key]}")
        base = len(plan.left_out)
        for number, (key, page) in enumerate(plan.pages.items()):
            refs = there.get(ids[key])
            if refs is None:
                relinker = Relinker(self._index, parts.folder(page), [], children.get(key, {}))
                made = await self._page(page, relinker, base + number)
                made.ord = number
                refs = made.file_refs
                batch.append(made)
                size += len(made.content.doc) + sum(len(v.doc) for v in made.versions)
            for ref in refs:
                self._owners.setdefault(ref, ids[key])
            if page.path is not None and self._id(f"whole:{page.path}") in refs:
                self._whole_files.append(parts.whole(page))
            if len(batch) >= BATCH_PAGES or size >= BATCH_BYTES:
                await staging.stage_pages(self._job, batch)
                await self._job.progress(pages=number + 1)
                batch, size = [], 0
        await staging.stage_pages(self._job, batch)
        await self._job.progress(pages=len(plan.pages))

    async def _page(self, page: Page, relinker: Relinker, number: int) -> Staged:
        archive, ids = self._archive, self._pages
        notes = list(archive.notes.get(page.path or "", []))
        title = page.title
        try:
            found, prepared = await self._content(page, relinker, notes)
            title = found.title or title
            refs = parts.files_of(prepared)
            if found.is_cut and page.path:
                refs.append(self._id(f"whole:{page.path}"))
                notes.append("the whole file is attached")
        except page_reader.UnreadablePageError as error:
            notes.append(f"it was attached as a file: {error}")
            prepared, refs = await self._stand_in(page)
        path = page.shown_path or page.path
        line = None
        if path is not None:
            kept = tuple(dict.fromkeys(notes))
            line = Line(number, path, "page", ids[page.key], notes=kept)
        parent = ids[page.parent] if page.parent is not None else None
        made = Staged(ids[page.key], 0, parent, title, page.is_template, prepared, refs, line)
        if page.entry is not None and (page.entry.versions or page.entry.comments):
            await add_history(self._job, archive, page, relinker, made)
        return made

    async def _content(
        self, page: Page, relinker: Relinker, notes: list[str]
    ) -> tuple[page_reader.PageRead, Content]:
        """Reads and prepares a page. Raises `UnreadablePageError`."""
        data = await self._bytes(page)
        begun = time.monotonic()
        if page.form == "nothing":
            found = page_reader.PageRead({"type": "doc", "content": []})
        else:
            found = await worker_requests.read(
                self._job, page_reader.Source(page.form, self._plan.kind, page.title, data)
            )
        notes += found.notes
        relinker.pictures += await self._pictures(page, found)
        linked = await asyncio.to_thread(relinker.run, found.doc)
        notes += said(linked.lost)
        title = found.title = titled(found.title) if found.title else None
        prepared = await worker_requests.prepare(self._job, title or page.title, linked.doc)
        self._read_s += time.monotonic() - begun
        if self._read_s > MAX_READING_S:
            raise JobFailedError("Its pages take too long to read; split the zip.")
        return found, prepared

    async def _bytes(self, page: Page) -> bytes:
        if page.body is not None or page.path is None:
            return page.body or b""
        member = self._archive.members[page.path]
        if member.size > page_reader.MAX_BYTES:
            raise page_reader.UnreadablePageError(f"it has more than {page_reader.MAX_BYTES} bytes")
        with damage(page.path):
            return await asyncio.to_thread(member.read, page_reader.MAX_BYTES)

    async def _pictures(self, page: Page, found: page_reader.PageRead) -> list[str]:
        """Stores pictures that were embedded in the text; returns their addresses."""
        there = await staging.staged_files(self._job) if found.pictures else set()
        urls = list[str]()
        for number, (name, kind, data) in enumerate(found.pictures):
            made = self._id(f"picture:{number}:{page.key}")
            if made not in there:
                file = NewFile(made, self._id(page.key), name, kind)
                await staging.stage_file(self._job, file, io.BytesIO(data), None)
            urls.append(f"/api/v1/attachments/{made}")
        found.pictures = []
        return urls

    async def _stand_in(self, page: Page) -> tuple[Content, list[UUID]]:
        """The content of an unreadable page: a link to its attached file."""
        if page.path is None:
            return await worker_requests.prepare(self._job, page.title, None), []
        made = self._id(f"whole:{page.path}")
        link = {"type": "link", "attrs": {"href": f"/api/v1/attachments/{made}"}}
        text = {"type": "text", "text": posixpath.basename(page.path), "marks": [link]}
        doc: Json = {"type": "doc", "content": [{"type": "paragraph", "content": [text]}]}
        return await worker_requests.prepare(self._job, page.title, doc), [made]

    async def _read_files(self) -> None:
        archive, plan, ids = self._archive, self._plan, self._files
        there = await staging.staged_files(self._job)
        base = len(plan.left_out) + len(plan.pages)
        wanted = [
            (
                file,
                ids[file.path],
                parts.line_of(archive, file, ids[file.path], base + number),
            )
            for number, file in enumerate(plan.files)
        ]
        more = [(file, self._id(f"whole:{file.path}"), None) for file in self._whole_files]
        small, size = list[SmallFile](), 0
        for number, (file, made, line) in enumerate([*wanted, *more]):
            if made not in there:
                member = archive.members[file.path]
                new = NewFile(made, self._owner(file, made), file.name, file.type)
                with damage(file.path):
                    if member.size <= SMALL_BYTES:
                        data = await asyncio.to_thread(member.read, SMALL_BYTES)
                        small.append(SmallFile(new, data, line))
                        size += len(data)
                    else:
                        # Opening reads too: on the event loop it would deadlock, since only the
                        # loop can fetch chunks.
                        with await asyncio.to_thread(member.open) as source:
                            await staging.stage_file(self._job, new, source, line)
            if len(small) >= BATCH_FILES or size >= BATCH_BYTES:
                await staging.stage_small_files(self._job, small)
                small, size = [], 0
            if number % BATCH_FILES == BATCH_FILES - 1:
                await self._job.progress(files=min(number + 1 - len(small), len(wanted)))
        await staging.stage_small_files(self._job, small)
        await self._job.progress(files=len(wanted))

    def _owner(self, file: File, made: UUID) -> UUID:
        if file.owner is not None:
            return self._pages[file.owner]
        return self._owners.get(made) or self._pages[owner_by_folder(self._plan, file.path)]
