"""Docker's event stream as wake-ups.

The stream is endless and blocking, so it has a thread of its own, which ends with the process. It
may stop silently (docker/for-linux #101), so listeners must also look from time to time.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import requests
from docker import errors

from queenright.core.planning.lease import LEASE_CONFIG
from queenright.ports.swarm import UnavailableError

FILTERS = {"scope": ["swarm"], "type": ["service", "node", "secret", "config", "network"]}


async def docker_events(client: Any) -> AsyncGenerator[str, None]:
    """Yield one text like ``service main_proxy update`` per event until the stream ends. The lease,
    which changes every few seconds, is left out.

    Then ``client``, one of the SDK's, is closed.

    Raises UnavailableError when the engine can't be reached.
    """
    queue: asyncio.Queue[str | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    failures: list[Exception] = []

    def put(text: str | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(queue.put_nowait, text)

    def listen() -> None:
        try:
            for event in client.events(decode=True, filters=FILTERS):
                if name_of(event) != LEASE_CONFIG:
                    put(describe(event))
        except (errors.DockerException, requests.RequestException, OSError, ValueError) as error:
            failures.append(error)
        finally:
            put(None)

    threading.Thread(target=listen, name="docker-events", daemon=True).start()
    try:
        while (text := await queue.get()) is not None:
            yield text
    finally:
        client.close()
    if failures:
        raise UnavailableError(f"the event stream ended: {failures[0]}")


def describe(event: Mapping[str, Any]) -> str:
    return f"{event.get('Type', '')} {name_of(event)} {event.get('Action', '')}"


def name_of(event: Mapping[str, Any]) -> str:
    actor = event.get("Actor") or {}
    return str((actor.get("Attributes") or {}).get("name") or actor.get("ID", ""))
