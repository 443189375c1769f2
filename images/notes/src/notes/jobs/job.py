"""A claimed job: what it is given, and how it writes.

Invariant: a job writes in transactions that also check that its attempt is still the current one.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from psycopg.types.json import Jsonb

from notes.config import Settings
from notes.db.connect import Conn
from notes.db.failures import UnavailableError
from notes.db.pool import Database
from notes.log import say
from notes.workers.documents import Documents

logger = logging.getLogger(__name__)


class LostJobError(Exception):
    """Another replica has this job now, or it was deleted."""


class JobFailedError(Exception):
    """The job cannot be done; the message is for the user who started it."""


class JobApp(Protocol):
    """The parts of a replica that a job may use."""

    settings: Settings
    db: Database
    documents: Documents


@dataclass(frozen=True, slots=True)
class Job:
    """A claimed job."""

    app: JobApp
    id: UUID
    kind: str
    attempt: int
    space_id: UUID | None
    user_id: UUID | None
    payload: dict[str, Any]

    @property
    def account(self) -> str:
        """The account that this job's work is charged to, separate from the user's requests."""
        return f"job {self.user_id}"

    async def transact(self, work: Callable[[Conn], Awaitable[Any]]) -> Any:
        """Runs `work` in a transaction that commits only while this attempt owns the job.

        Waits while the database is unreachable. Raises `LostJobError`.
        """

        async def fenced(conn: Conn) -> Any:
            cursor = await conn.execute(
                "SELECT 1 FROM jobs WHERE id = %s AND attempt = %s AND state = 'running' FOR SHARE",
                (self.id, self.attempt),
            )
            if await cursor.fetchone() is None:
                raise LostJobError
            return await work(conn)

        while True:
            try:
                return await self.app.db.transact(fenced)
            except UnavailableError as error:
                # All work is idempotent, so it may run twice.
                say(logger, "job waits for the database", logging.WARNING, reason=str(error))
                await asyncio.sleep(0.5)

    async def progress(self, **numbers: int) -> None:
        """Stores the job's progress."""

        async def work(conn: Conn) -> None:
            await conn.execute(
                "UPDATE jobs SET progress = progress || %s, heartbeat_at = now() WHERE id = %s",
                (Jsonb(numbers), self.id),
            )

        await self.transact(work)


@dataclass(frozen=True, slots=True)
class JobKind:
    """The functions of one kind of job.

    `undo` takes back what a failed job has done, in the transaction that stores the failure.
    """

    run: Callable[[Job], Awaitable[None]]
    undo: Callable[[Conn, UUID], Awaitable[None]] | None = None
