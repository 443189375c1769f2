"""A port that fails at first, and the triggers and log lines of a watcher that asks it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any

import anyio
from structlog.testing import capture_logs

from queenright.core.audit.record import Trigger
from queenright.core.observed import Known, MemberStatus
from queenright.engine.trigger_queue import Wakeup
from tests.fakes.virtual_loop import run_virtual


class Stumbling:
    """Stands for a port whose first few calls fail in a way that nobody foresaw."""

    def __init__(self, failures: int) -> None:
        self.left = failures
        self.read_fingerprint = "old"
        self.documents = ()
        self.member = MemberStatus("running", "primary")

    def stumble(self) -> None:
        if self.left:
            self.left -= 1
            raise AttributeError("'list' object has no attribute 'get'")

    async def fingerprint(self) -> str:
        self.stumble()
        return "new"

    async def refresh(self) -> Trigger:
        return Trigger("file", "edited")

    async def events(self) -> AsyncGenerator[str, None]:
        self.stumble()
        yield "service x update"

    async def status(self, address: str, port: int) -> Known[MemberStatus]:
        if address == "10.0.0.1":
            self.stumble()
        return Known(self.member)

    def members(self) -> list[tuple[str, str, int]]:
        return [("a", "10.0.0.1", 8008), ("b", "10.0.0.2", 8008)]


def heard(watcher: Any, wakeup: Wakeup, within_s: float) -> tuple[list[Trigger], list[Any]]:
    """Return a watcher's triggers in that time, and the warnings; it must still run at the end."""

    async def main() -> tuple[list[Trigger], list[Any]]:
        found: list[Trigger] = []
        coroutine: Coroutine[Any, Any, None] = watcher
        with capture_logs() as told:
            task = asyncio.get_running_loop().create_task(coroutine)
            with anyio.move_on_after(within_s):
                while True:
                    cause = await wakeup.wait(within_s)
                    if cause.kind != "timer":
                        found.append(cause)
            assert not task.done()
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()
        return found, told

    return run_virtual(main)
