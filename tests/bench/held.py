"""The longest time for which the event loop runs nothing else, and the code that ran meanwhile.

A stretch is everything between two wake-ups of a task that asks for one every ``TICK_S``: seconds
are of the thread's processor time. With ``stacks``, a second thread looks every ``LOOK_S`` at what
the loop's thread runs, and the longest stretches are printed with the functions seen most in
them; that costs time itself, so figures of such a run are no measurements.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from types import FrameType

import anyio

TICK_S = 0.002
LOOK_S = 0.001
TOLD = 12
"""The number of stretches that are printed."""
MOST_STACKS = 4
DEEPEST = 14


@dataclass
class Stretch:
    """One stretch, and how often each stack was seen in it."""

    took_s: float
    at_s: float
    stacks: Counter[str] = field(default_factory=Counter)


class Held:
    """Measures, beside what runs on the event loop, how long one step of it takes."""

    def __init__(self, *, stacks: bool = False) -> None:
        self.longest_s = 0.0
        self._stacks = stacks
        self._seen: Counter[str] = Counter()
        self._longest: list[Stretch] = []
        self._began_s = time.monotonic()

    async def watch(self) -> None:
        if self._stacks:
            loop_thread = threading.get_ident()
            threading.Thread(target=self._look, args=(loop_thread,), daemon=True).start()
        before = time.thread_time()
        while True:
            await anyio.sleep(TICK_S)
            now = time.thread_time()
            self._take(now - before)
            before = now

    def _take(self, took_s: float) -> None:
        self.longest_s = max(self.longest_s, took_s)
        if self._stacks:
            seen, self._seen = self._seen, Counter()
            stretch = Stretch(took_s, time.monotonic() - self._began_s, seen)
            self._longest.append(stretch)
            self._longest.sort(key=lambda one: -one.took_s)
            del self._longest[TOLD:]

    def _look(self, thread: int) -> None:
        """Look at the loop's thread until the process ends."""
        while True:
            time.sleep(LOOK_S)
            frame = sys._current_frames().get(thread)
            if frame is not None:
                self._seen[stack_of(frame)] += 1

    def tell(self) -> None:
        """Print the longest stretches with their stacks, most seen first."""
        for stretch in self._longest:
            print(f"{stretch.took_s * 1000:.0f} ms at {stretch.at_s:.2f} s")
            for stack, times in stretch.stacks.most_common(MOST_STACKS):
                print(f"  {times:4} {stack}")


def stack_of(frame: FrameType | None) -> str:
    """Return the functions of this repository in a stack, the innermost first."""
    names: list[str] = []
    while frame is not None and len(names) < DEEPEST:
        path = frame.f_code.co_filename
        if "queenright" in path or "/tests/" in path:
            module = path.rpartition("/")[2].removesuffix(".py")
            names.append(f"{module}.{frame.f_code.co_name}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(names)
