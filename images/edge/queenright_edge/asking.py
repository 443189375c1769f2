"""Asks DNS for the replicas, and each of them for its readiness (spec: notes-app §4)."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Collection

from queenright_edge.ready import Answer

ANSWER_S = 1.0
LONGEST_LINE = 4096


async def resolve(name: str) -> frozenset[str] | None:
    """The IPv4 addresses of a name; None when nobody can tell."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(name, None, family=socket.AF_INET, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return None
    return frozenset(str(entry[4][0]) for entry in found)


async def ask_all(addresses: Collection[str], port: int) -> dict[str, Answer]:
    """Each address's answer, all asked at once."""
    asked = sorted(addresses)
    answers = await asyncio.gather(*(ask(address, port) for address in asked))
    return dict(zip(asked, answers, strict=True))


async def ask(address: str, port: int) -> Answer:
    """`GET /readyz` at a replica."""
    try:
        async with asyncio.timeout(ANSWER_S):
            return await _ask(address, port)
    except TimeoutError:
        return Answer.SILENT
    except ConnectionRefusedError:
        return Answer.REFUSED
    except OSError:
        return Answer.SILENT


async def _ask(address: str, port: int) -> Answer:
    reader, writer = await asyncio.open_connection(address, port, limit=LONGEST_LINE)
    try:
        writer.write(b"GET /readyz HTTP/1.0\r\nHost: edge\r\nUser-Agent: queenright-edge\r\n\r\n")
        await writer.drain()
        with contextlib.suppress(ValueError):
            words = (await reader.readline()).split()
            if len(words) >= 2 and words[0].startswith(b"HTTP/"):
                return Answer.READY if words[1] == b"200" else Answer.NOT_READY
        return Answer.SILENT
    finally:
        writer.close()
