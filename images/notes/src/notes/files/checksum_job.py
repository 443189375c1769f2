"""The job that computes the checksums of files migrated from the older layout.

Until then a file's checksum is unknown and its entity tag is its id. Invariant: checksums are those
of the stored bytes. Writing them also frees the space of the column that held the file: PostgreSQL
then stores the row without it.
"""

from functools import partial
from uuid import UUID

from notes.db.connect import Conn
from notes.files import chunks
from notes.jobs.job import Job


async def sum_files(job: Job) -> None:
    """Computes the checksums of every file that has none, one file after the other."""
    db = job.app.db
    rows = await db.all(
        "SELECT id, size FROM attachments WHERE sha256 IS NULL OR crc32 IS NULL ORDER BY id"
    )
    for number, row in enumerate(rows):
        try:
            found = await chunks.sums(db, row["id"], row["size"])
        except FileNotFoundError:
            continue  # the file was deleted in the meantime
        await job.transact(partial(_store, file_id=row["id"], found=found))
        await job.progress(files=number + 1, files_total=len(rows))


async def _store(conn: Conn, file_id: UUID, found: chunks.Sums) -> None:
    await conn.execute(
        "UPDATE attachments SET sha256 = %s, crc32 = %s WHERE id = %s",
        (found.sha256, found.crc32, file_id),
    )
