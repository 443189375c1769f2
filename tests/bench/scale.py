"""Measure what clusters cost: files, passes, an edit, memory, and how long the loop is held.

Needs no lab: the real engine, on ports that answer from memory (``scale_world``). Each number of
clusters has a process of its own, and seconds are the processor's, not the wall's. ``start`` is
everything from the files' texts to the end of the first pass; ``pass`` the mean of three that
change nothing; ``edit`` reading one changed file and the pass that acts on it; ``held`` the longest
time in which the event loop ran nothing else, in all of these passes.
"""

from __future__ import annotations

import logging
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import anyio
import structlog
from anyio.lowlevel import checkpoint

from queenright.adapters.garbage_collector import collect_rarely
from queenright.core.audit.record import Trigger
from queenright.engine.document_store import DesiredState
from queenright.engine.reconcile import LoopState, PassResult, reconcile
from queenright.engine.world import Ports
from tests.bench.scale_world import StillClock, fill, still_ports
from tests.fakes.files import FakeAudit, FakeManifests
from tests.fakes.virtual_loop import in_place
from tests.support.many_clusters import cluster_name, cluster_text, deployed, texts_of

CLUSTERS = (1, 10, 100, 300, 1000)
PASSES = 3
TICK_S = 0.002
APART_S = 60.0
"""The time between two passes, by their clock."""


def bench_scale() -> None:
    print(f"{'clusters':>8} {'load s':>8} {'start s':>8} {'pass s':>8} {'ms each':>8} "
          f"{'edit ms':>8} {'held ms':>8} {'MB':>6}")  # fmt: skip
    for clusters in CLUSTERS:
        command = [sys.executable, "-m", "tests.bench.scale", str(clusters)]
        subprocess.run(command, check=True)


@dataclass
class Held:
    """Measures, beside what runs on the event loop, how long one step of it takes."""

    longest_s: float = 0.0

    async def watch(self) -> None:
        before = time.thread_time()
        while True:
            await anyio.sleep(TICK_S)
            now = time.thread_time()
            self.longest_s = max(self.longest_s, now - before)
            before = now


@dataclass
class Bench:
    """One operator of this many clusters."""

    clusters: int
    ports: Ports
    state: DesiredState
    memory: LoopState

    async def pass_over(self, trigger: Trigger) -> PassResult:
        assert isinstance(self.ports.clock, StillClock)
        self.ports.clock.at_s += APART_S
        return await reconcile(
            self.ports, self.state.documents, trigger, self.memory, lambda: False
        )

    async def edit(self) -> PassResult:
        """Change one file, as its owner does."""
        number = self.clusters // 2
        manifests = self.ports.manifests
        assert isinstance(manifests, FakeManifests)
        text = cluster_text(number, stopGracePeriod="90s")
        manifests.write(f"/etc/queenright/{cluster_name(number)}.yaml", text)
        trigger = await self.state.refresh()
        await checkpoint()  # files are judged in a worker thread, not on the loop as here
        return await self.pass_over(trigger)


async def measure(clusters: int) -> None:
    audit = FakeAudit()
    texts = texts_of(clusters)
    began = time.process_time()
    ports = still_ports(texts, audit)
    state = DesiredState(ports, in_place)
    await state.refresh(Trigger("start"))
    load_s = time.process_time() - began
    assert not state.problems, state.problems
    fill(ports, deployed(state.documents))
    bench = Bench(clusters, ports, state, LoopState())
    held = Held()
    async with anyio.create_task_group() as group:
        group.start_soon(held.watch)
        began = time.process_time()
        result = await bench.pass_over(Trigger("start"))
        first_s = time.process_time() - began
        began = time.process_time()
        for _ in range(PASSES):
            result = await bench.pass_over(Trigger("timer"))
        pass_s = (time.process_time() - began) / PASSES
        assert result.is_converged
        assert not audit.intents, audit.intents
        began = time.process_time()
        await bench.edit()
        edit_s = time.process_time() - began
        group.cancel_scope.cancel()
    assert len(audit.intents) == 1, audit.intents
    mebibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{clusters:8} {load_s:8.2f} {load_s + first_s:8.2f} {pass_s:8.3f} "
          f"{pass_s * 1000 / clusters:8.2f} {edit_s * 1000:8.0f} {held.longest_s * 1000:8.0f} "
          f"{mebibytes:6.0f}", flush=True)  # fmt: skip


def main(clusters: int, run: Callable[..., None] = anyio.run) -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    collect_rarely()
    run(measure, clusters)


if __name__ == "__main__":
    main(int(sys.argv[1]))
