"""Lives through many histories of topology edits: `python -m tests.sim.topology_histories`.

Prints each history in which a judge found something, or that did not settle, and the count of all
in the end. One is had again by `topology_history.run(seed, walk, faults)`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import structlog

from tests.sim.seeds import first_seed
from tests.sim.topology_history import WALKS, run

CHUNK = 20
SILENT = 50
"""The highest level of the log, which no pass reaches."""


@dataclass(frozen=True)
class Wish:
    """The histories to live through: from a seed on, so many, each with so many faults."""

    first: int
    count: int
    faults: int


def chunk(first: int, count: int, faults: int) -> list[str]:
    """Live through some histories; return a line for each in which something was found."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(SILENT))
    return [line for seed in range(first, first + count) for line in judged(seed, faults)]


def judged(seed: int, faults: int) -> Iterator[str]:
    walk = [*WALKS][seed % len(WALKS)]
    if found := run(seed, walk, faults=faults).found():
        yield f"seed {seed}, {walk}: {found[0]}"


def live_through(wish: Wish) -> int:
    """Run them on all processors; return the number in which something was found."""
    began_s, done, wrong = time.monotonic(), 0, 0
    end = wish.first + wish.count
    with ProcessPoolExecutor() as pool:
        starts = range(wish.first, end, CHUNK)
        sizes = [min(CHUNK, end - start) for start in starts]
        for size, lines in zip(
            sizes, pool.map(chunk, starts, sizes, [wish.faults] * len(sizes)), strict=True
        ):
            done, wrong = done + size, wrong + len(lines)
            for line in lines:
                print(line, flush=True)
            if done % 1000 < CHUNK:
                print(
                    f"{done} histories, {time.monotonic() - began_s:.0f} s, {wrong} found",
                    flush=True,
                )
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=20_000)
    parser.add_argument("--faults", type=int, default=50)
    parser.add_argument("--first", type=int, default=first_seed())
    given = parser.parse_args()
    wish = Wish(given.first, given.count, given.faults)
    wrong = live_through(wish)
    print(f"{wish.count} histories of {wish.faults} faults from seed {wish.first}: {wrong} found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
