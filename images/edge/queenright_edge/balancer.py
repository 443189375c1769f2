"""Tells HAProxy who gets requests, through its socket: no reload, so no connection is touched.

A replica has a place (`s1`, `s2` …) in both of HAProxy's lists. Invariant: a place that is given up
finishes what it has begun, and is the last to be given away again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection
from pathlib import Path

PLACES = 128
"""As many as `haproxy.cfg` has in each list."""
LISTS = ("reads", "writes")
_HARMLESS = ("no need to change", "IP changed", "port changed")


class BalancerError(Exception):
    """HAProxy did not take a command."""


class Balancer:
    """The places, and who has which."""

    def __init__(self, control: Path) -> None:
        self._control = control
        self._places: dict[str, str] = {}
        self._free = deque(f"s{number}" for number in range(1, PLACES + 1))

    async def serve(self, addresses: Collection[str]) -> None:
        """From now on these addresses get requests, and no others."""
        added = [address for address in addresses if address not in self._places]
        gone = [address for address in self._places if address not in addresses]
        commands: list[str] = []
        for address in added[: len(self._free)]:
            place = self._free.popleft()
            self._places[address] = place
            for name in LISTS:
                commands.append(f"set server {name}/{place} addr {address}")
                commands.append(f"set server {name}/{place} state ready")
        for address in gone:
            place = self._places.pop(address)
            self._free.append(place)
            commands += [f"set server {name}/{place} state maint" for name in LISTS]
        for command in commands:
            await self._say(command)

    async def _say(self, command: str) -> None:
        reader, writer = await asyncio.open_unix_connection(str(self._control))
        try:
            writer.write(f"{command}\n".encode())
            await writer.drain()
            reply = (await reader.read()).decode(errors="replace").strip()
        finally:
            writer.close()
        if reply and not any(word in reply for word in _HARMLESS):
            raise BalancerError(f"{command}: {reply}")
