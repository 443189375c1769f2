"""Keeps the host map of this replica and the looks in it current (spec: notes-app §3, §6)."""

import asyncio
import contextlib
import logging

import psycopg

from notes.db.failures import UnavailableError
from notes.db.listener import Listener
from notes.db.pool import Database
from notes.log import say
from notes.middleware.sites import HostMap, SpaceHost
from notes.spaces.looks import look_of

logger = logging.getLogger(__name__)

POLL_S = 30.0


async def load(db: Database, hosts: HostMap) -> None:
    """Replaces the map with the domains in the database, and the looks of their sites."""
    rows = await db.all(
        "SELECT s.id, s.domain, s.site_enabled, s.name, s.description, s.public, l.accent,"
        " l.links, coalesce(l.is_indexed, true) AS is_indexed, l.logo_type, l.logo_sha256,"
        " l.language"
        " FROM spaces s LEFT JOIN space_looks l ON l.space_id = s.id"
        " WHERE s.domain = s.approved_domain"
    )
    hosts.spaces = {
        row["domain"]: SpaceHost(row["id"], row["site_enabled"], look_of(row)) for row in rows
    }


async def keep_current(db: Database, listener: Listener, hosts: HostMap) -> None:
    """Reloads the map after each notification and every 30 s, in case one was lost; no end."""
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
            # An unreachable database does not empty the map: the last known one stays in use.
            say(logger, "host map not refreshed", logging.WARNING, reason=str(error))
            await asyncio.sleep(1)
            changed.set()
