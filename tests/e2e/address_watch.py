"""Watch the virtual address from outside: its holder, and the time since which it answers.

The address is asked from the lab's `host`, which is no node; its holders are read in the nodes' own
network namespaces, so that a node without a connection to the LAN is seen too.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tests.lab.lab import Lab

ASK_EACH_S = 0.05
ANSWER_WITHIN_S = 1.0
LOOK_EACH_S = 0.05
CLONE_NEWNET = 0x40000000
STATISTICS = 7000
QUESTIONS = {
    STATISTICS: (b"HEAD / HTTP/1.0\r\n\r\n", (b"HTTP/",)),
    # Whether the server speaks TLS (SSLRequest); PostgreSQL says yes or no.
    5000: (b"\x00\x00\x00\x08\x04\xd2\x16\x2f", (b"S", b"N")),
}
"""By the port: what is asked, and how an answer begins."""

libc = ctypes.CDLL(None, use_errno=True)


def enter(netns: str) -> None:
    """Moves the calling thread, and no other, into a named network namespace."""
    descriptor = os.open(f"/run/netns/{netns}", os.O_RDONLY)
    try:
        if libc.setns(descriptor, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns to {netns}")
    finally:
        os.close(descriptor)


class AddressWatch:
    """Asks the address each 50 ms for an answer on a port of its proxy, and looks as often who has
    it."""

    def __init__(
        self, lab: Lab, address: str, nodes: tuple[str, ...], port: int = STATISTICS
    ) -> None:
        lab.client("host")  # made on first use
        self.lab, self.address, self.nodes, self.port = lab, address, nodes, port
        self.answers: list[float] = []
        """The send times of the answered requests, by the monotonic clock."""
        self.looks: list[tuple[float, frozenset[str]]] = []
        self._ended = threading.Event()
        self._threads = [
            threading.Thread(target=run, daemon=True) for run in (self._ask, self._look)
        ]

    def __enter__(self) -> AddressWatch:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    @property
    def holders(self) -> frozenset[str]:
        return self.looks[-1][1] if self.looks else frozenset()

    def answers_since(self, moment: float) -> int:
        return sum(1 for at in list(self.answers) if at >= moment)

    def gap_s(self, since: float) -> float:
        """The longest time between two answered requests, the later one sent after ``since``."""
        return max(
            (after - before for before, after in pairwise(sorted(self.answers)) if after >= since),
            default=0.0,
        )

    def together_s(self, since: float, spared: frozenset[str] = frozenset()) -> float:
        """The longest time in which two nodes had the address, without counting ``spared``."""
        longest_s, began = 0.0, None
        for at, holders in list(self.looks):
            if at < since or len(holders - spared) < 2:
                began = None
                continue
            began = at if began is None else began
            longest_s = max(longest_s, at - began + LOOK_EACH_S)
        return longest_s

    def _ask(self) -> None:
        enter(self.lab.settings.netns("host"))
        asyncio.run(self._ask_on())

    async def _ask_on(self) -> None:
        due, asked = time.monotonic(), set[asyncio.Task[None]]()
        while not self._ended.is_set():
            task = asyncio.create_task(self._once())
            asked.add(task)
            task.add_done_callback(asked.discard)
            due = max(due + ASK_EACH_S, time.monotonic())
            await asyncio.sleep(due - time.monotonic())

    async def _once(self) -> None:
        began = time.monotonic()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(ANSWER_WITHIN_S):
                reader, writer = await asyncio.open_connection(self.address, self.port)
                try:
                    question, answers = QUESTIONS[self.port]
                    writer.write(question)
                    if (await reader.read(len(answers[0]))).startswith(answers):
                        self.answers.append(began)
                finally:
                    writer.close()

    def _look(self) -> None:
        while not self._ended.is_set():
            self.looks.append((time.monotonic(), frozenset(self._having())))
            self._ended.wait(LOOK_EACH_S)

    def _having(self) -> Iterator[str]:
        needle = f"|-- {self.address}\n"
        for node in self.nodes:
            try:
                enter(self.lab.settings.netns(node))
                text = Path("/proc/thread-self/net/fib_trie").read_text()
            except OSError:
                continue  # no power
            if needle in text:
                yield node
