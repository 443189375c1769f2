"""Claims jobs and runs them, one at a time per replica (spec: notes-app §3, §8).

A claim uses SKIP LOCKED and counts the attempt; the number fences off a replica that lost the job.
Invariant: a job writes only in transactions that also check that the attempt is still its own.
"""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Mapping
from typing import LiteralString
from uuid import UUID

import psycopg

from notes.db.connect import Conn
from notes.db.failures import UnavailableError, may_repeat
from notes.db.listener import Listener
from notes.events.record import tell
from notes.jobs.housekeeping import housekeeping
from notes.jobs.job import Job, JobApp, JobFailedError, JobKind, LostJobError
from notes.log import say
from notes.quotas.limits import problem_of

logger = logging.getLogger(__name__)

REQUEUE_MIN = 15  # spec: notes-app §8
#: So many replicas may die at one job of a user; a job that kills them would kill all in turn.
MOST_DEATHS = 3
HEARTBEAT_S = 30.0
POLL_S = 30.0
HOUSEKEEPING_S = 600.0

_GIVEN_UP = (
    f"The job was given up after {MOST_DEATHS} replicas died at it; split the zip,"
    " or ask an administrator."
)
_IS_SILENT: LiteralString = "state = 'running' AND heartbeat_at < now() - make_interval(mins => %s)"


def _passes(error: Exception) -> bool:
    """True if a retry may succeed; a statement that the database refuses fails again."""
    if isinstance(error, psycopg.Error):
        return may_repeat(error) or isinstance(error, psycopg.errors.QueryCanceled)
    is_gone = isinstance(error, FileNotFoundError)
    return isinstance(error, UnavailableError | OSError) and not is_gone


