"""A pass over many clusters: its work grows with their number, and the event loop stays free."""

from __future__ import annotations

import gc
import sys
import weakref
from dataclasses import replace
from types import FrameType
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from queenright.core.audit.record import Trigger
from queenright.core.kinds.load import load
from queenright.core.kinds.ruleset import RULESET
from queenright.engine.faults import Faults
from queenright.engine.observe import observe
from queenright.engine.part import reconcile_part
from queenright.engine.planning import plan_all
from queenright.engine.reconcile import LoopState, Terms, reconcile
from tests.bench.scale_world import fill, still_ports
from tests.fakes.files import FakeAudit
from tests.support.garbage import no_search_for_garbage
from tests.support.many_clusters import deployed, texts_of

FEW, MANY = 3, 12
LINEAR = 1.3
LAST_READINGS = 3


def lines_run(clusters: int) -> int:
    """The lines of Python that a pass without a change runs, a loop's line once for each turn."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line" and "/queenright/" in frame.f_code.co_filename
        return trace

    async def main() -> None:
        texts = texts_of(clusters)
        documents = load(texts).documents
        ports = still_ports(texts, FakeAudit())
        fill(ports, deployed(documents))
        memory = LoopState()
        for is_counted in (False, True):
            sys.settrace(trace if is_counted else None)
            try:
                result = await reconcile(ports, documents, Trigger("timer"), memory, lambda: False)
            finally:
                sys.settrace(None)
            assert result.is_converged

    anyio.run(main)
    return count


def test_the_work_for_one_cluster_does_not_grow_with_the_number_of_others() -> None:
    few, many = lines_run(FEW) / FEW, lines_run(MANY) / MANY
    assert many < LINEAR * few, f"{few:.0f} lines each of {FEW}, {many:.0f} each of {MANY}"


def test_a_pass_leaves_no_circles_of_garbage() -> None:
    """Python looks for garbage rarely, so that what a pass has read and made must go at once."""
    found: list[int] = []

    async def main() -> None:
        texts = texts_of(FEW)
        documents = load(texts).documents
        ports = still_ports(texts, FakeAudit())
        fill(ports, deployed(documents))
        for _ in range(2):  # caches that last are made by the first one
            memory = LoopState()
            gc.collect()
            with no_search_for_garbage():
                await reconcile(ports, documents, Trigger("timer"), memory, lambda: False)
                found.append(gc.collect())

    anyio.run(main)
    assert found[-1] == 0, f"{found} objects"


def test_parts_keep_no_reading_but_the_last_ones() -> None:
    """Each edit changes the swarm. What was made for one document must not keep the reading from
    which it was made until the next full pass: of forty edits that would be forty indexes."""
    readings: list[weakref.ref[Any]] = []
    alive: list[int] = []

    async def main() -> None:
        texts = texts_of(MANY)
        documents = load(texts).documents
        ports, found = still_ports(texts, FakeAudit()), deployed(documents)
        fill(ports, found)
        memory = LoopState()
        await reconcile(ports, documents, Trigger("timer"), memory, lambda: False)
        for number, document in enumerate(documents):
            found.services[0] = replace(found.services[0], version=1000 + number)
            terms = Terms(Trigger("docker"), lambda: False)
            assert await reconcile_part(ports, documents, [document], memory, terms)
            assert memory.remembered.swarm is not None
            readings.append(weakref.ref(memory.remembered.swarm[1].index))
        alive.extend(number for number, index in enumerate(readings) if index() is not None)

    anyio.run(main)
    assert len(alive) <= LAST_READINGS, alive


def test_others_run_between_two_documents() -> None:
    """Each document's expansion, and each plan, is a step of its own."""
    turns: list[int] = [0]

    async def main() -> None:
        texts = texts_of(FEW)
        documents = load(texts).documents
        ports = still_ports(texts, FakeAudit())
        fill(ports, deployed(documents))

        async def others() -> None:
            while True:
                turns[0] += 1
                await checkpoint()

        faults = Faults()
        look = await observe(ports, documents, {}, faults=faults)
        async with anyio.create_task_group() as group:
            group.start_soon(others)
            await plan_all(documents, look, ports.clock.now(), RULESET, faults)
            group.cancel_scope.cancel()
        assert turns[0] >= len(documents)

    anyio.run(main)
