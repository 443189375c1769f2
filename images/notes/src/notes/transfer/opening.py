"""Opens the zip of an import, and zips inside it, and chooses the plan for it.

Invariant: a zip that is too large, or unpacks to too much, is refused before its files are read.
"""

import asyncio
import zipfile
from uuid import UUID, uuid5

import msgspec

from notes.jobs.job import Job, JobFailedError
from notes.transfer import json_plans, staging
from notes.transfer.archive import (
    Archive,
    ChunkFile,
    Held,
    check_room,
    damage,
    gather,
    open_zip,
    parts_of,
)
from notes.transfer.import_plan import Plan, kind_of, make_plan
from notes.transfer.manifest import MANIFEST, Manifest
from notes.transfer.staging import NewFile

MAX_MANIFEST_BYTES = 64 * 1024 * 1024


async def open_archive(job: Job) -> tuple[Archive, str]:
    """The files of the job's zip, and the zip's name. Raises `JobFailedError`."""
    source = UUID(job.payload["file_id"])
    row = await job.app.db.one(
        "SELECT coalesce(size, (SELECT sum(c.size) FROM chunks c WHERE c.file_id = f.id))"
        "::bigint AS size, name FROM (SELECT id, size, name FROM uploads UNION ALL"
        " SELECT id, size, name FROM attachments) f WHERE id = %s",
        (source,),
    )
    if row is None:
        raise JobFailedError("The uploaded zip was deleted.")
    size = row["size"] or 0
    held = Held()
    outer = await _open(job, source, size, held)
    check_room([outer], size)
    zips = [await _part(job, outer, info, held) for info in parts_of(outer)] or [outer]
    check_room(zips, size)
    limit = job.app.settings.max_attachment_bytes
    return await asyncio.to_thread(gather, zips, limit), row["name"]


async def _open(job: Job, file_id: UUID, size: int, held: Held) -> zipfile.ZipFile:
    file = ChunkFile(job.app.db, file_id, size, asyncio.get_running_loop(), held)
    return await asyncio.to_thread(open_zip, file, size)


async def _part(
    job: Job, outer: zipfile.ZipFile, info: zipfile.ZipInfo, held: Held
) -> zipfile.ZipFile:
    """Opens a zip in the zip: unpacks it into the database, since reading it needs seeking."""
    made = uuid5(job.id, f"part:{info.filename}")
    if made not in await staging.staged_files(job):
        with damage(info.filename):
            # Opening reads too: on the event loop it would deadlock, since only the loop can fetch.
            source = await asyncio.to_thread(outer.open, info)
            with source:
                part = NewFile(made, made, "part.zip", "application/zip")
                await staging.stage_file(job, part, source, None)
    return await _open(job, made, info.file_size, held)


def plan_of(archive: Archive, zip_name: str) -> Plan:
    """The plan of the pages and files in the zip. Raises `JobFailedError`."""
    kind = kind_of(archive)
    if kind == "outline-json":
        return json_plans.outline(archive)
    if kind == "bookstack":
        return json_plans.bookstack(archive)
    return make_plan(archive, kind, _manifest(archive), zip_name)


def _manifest(archive: Archive) -> Manifest | None:
    member = archive.members.get(MANIFEST)
    if member is None:
        return None
    if member.size > MAX_MANIFEST_BYTES:
        raise JobFailedError(f"{MANIFEST}: it is too large.")
    try:
        with damage(MANIFEST):
            return msgspec.json.decode(member.read(MAX_MANIFEST_BYTES), type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise JobFailedError(f"{MANIFEST}: it is damaged.") from None
