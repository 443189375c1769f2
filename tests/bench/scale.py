"""Measure what clusters cost: files, passes, an edit, memory, and how long the loop is held.

Needs no lab: the real engine on real files, its audit trail among them, and the real adapter of
Docker on an engine's own JSON (``engine_server``); the other ports answer from memory
(``scale_world``). Each number of clusters
has processes of its own, and seconds are the processor's, not the wall's. Of passes that are made
one by one: ``start`` is everything from the files' texts to the end of the first pass; ``second``
the pass after it, which makes each plan anew, since the operator has seen the swarm for long enough
by then; ``pass`` the mean of three that change nothing; ``read`` reading one changed file; ``edit``
the pass over what was edited in it, which acts; ``held`` the longest time in which the event loop
ran nothing else.

The rest is of a whole operator, in which threads take part: ``held`` as above; ``line`` from the
writing of a file to the first line of the audit trail, often while it makes a full pass (median,
99th per cent and most): the processor's time, and the clock's (``line clock``), with its waiting
for a second look at the file. ``loss`` is from a leader's silence, while the others are quiet, to
the pass that asks about it, by the clock (median and most). ``idle`` is the share of one processor
that it takes where nothing happens. ``MB`` is the most memory that it has had, before the edits and
after them. Members answer from memory: what their sockets cost is measured by ``polling``.
``python -m tests.bench.scale 1000 --stacks`` tells what ran in the longest steps of the loop.
"""

from __future__ import annotations

import logging
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import anyio
import structlog

from queenright.adapters.files.last_known_good import LastGoodFiles
from queenright.adapters.files.manifests import ManifestFiles
from queenright.adapters.garbage_collector import collect_rarely, spare_present_objects
from queenright.core.audit.record import Trigger
from queenright.engine.document_store import DocumentStore
from queenright.engine.loop import Loop
from queenright.engine.part import Changes, reconcile_part
from queenright.engine.reconcile import LoopState, PassResult, Terms, reconcile
from queenright.ports import Ports
from queenright.ports.swarm import Swarm
from queenright.settings import PollIntervals
from tests.bench.engine_server import engine_of
from tests.bench.held import TICK_S, Held
from tests.bench.scale_world import CountedTrail, StillClock, StillPatroni, still_ports, with_docker
from tests.support.many_clusters import Deployed, cluster_name, cluster_text, texts_of

CLUSTERS = (1, 10, 100, 300, 1000)
PASSES = 3
APART_S = 60.0
"""The time between two passes, by their clock."""
EDITS = 200
EDITS_APART_S = (0.3, 2.0)
LOSSES = 8
LOSSES_APART_S = (2.0, 5.0)
QUIET_S = 45.0
"""Three full passes by the timer."""
LONGEST_S = 120.0
SETTLED_S = 35.0
"""The members' first rounds, and what a first pass leaves, are over."""


def bench_scale() -> None:
    print(f"{'clusters':>8} {'load s':>8} {'start s':>8} {'second s':>8} {'pass s':>8} "
          f"{'ms each':>8} {'read ms':>8} {'edit ms':>8} {'held ms':>8} {'held ms':>8} "
          f"{'line ms':>17} {'line clock':>17} {'loss s':>10} {'idle %':>7} "
          f"{'MB':>11}")  # fmt: skip
    for clusters in CLUSTERS:
        command = [sys.executable, "-m", "tests.bench.scale", str(clusters)]
        subprocess.run(command, check=True)


