"""Creates, starts and stops the parts of a replica.

Invariant: only health requests are answered before the schema is current, the key is checked and
the host map is loaded; an unreachable database only delays that.
"""

import asyncio
import gc
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import psycopg

from notes.auth.encryption import CHECK_PLACE, Vault, WrongKeyError
from notes.auth.oidc import SignOn
from notes.auth.passwords import Passwords
from notes.config import Settings
from notes.db.connect import Conn
from notes.db.failures import UnavailableError
from notes.db.listener import Listener
from notes.db.migrate import SchemaError, migrate
from notes.db.pool import Database
from notes.edits.checkpoint import Checkpoints
from notes.edits.pending import Pending
from notes.events.hub import Hub, prepare_epoch
from notes.events.stream_access import StreamAccess
from notes.jobs.job import JobKind
from notes.jobs.runner import Runner
from notes.log import say
from notes.middleware.sites import HostMap
from notes.presence.meeting import Meeting
from notes.spaces.host_map import keep_current, load
from notes.workers.documents import Documents
from notes.workers.pool import Workers

logger = logging.getLogger(__name__)

MIGRATION_TIMEOUT_S = 6 * 3600.0  # moving files of an older layout takes as long as the disk needs


AGAIN_S = 1.0
MOST_PAUSE_S = 30.0


class Services:
    """The parts of one replica, which handlers share."""

    def __init__(
        self,
        settings: Settings,
        stop: Callable[[Exception], None],
        job_kinds: Mapping[str, JobKind],
    ) -> None:
        self.settings = settings
        self.db = Database(settings.database_url)
        self.listener = Listener(settings.database_url)
        self.vault = Vault(settings.encryption_key)
        self.passwords = Passwords()
        self.workers = Workers()
        self.documents = Documents(self.workers)
        self.checkpoints = Checkpoints(self.db, self.documents)
        self.edits: Pending = self.checkpoints
        self.hosts = HostMap(settings)
        self.hub = Hub(self.db, self.listener)
        self.stream_access = StreamAccess(self.db, self.listener)
        self.meeting = Meeting(self.db, self.listener, self.hub.inboxes)
        self.jobs = Runner(self, self.listener, job_kinds)
        self.sign_on = SignOn(settings, self.db, self.vault)
        self.ready = False
        self._stop = stop
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Starts the replica in the background; returns at once."""
        await self.db.open()
        self._spawn(self._come_up)

    async def close(self) -> None:
        """Ends all background tasks and closes every connection."""
        self.ready = False
        await self.jobs.release()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.sign_on.close()
        await self.workers.close()
        self.passwords.close()
        await self.db.close()

    def _spawn(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._tasks.append(asyncio.create_task(kept_running(work)))

    async def _come_up(self) -> None:
        pause = 0.2
        while True:
            try:
                ran = await self.db.control(self._prepare, MIGRATION_TIMEOUT_S)
                await load(self.db, self.hosts)
                break
            except (WrongKeyError, SchemaError) as error:
                self._stop(error)
                return
            except (psycopg.OperationalError, TimeoutError, UnavailableError) as error:
                say(logger, "waiting for the database", logging.WARNING, reason=str(error))
            except psycopg.Error as error:
                self._stop(SchemaError(f"the database refuses the schema: {error}"))
                return
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 3.0)
        self._spawn(lambda: keep_current(self.db, self.listener, self.hosts))
        self._spawn(self.hub.run)
        self._spawn(self.stream_access.run)
        self._spawn(self.meeting.run)
        self._spawn(self.checkpoints.run)
        self._spawn(self.jobs.run)
        self._spawn(self.listener.run)
        # Objects that exist now stay: exclude them from later garbage collections.
        gc.collect()
        gc.freeze()
        self.ready = True
        say(logger, "ready", migrations=ran)

    async def _prepare(self, conn: Conn) -> list[int]:
        ran = await migrate(conn)
        await prove_key(conn, self.vault)
        await prepare_epoch(conn)
        return ran


async def prove_key(conn: Conn, vault: Vault) -> None:
    """Raises `WrongKeyError` if the stored proof was encrypted with another key."""
    proof = vault.seal(b"the key is the same", CHECK_PLACE)
    await conn.execute("UPDATE settings SET key_check = %s WHERE key_check IS NULL", (proof,))
    row = await (await conn.execute("SELECT key_check FROM settings")).fetchone()
    vault.open(bytes(row["key_check"]) if row else b"", CHECK_PLACE)


async def kept_running(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs `work` until it returns; begins it again where an error ended it that nobody foresaw.

    Without it the replica would go on to serve, and for example tell nobody of an event.
    """
    pause = AGAIN_S
    while True:
        begun = time.monotonic()
        try:
            await work()
        except Exception:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                return  # the replica ends, and some library has made an error of that
            logger.exception("a part has failed, and begins again")
        else:
            return
        pause = AGAIN_S if time.monotonic() - begun > MOST_PAUSE_S else pause
        await asyncio.sleep(pause)
        pause = min(2 * pause, MOST_PAUSE_S)
