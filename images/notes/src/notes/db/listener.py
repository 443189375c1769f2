"""Listens for database notifications on one connection and calls their handlers.

A notification only triggers a handler, which reads the state from the tables. Invariant: after
every reconnect all handlers are called, since notifications in between are lost.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable

import psycopg

from notes.db.connect import open_connection
from notes.log import say

logger = logging.getLogger(__name__)

HEARTBEAT_S = 15.0
CHANNELS = ("app_spaces", "app_events", "app_jobs", "app_access", "app_presence")


class Listener:
    """Runs until cancelled; calls the handlers of a channel for each notification on it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._handlers: dict[str, list[Callable[[str], None]]] = {name: [] for name in CHANNELS}

    def on(self, channel: str, handler: Callable[[], None]) -> None:
        """Calls `handler` for each notification on `channel` and after each reconnect."""
        self.hear(channel, lambda _: handler())

    def hear(self, channel: str, handler: Callable[[str], None]) -> None:
        """Calls `handler` with the payload of each notification on `channel`.

        After each reconnect it is called with an empty text: notifications may have been lost.
        """
        self._handlers[channel].append(handler)

    async def run(self) -> None:
        pause = 0.2
        while True:
            try:
                async with asyncio.timeout(10):
                    conn = await open_connection(self._url, "notes-listener")
                try:
                    for channel in CHANNELS:
                        await conn.execute(f"LISTEN {channel}")
                    for channel in CHANNELS:
                        self._wake(channel, "")
                    pause = 0.2
                    await self._hear(conn)
                finally:
                    with contextlib.suppress(psycopg.Error):
                        await conn.close()
            except (psycopg.Error, OSError, TimeoutError) as error:
                say(logger, "listener lost its connection", logging.WARNING, reason=str(error))
            await asyncio.sleep(pause)
            pause = min(pause * 2, 5.0)

    async def _hear(self, conn: psycopg.AsyncConnection[object]) -> None:
        while True:
            async for notice in conn.notifies(timeout=HEARTBEAT_S):
                self._wake(notice.channel, notice.payload)
            # Check that an idle connection is alive, and still connected to the primary.
            async with asyncio.timeout(5):
                cursor = await conn.execute("SELECT 1 WHERE NOT pg_is_in_recovery()")
                if await cursor.fetchone() is None:
                    raise psycopg.OperationalError("the server has become a standby")

    def _wake(self, channel: str, said: str) -> None:
        for handler in self._handlers.get(channel, ()):
            handler(said)
