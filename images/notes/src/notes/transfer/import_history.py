"""Imports the versions and comments of a page from this application's own export.

Invariant: their authors are names, never accounts of this installation; an answer to a missing
comment begins a thread.
"""

import asyncio
from uuid import UUID, uuid5

import msgspec

from notes.jobs.job import Job, JobFailedError
from notes.transfer import page_reader, worker_requests
from notes.transfer.archive import Archive, damage
from notes.transfer.entry_names import shown
from notes.transfer.import_plan import Page, titled
from notes.transfer.manifest import CommentEntry, VersionEntry
from notes.transfer.relink import Relinker
from notes.transfer.staging import Staged, Version

MAX_COMMENTS_BYTES = 32 * 1024 * 1024


async def add_history(
    job: Job, archive: Archive, page: Page, relinker: Relinker, made: Staged
) -> None:
    """Adds a page's history from the manifest. Raises `JobFailedError` if it is damaged."""
    assert page.entry is not None  # noqa: S101 - checked by the caller
    seen = set[int]()
    newest: VersionEntry | None = None
    oldest: VersionEntry | None = None
    for entry in sorted(page.entry.versions, key=lambda version: version.version):
        if entry.version in seen:
            continue
        seen.add(entry.version)
        oldest = oldest or entry
        if entry.path is None:
            newest = entry
            continue
        path = archive.find(entry.path)
        if path is None:
            continue
        made.versions.append(await _version(job, archive, path, entry, relinker))
    if newest is not None and oldest is not None:
        made.version = newest.version
        made.author, made.restored_from = newest.author, newest.restored_from
        made.created_at, made.updated_at = oldest.at, newest.at
        made.versions = [v for v in made.versions if v.version < newest.version]
    else:
        made.versions = []
    path = archive.find(page.entry.comments) if page.entry.comments is not None else None
    if path is not None:
        await _comments(job, archive, path, made)


async def _version(
    job: Job, archive: Archive, path: str, entry: VersionEntry, relinker: Relinker
) -> Version:
    member = archive.members[path]
    try:
        if member.size > page_reader.MAX_BYTES:
            raise page_reader.UnreadablePageError("it is too long")
        with damage(path):
            data = await asyncio.to_thread(member.read, page_reader.MAX_BYTES)
        source = page_reader.Source("markdown", "own", entry.title, data)
        found = await worker_requests.read(job, source)
        linked = await asyncio.to_thread(relinker.run, found.doc)
        prepared = await worker_requests.prepare(job, titled(entry.title), linked.doc)
    except page_reader.UnreadablePageError as error:
        raise JobFailedError(f"{shown(path)}: {error}") from None
    return Version(
        entry.version,
        titled(entry.title),
        prepared.doc,
        entry.author,
        entry.at,
        entry.restored_from,
    )


async def _comments(job: Job, archive: Archive, path: str, made: Staged) -> None:
    member = archive.members[path]
    if member.size > MAX_COMMENTS_BYTES:
        raise JobFailedError(f"{shown(path)}: it is too large.")
    with damage(path):
        data = await asyncio.to_thread(member.read, MAX_COMMENTS_BYTES)
    try:
        entries = msgspec.json.decode(data, type=list[CommentEntry])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise JobFailedError(f"{shown(path)}: it is damaged.") from None
    tops = {entry.id for entry in entries if entry.parent is None}
    done = set[UUID]()
    # First comments before their answers: an answer's row refers to the first comment.
    for entry in sorted(entries, key=lambda c: c.parent is not None):
        if entry.id in done or not entry.body.strip():
            continue
        done.add(entry.id)
        above = entry.parent if entry.parent in tops else None
        made.comments.append(
            (_id(job, made, entry.id), _id(job, made, above) if above else None, entry)
        )


def _id(job: Job, made: Staged, comment: UUID) -> UUID:
    return uuid5(job.id, f"comment:{made.node_id}:{comment}")
