"""Tests that a page that cannot be saved, or is saved slowly, delays no other page."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, cast
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors

from notes.db.failures import UnavailableError
from notes.edits import checkpoint
from notes.edits.checkpoint import Checkpoints, is_temporary
from notes.edits.live import in_thread_if
from notes.http.problems import Problem
from notes.quotas.limits import SQLSTATE
from notes.workers import meter
from notes.workers.pool import Workers

#: Far more than a busy machine needs, and less than the pause of a page that cannot be saved.
SOON_S = 50


class NoPages:
    """A database in which no page waits."""

    async def all(self, *_: Any) -> list[Any]:
        return []


class Saves(Checkpoints):
    """Checkpoints whose saves do what the test says."""

    def __init__(self) -> None:
        super().__init__(cast("Any", NoPages()), cast("Any", None))
        self.acts = dict[UUID, Callable[[int], Any]]()
        self.tries = dict[UUID, int]()
        self.saved = dict[UUID, asyncio.Event]()

    def page(self, act: Callable[[int], Any] = lambda _: None) -> UUID:
        node = uuid4()
        self.acts[node], self.tries[node], self.saved[node] = act, 0, asyncio.Event()
        self.note(node)
        return node

    async def save(self, node_id: UUID) -> None:
        self.tries[node_id] += 1
        made = self.acts[node_id](self.tries[node_id])
        if asyncio.iscoroutine(made):
            await made
        self.saved[node_id].set()

    async def wait(self, node_id: UUID) -> None:
        await asyncio.wait_for(self.saved[node_id].wait(), SOON_S)


class Full(psycopg.DatabaseError):
    """The database's refusal of more bytes than a quota allows."""

    sqlstate = SQLSTATE


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "LOOK_S", 0.01)
    monkeypatch.setattr(checkpoint, "QUIET_S", 0.0)


@asynccontextmanager
async def running() -> AsyncIterator[Saves]:
    saves = Saves()
    task = asyncio.create_task(saves.run())
    try:
        yield saves
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def failing(error: Exception, times: int) -> Callable[[int], None]:
    def act(number: int) -> None:
        if number <= times:
            raise error

    return act


async def test_a_page_whose_save_hangs_delays_no_other() -> None:
    async with running() as saves:
        never = asyncio.Event()
        saves.page(lambda _: never.wait())
        first = saves.page()
        await saves.wait(first)
        later = saves.page()
        await saves.wait(later)


async def test_a_page_that_cannot_be_saved_delays_no_other_and_waits_longer_each_time() -> None:
    async with running() as saves:
        bad = saves.page(failing(ValueError("bad page"), 10**9))
        while saves.tries[bad] < 2:
            await asyncio.sleep(0.02)
            saves.note(bad)
        due = saves._due[bad]
        assert due.failures >= 2
        assert due.not_before > asyncio.get_running_loop().time()
        await saves.wait(saves.page())
        # New edits of the page do not make it wait less.
        tried = saves.tries[bad]
        saves.note(bad)
        await saves.wait(saves.page())
        assert saves.tries[bad] <= tried + 1


@pytest.mark.parametrize(
    "error",
    [UnavailableError("none"), errors.AdminShutdown("stopped"), errors.SerializationFailure("x")],
)
async def test_pages_are_saved_soon_after_the_database_is_back(error: Exception) -> None:
    async with running() as saves:
        nodes = [saves.page(failing(error, 2)) for _ in range(12)]
        for node in nodes:
            await saves.wait(node)
        assert {saves.tries[node] for node in nodes} == {3}


def test_only_errors_of_the_page_make_it_wait_long() -> None:
    for error in (Full("over quota"), Problem(413, "full"), Problem(422, "bad"), ValueError("x")):
        assert not is_temporary(error)
    for error in (
        Problem(503, "busy"),
        errors.QueryCanceled("late"),
        psycopg.OperationalError("x"),
    ):
        assert is_temporary(error)


async def test_a_page_whose_save_took_long_rests_and_delays_no_other() -> None:
    async with running() as saves:
        clock = asyncio.get_running_loop().time
        heavy = saves.page(lambda _: meter.add(9.0))
        light = saves.page(lambda _: meter.add(0.0001))
        for node in (heavy, light):
            await saves.wait(node)
        saved_at = clock()
        # An edit that comes meanwhile is saved, later: 9 s are a twentieth of 180 s.
        saves.note(heavy)
        while saves.tries[light] < 2:
            saves.note(light)
            await asyncio.sleep(0.02)
        assert saves.tries[heavy] == 1
        assert heavy not in saves._ready(saved_at + 100)
        assert heavy in saves._ready(saved_at + 181)
        # Nor does the search for pages of dead replicas save it sooner.
        saves._due[heavy] = checkpoint._Due(0.0, 0.0)
        assert heavy not in saves._ready(saved_at + 100)


async def test_a_save_that_fails_counts_too_and_rests_end() -> None:
    def act(number: int) -> None:
        meter.add(3.0)
        raise ValueError(f"bad page {number}")

    async with running() as saves:
        bad = saves.page(act)
        while bad not in saves._rests:
            await asyncio.sleep(0.01)
        assert saves._rests[bad] - asyncio.get_running_loop().time() > 30
        saves._rests[bad] = 0.0
        saves._rest(uuid4(), 1.0)
        assert bad not in saves._rests


async def test_the_time_of_threads_and_workers_is_counted_for_who_waits_for_them() -> None:
    def work() -> int:
        return sum(range(2_000_000))

    for is_large in (True, False):
        with meter.metered() as spent:
            await in_thread_if(is_large, work)
        assert spent.seconds > 0
    workers = Workers(1)
    try:
        with meter.metered() as large:
            await workers.run("a", "prepare", title="t", doc=None, text="some *words*\n\n" * 2000)
        assert large.seconds > 0
        # What is done for somebody else is not counted.
        before = large.seconds
        await workers.run("a", "prepare", title="t", doc=None, text="some *words*\n\n" * 2000)
        assert large.seconds == before
    finally:
        await workers.close()
