"""Database access for the application: queries and transactions that are retried at a failover.


Ten pooled connections, one for control (readiness, migrations) and one that listens: at most twelve
per replica (spec: notes-app §8). Invariant: a transaction is run again only if it certainly did not
commit.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg.rows import DictRow
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from notes.db.connect import Conn, conninfo, dress, open_connection
from notes.db.failures import OutcomeUnknownError, UnavailableError, is_dead, may_repeat

T = TypeVar("T")
Params = Sequence[Any] | Mapping[str, Any] | None

POOL_SIZE = 10  # spec: notes-app §8
PATIENCE_S = 8.0  # a request waits so long for a database that fails over
CHECK_IDLE_S = 1.0  # a connection idle for longer is checked for being writable
READY_TIMEOUT_S = 2.0


class Database:
    """The connection pool and control connection of one replica."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._last_used: dict[int, float] = {}
        self._suspect_before = 0.0
        self._control: Conn | None = None
        self._control_lock = asyncio.Lock()
        self._pool: AsyncConnectionPool[Conn] = AsyncConnectionPool(
            conninfo(url, "notes"),
            min_size=1,
            max_size=POOL_SIZE,
            open=False,
            configure=dress,
            check=self._check,
            timeout=PATIENCE_S,
            max_idle=300,
            max_lifetime=3600,
            reconnect_timeout=30,
        )

    @property
    def url(self) -> str:
        return self._url

    @property
    def closed(self) -> bool:
        """True if the pool is closed because the replica stops."""
        return self._pool.closed

    async def open(self) -> None:
        """Starts to connect; returns at once, even without a database."""
        await self._pool.open(wait=False)

    async def close(self) -> None:
        await self._pool.close(timeout=2)
        if self._control is not None:
            await self._control.close()
            self._control = None

    async def _check(self, conn: psycopg.AsyncConnection[Any]) -> None:
        last = self._last_used.get(id(conn), 0.0)
        if last > self._suspect_before and time.monotonic() - last < CHECK_IDLE_S:
            return
        async with asyncio.timeout(3):
            cursor = await conn.execute("SELECT current_setting('transaction_read_only') AS ro")
            row = await cursor.fetchone()
        if row is None or row["ro"] != "off":
            await conn.close()
            raise psycopg.OperationalError("the server has become a standby")

    @contextlib.asynccontextmanager
    async def connection(self, patience_s: float = PATIENCE_S) -> AsyncIterator[Conn]:
        """A pooled connection in autocommit mode.

        Raises `UnavailableError` if none is free within `patience_s`.
        """
        try:
            conn = await self._pool.getconn(timeout=patience_s)
        except (PoolTimeout, PoolClosed, TimeoutError, psycopg.OperationalError) as error:
            raise UnavailableError("the database cannot be reached") from error
        try:
            yield conn
        except BaseException as error:
            if is_dead(error):
                self._suspect_before = time.monotonic()
                await conn.close()
            raise
        finally:
            if not conn.closed:
                self._last_used[id(conn)] = time.monotonic()
            else:
                self._last_used.pop(id(conn), None)
            await self._pool.putconn(conn)

    async def _repeat(self, attempt: Callable[[float], Awaitable[T]]) -> T:
        deadline = time.monotonic() + PATIENCE_S
        pause = 0.05
        while True:
            try:
                return await attempt(max(0.1, deadline - time.monotonic()))
            except psycopg.Error as error:
                if not may_repeat(error):
                    raise
                if time.monotonic() + pause > deadline:
                    raise UnavailableError("the database cannot be reached") from error
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.5)

    async def run(self, work: Callable[[Conn], Awaitable[T]]) -> T:
        """Runs `work`, which only reads; runs it again if its connection breaks."""

        async def attempt(patience_s: float) -> T:
            async with self.connection(patience_s) as conn:
                return await work(conn)

        return await self._repeat(attempt)

    async def transact(self, work: Callable[[Conn], Awaitable[T]]) -> T:
        """Runs `work` in a transaction and commits it.

        Raises `OutcomeUnknownError` if the connection broke during the commit, and
        `UnavailableError` if there was no connection.
        """

        async def attempt(patience_s: float) -> T:
            committing = False
            async with self.connection(patience_s) as conn:
                try:
                    await conn.execute("BEGIN")
                    result = await work(conn)
                    committing = True
                    await conn.execute("COMMIT")
                except BaseException as error:
                    if committing and is_dead(error):
                        await conn.close()
                        self._suspect_before = time.monotonic()
                        raise OutcomeUnknownError("the connection broke while saving") from error
                    if not conn.closed and not is_dead(error):
                        await _roll_back(conn)
                    raise
                return result

        return await self._repeat(attempt)

    async def one(self, query: LiteralString, params: Params = None) -> DictRow | None:
        """The first row of a reading query, or None."""

        async def work(conn: Conn) -> DictRow | None:
            return await (await conn.execute(query, params)).fetchone()

        return await self.run(work)

    async def all(self, query: LiteralString, params: Params = None) -> list[DictRow]:
        """Every row of a reading query."""

        async def work(conn: Conn) -> list[DictRow]:
            return await (await conn.execute(query, params)).fetchall()

        return await self.run(work)

    async def do(self, query: LiteralString, params: Params = None) -> int:
        """Runs one statement in its own transaction; returns the number of affected rows."""

        async def work(conn: Conn) -> int:
            return (await conn.execute(query, params)).rowcount

        return await self.transact(work)

    async def control(self, work: Callable[[Conn], Awaitable[T]], timeout_s: float) -> T:
        """Runs `work` on the control connection, which is free even if the pool is exhausted."""
        # The timeout includes waiting for the lock: in an outage callers must not queue up.
        async with asyncio.timeout(timeout_s), self._control_lock:
            if self._control is None or self._control.closed:
                self._control = await open_connection(self._url, "notes-control")
            try:
                return await work(self._control)
            except BaseException:
                # Its state is unknown now, and a new connection is cheap.
                await self._control.close()
                self._control = None
                raise

    async def writable(self) -> bool:
        """True if the database answers now and accepts writes."""

        async def ask(conn: Conn) -> bool:
            cursor = await conn.execute("SELECT current_setting('transaction_read_only') AS ro")
            row = await cursor.fetchone()
            if row is None or row["ro"] != "off":
                raise psycopg.OperationalError("the server is a standby")
            return True

        try:
            return await self.control(ask, READY_TIMEOUT_S)
        except (psycopg.Error, TimeoutError):
            return False


async def _roll_back(conn: Conn) -> None:
    try:
        if conn.info.transaction_status is not psycopg.pq.TransactionStatus.IDLE:
            await conn.execute("ROLLBACK")
    except (psycopg.Error, asyncio.CancelledError):
        await conn.close()
