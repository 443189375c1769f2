"""Keeps the host map of this replica current (spec: notes-app §3, §6)."""

import asyncio
import contextlib
import logging

import psycopg

from notes.db.failures import UnavailableError
from notes.db.listener import Listener
from notes.db.pool import Database
from notes.edge.hosts import HostMap, SpaceHost
from notes.log import say

logger = logging.getLogger(__name__)

POLL_S = 30.0


async def load(db: Database, hosts: HostMap) -> None:
    """Replaces the map by what the database says now."""
    rows = await db.all("SELECT id, domain, site_enabled FROM spaces WHERE domain IS NOT NULL")
    hosts.spaces = {row["domain"]: SpaceHost(row["id"], row["site_enabled"]) for row in rows}


async def keep_current(db: Database, listener: Listener, hosts: HostMap) -> None:
    """Runs until cancelled: loads after each notification, and every 30 s in case one was lost."""
    changed = asyncio.Event()
    listener.on("app_spaces", changed.set)
    while True:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(POLL_S):
                await changed.wait()
        changed.clear()
        try:
            await load(db, hosts)
        except (psycopg.Error, UnavailableError) as error:
            # Unknown is not gone: the last known map goes on serving.
            say(logger, "host map not refreshed", logging.WARNING, reason=str(error))
            await asyncio.sleep(1)
            changed.set()