class Runner:
    """The jobs of one replica."""

    def __init__(self, app: JobApp, listener: Listener, kinds: Mapping[str, JobKind]) -> None:
        self._app = app
        self._kinds = kinds
        self._name = f"{socket.gethostname()}/{os.getpid()}"
        self._woken = asyncio.Event()
        self._current: Job | None = None
        self._cleaned_at = 0.0
        listener.on("app_jobs", self._woken.set)

    async def run(self) -> None:
        while True:
            try:
                await self._tidy()
                job = await self._claim()
            except (psycopg.Error, UnavailableError) as error:
                say(logger, "cannot read jobs; trying again", logging.WARNING, reason=str(error))
                await asyncio.sleep(1)
                continue
            if job is not None:
                await self._do(job)
                continue
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_S):
                    await self._woken.wait()
            self._woken.clear()

    async def release(self) -> None:
        """Puts the interrupted job back in the queue, so that another replica runs it at once."""
        job = self._current
        if job is None:
            return
        with contextlib.suppress(psycopg.Error, UnavailableError, TimeoutError):
            async with asyncio.timeout(2):
                await self._app.db.do(
                    "WITH back AS (UPDATE jobs SET state = 'queued', attempt = attempt + 1"
                    " WHERE id = %s AND attempt = %s AND state = 'running' RETURNING 1)"
                    " SELECT pg_notify('app_jobs', '') FROM back",
                    (job.id, job.attempt),
                )

    async def _tidy(self) -> None:
        loop = asyncio.get_running_loop()
        # The application's own jobs have no user; nobody can make them kill a replica.
        await self._app.db.do(
            "UPDATE jobs SET state = 'queued', deaths = deaths + 1 WHERE "
            + _IS_SILENT
            + " AND (deaths + 1 < %s OR user_id IS NULL)",
            (REQUEUE_MIN, MOST_DEATHS),
        )
        await self._give_up()
        if self._cleaned_at == 0.0 or loop.time() - self._cleaned_at > HOUSEKEEPING_S:
            await housekeeping(self._app.db)
            self._cleaned_at = loop.time()

    async def _give_up(self) -> None:
        """Ends the jobs that too many replicas have died at."""

        async def work(conn: Conn) -> None:
            cursor = await conn.execute(
                "UPDATE jobs SET deaths = deaths + 1 WHERE id = (SELECT id FROM jobs WHERE "
                + _IS_SILENT
                + " AND user_id IS NOT NULL LIMIT 1 FOR UPDATE SKIP LOCKED)"
                " RETURNING id, kind, user_id",
                (REQUEUE_MIN,),
            )
            row = await cursor.fetchone()
            if row is not None:
                await self._end(conn, row["id"], row["kind"], row["user_id"], _GIVEN_UP)
                say(logger, "job given up", logging.WARNING, job=row["id"], kind=row["kind"])

        try:
            # One at a time: what a job has stored may take a while to delete.
            await self._app.db.transact(work)
        except psycopg.Error as error:
            if may_repeat(error):
                raise
            # It holds up no other job.
            say(logger, "cannot give up a job", logging.WARNING, reason=str(error))

    async def _claim(self) -> Job | None:
        async def work(conn: Conn) -> Job | None:
            cursor = await conn.execute(
                "UPDATE jobs SET state = 'running', attempt = attempt + 1, claimed_by = %s,"
                " heartbeat_at = now() WHERE id = (SELECT id FROM jobs WHERE state = 'queued'"
                " AND run_at <= now() ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED)"
                " RETURNING id, kind, attempt, space_id, user_id, payload",
                (self._name,),
            )
            row = await cursor.fetchone()
            return None if row is None else Job(self._app, **row)

        return await self._app.db.transact(work)

    async def _do(self, job: Job) -> None:
        self._current = job
        beat = asyncio.create_task(self._beat(job))
        say(logger, "job started", job=job.id, kind=job.kind, attempt=job.attempt)
        try:
            await self._kind(job).run(job)
            await self._finish(job, None)
        except LostJobError:
            say(logger, "job lost to another replica", logging.WARNING, job=job.id)
        except JobFailedError as error:
            await self._finish(job, str(error))
        except Exception as error:
            over_quota = problem_of(error) if isinstance(error, psycopg.Error) else None
            if over_quota is not None:
                await self._finish(job, str(over_quota))
            elif _passes(error):
                say(logger, "job interrupted", logging.WARNING, job=job.id, reason=str(error))
                await asyncio.sleep(1)
                await self.release()
            else:
                logger.exception("a job failed")
                await self._finish(job, "The job failed; the log of the replica has the reason.")
        finally:
            beat.cancel()
            self._current = None

    def _kind(self, job: Job) -> JobKind:
        kind = self._kinds.get(job.kind)
        if kind is None:
            raise JobFailedError(f"This version knows no job of the kind {job.kind!r}.")
        return kind

    async def _finish(self, job: Job, error: str | None) -> None:
        with contextlib.suppress(LostJobError):
            await job.transact(lambda conn: self._end(conn, job.id, job.kind, job.user_id, error))
        say(logger, "job finished", job=job.id, kind=job.kind, error=error)

    async def _end(
        self, conn: Conn, job_id: UUID, name: str, user_id: UUID | None, error: str | None
    ) -> None:
        """Stores the end of a job, takes back what a failed one has done, and tells its user."""
        state = "failed" if error else "done"
        await conn.execute(
            "UPDATE jobs SET state = %s, error = %s, finished_at = now() WHERE id = %s",
            (state, error, job_id),
        )
        kind = self._kinds.get(name)
        if error and kind is not None and kind.undo is not None:
            await kind.undo(conn, job_id)
        if user_id is not None:
            await tell(conn, "job.finished", user_id=user_id, job_id=job_id, state=state)

    async def _beat(self, job: Job) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            with contextlib.suppress(psycopg.Error, UnavailableError):
                await self._app.db.do(
                    "UPDATE jobs SET heartbeat_at = now() WHERE id = %s AND attempt = %s",
                    (job.id, job.attempt),
                )