@dataclass
class Bench:
    """One operator of this many clusters."""

    clusters: int
    directory: Path
    ports: Ports
    state: DocumentStore
    memory: LoopState

    async def pass_over(self, trigger: Trigger) -> PassResult:
        self.go_on()
        return await reconcile(
            self.ports, self.state.documents, trigger, self.memory, lambda: False
        )

    def go_on(self) -> None:
        assert isinstance(self.ports.clock, StillClock)
        self.ports.clock.at_s += APART_S

    def write(self, number: int) -> None:
        """Change one file, as its owner does."""
        text = cluster_text(number % self.clusters, stopGracePeriod=f"{90 + number}s")
        file = self.directory / f"{cluster_name(number % self.clusters)}.yaml"
        fresh = file.with_suffix(".new")
        fresh.write_text(text)
        fresh.replace(file)

    async def edit(self) -> tuple[float, float]:
        """Change one file, and return the seconds for reading it and for the pass over it."""
        changes = Changes()
        changes.take(self.state.documents)
        self.write(self.clusters // 2)
        began = time.process_time()
        trigger = await self.state.refresh()
        read_s = time.process_time() - began
        self.go_on()
        began = time.process_time()
        part = changes.take(self.state.documents)
        terms = Terms(trigger, lambda: False)
        result = await reconcile_part(self.ports, self.state.documents, part, self.memory, terms)
        edit_s = time.process_time() - began
        assert result is not None
        assert result.has_acted
        return read_s, edit_s

    @asynccontextmanager
    async def at_work(self) -> AsyncGenerator[None, None]:
        """Run a whole operator, from a full pass on in which it has seen the swarm for a minute."""
        store = DocumentStore(self.ports)
        loop = Loop(self.ports, store, PollIntervals(), settled=spare_present_objects)
        async with anyio.create_task_group() as group:
            group.start_soon(loop.run)
            await until(lambda: loop.passes >= 2)
            self.go_on()
            await until(lambda: loop.passes >= 4)
            yield
            loop.stop()

    async def lines(self, audit: CountedTrail) -> list[tuple[float, float]]:
        """Return, for each edit, of another file each time, the processor's and the clock's seconds
        to its first line; nothing where there are not enough files."""
        if self.clusters <= EDITS + 1:
            return [(0.0, 0.0)]
        found: list[tuple[float, float]] = []
        rng = random.Random(self.clusters)
        for number in range(EDITS):
            await anyio.sleep(rng.uniform(*EDITS_APART_S))
            self.go_on()
            intents, began = audit.intents, (time.process_time(), time.monotonic())
            self.write(self.clusters // 2 + 1 + number)
            with anyio.fail_after(LONGEST_S):
                while audit.intents == intents:  # noqa: ASYNC110  # it tells nobody
                    await anyio.sleep(TICK_S)
            found.append((time.process_time() - began[0], time.monotonic() - began[1]))
        return found

    async def quiet(self) -> tuple[float, list[float]]:
        """Return the share of a processor that an operator takes where nothing happens, and the
        seconds from a leader's silence to the pass that asks about it, for several leaders."""
        asked, rng = self.ports.patroni, random.Random(self.clusters)
        assert isinstance(asked, StillPatroni)
        members, losses = asked.found.members, list[float]()
        leaders = sorted(address for address, member in members.items() if member.holds_lock)
        await anyio.sleep(SETTLED_S)
        began = (time.process_time(), time.monotonic())
        await anyio.sleep(QUIET_S)
        share = (time.process_time() - began[0]) / (time.monotonic() - began[1])
        for _ in range(LOSSES):
            await anyio.sleep(rng.uniform(*LOSSES_APART_S))
            address = rng.choice(leaders)
            member, began_s = members.pop(address), time.monotonic()
            with anyio.fail_after(LONGEST_S):
                while asked.silent_s.get(address, 0.0) < began_s:  # noqa: ASYNC110  # as above
                    await anyio.sleep(TICK_S)
            losses.append(asked.silent_s[address] - began_s)
            members[address] = member
        return share, losses


async def prepared(
    clusters: int, directory: Path, audit: CountedTrail, engine: tuple[str, Deployed]
) -> Bench:
    """Read the files, of which everything is deployed."""
    ports = replace(
        with_docker(still_ports({}, audit), *engine),
        manifests=ManifestFiles(directory),
        last_good=LastGoodFiles(directory / "state"),
    )
    state = DocumentStore(ports)
    await state.refresh(Trigger("start"))
    assert not state.problems, state.problems
    return Bench(clusters, directory, ports, state, LoopState())


async def measure_passes(
    clusters: int, directory: Path, engine: tuple[str, Deployed], *, stacks: bool
) -> str:
    """Return the columns of passes that are made one by one."""
    audit, began = CountedTrail(directory / "trail"), time.process_time()
    bench = await prepared(clusters, directory, audit, engine)
    load_s = time.process_time() - began
    held = Held(stacks=stacks)
    async with anyio.create_task_group() as group:
        group.start_soon(held.watch)
        group.start_soon(hear, bench.ports.swarm)
        began = time.process_time()
        await bench.pass_over(Trigger("start"))
        first_s = time.process_time() - began
        spare_present_objects()
        began = time.process_time()
        await bench.pass_over(Trigger("timer"))
        second_s = time.process_time() - began
        began = time.process_time()
        for _ in range(PASSES):
            result = await bench.pass_over(Trigger("timer"))
        pass_s = (time.process_time() - began) / PASSES
        assert result.is_converged
        assert audit.intents == 0, audit.intents
        read_s, edit_s = await bench.edit()
        assert audit.intents == 1, audit.intents
        group.cancel_scope.cancel()
    held.tell()
    return (
        f"{load_s:8.2f} {load_s + first_s:8.2f} {second_s:8.2f} {pass_s:8.3f} "
        f"{pass_s * 1000 / clusters:8.2f} {read_s * 1000:8.0f} {edit_s * 1000:8.0f} "
        f"{held.longest_s * 1000:8.0f}"
    )


async def hear(swarm: Swarm) -> None:
    """Listen to the swarm's events, as an operator does."""
    async for _ in swarm.events():
        pass


async def measure_operator(
    clusters: int, directory: Path, engine: tuple[str, Deployed], *, stacks: bool
) -> str:
    """Return the columns of a whole operator."""
    audit, held = CountedTrail(directory / "trail"), Held(stacks=stacks)
    bench = await prepared(clusters, directory, audit, engine)
    async with bench.at_work(), anyio.create_task_group() as group:
        share, losses = await bench.quiet()
        before = mebibytes()
        group.start_soon(held.watch)
        lines = await bench.lines(audit)
        group.cancel_scope.cancel()
    line_ms, clock_ms = ([one[at] * 1000 for one in lines] for at in (0, 1))
    held.tell()
    return (
        f"{held.longest_s * 1000:8.0f} {spread_of(line_ms)} {spread_of(clock_ms)} "
        f"{statistics.median(losses):5.2f}{max(losses):5.2f} {share * 100:7.1f} "
        f"{before:5.0f} {mebibytes():5.0f}"
    )


def mebibytes() -> float:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def until(is_done: Callable[[], bool]) -> None:
    while not is_done():  # noqa: ASYNC110  # it tells nobody
        await anyio.sleep(0.1)


def spread_of(milliseconds: Sequence[float]) -> str:
    ordered = sorted(milliseconds)
    late = ordered[max(0, round(len(ordered) * 0.99) - 1)]
    return f"{statistics.median(ordered):5.0f} {late:5.0f} {ordered[-1]:5.0f}"


MEASURES = {"passes": measure_passes, "operator": measure_operator}


def measured(what: str, clusters: int, *, stacks: bool) -> str:
    """Return the columns of one of ``MEASURES``, in the process that it is called in."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    collect_rarely()
    with tempfile.TemporaryDirectory() as name:
        for path, text in texts_of(clusters).items():
            (Path(name) / Path(path).name).write_text(text)
        with engine_of(Path(name)) as engine:
            measure = partial(MEASURES[what], stacks=stacks)
            return anyio.run(measure, clusters, Path(name), engine)


def main(clusters: int, *, stacks: bool = False) -> None:
    own = partial(ProcessPoolExecutor, 1, get_context("spawn"))
    columns = list[str]()
    for what in MEASURES:
        with own() as process:
            columns.append(process.submit(measured, what, clusters, stacks=stacks).result())
    print(f"{clusters:8}", *columns, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), stacks="--stacks" in sys.argv)
