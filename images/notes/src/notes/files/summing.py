"""The job that sums the files that came out of the older layout.

Until it has been at a file, its checksum is not known and its entity tag is its id. Invariant: sums
are those of the stored bytes. Writing them is also what frees the space of the column that the file
was in: the row is stored anew without it.
"""

from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from notes.db.connect import Conn
from notes.files import chunks

if TYPE_CHECKING:
    from notes.jobs.runner import Job


async def sum_files(job: "Job") -> None:
    """Sums every file that has no sums, one after the other."""
    db = job.app.db
    rows = await db.all(
        "SELECT id, size FROM attachments WHERE sha256 IS NULL OR crc32 IS NULL ORDER BY id"
    )
    for number, row in enumerate(rows):
        try:
            found = await chunks.sums(db, row["id"], row["size"])
        except FileNotFoundError:
            continue  # deleted meanwhile
        await job.transact(partial(_store, file_id=row["id"], found=found))
        await job.progress(files=number + 1, files_total=len(rows))


async def _store(conn: Conn, file_id: UUID, found: chunks.Sums) -> None:
    await conn.execute(
        "UPDATE attachments SET sha256 = %s, crc32 = %s WHERE id = %s",
        (found.sha256, found.crc32, file_id),
    )
