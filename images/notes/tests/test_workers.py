"""Tests workers: limits, replacement, end, fairness, and small tasks without a worker."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from notes.http.problems import Problem
from notes.workers.child import KEEP_KB
from notes.workers.pool import QUEUE_LENGTH, RefusedError, Workers
from notes.workers.tasks import TASKS

SLOW = "[" * 200_000


def _table(rows: int, cells: int) -> bytes:
    row = {"type": "tableRow", "content": [{"type": "tableCell"}]}
    first = {"type": "tableRow", "content": [{"type": "tableCell"}] * cells}
    return json.dumps(
        {"type": "doc", "content": [{"type": "table", "content": [first, *[row] * rows]}]},
        separators=(",", ":"),
    ).encode()


def test_what_is_small_is_small_whatever_is_in_it() -> None:
    is_small = TASKS["prepare"].is_small
    assert is_small(title="T", doc=b'{"type":"doc","content":[]}', text=None)
    assert is_small(title="T", doc=_table(3, 4), text=None)
    assert not is_small(title="T", doc=_table(200, 200), text=None)
    hidden = _table(200, 200).replace(b"tableCell", b"t\\u0061bleCell")
    assert not is_small(title="T", doc=hidden, text=None)
    assert not is_small(title="T", doc=None, text="![" * 200)


async def _started(workers: Workers, account: str, text: str) -> "asyncio.Task[Any]":
    task = asyncio.create_task(workers.run(account, "read_markdown", text=text))
    await asyncio.sleep(0.5)
    return task


@pytest.mark.quiet
async def test_a_slow_account_holds_up_nobody_else() -> None:
    workers = Workers(2)
    slow = [await _started(workers, "slow", SLOW) for _ in range(3)]
    begun = time.monotonic()
    assert b"words" in await workers.run("other", "read_markdown", text="words " * 50)
    assert time.monotonic() - begun < 8
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)
    await workers.close()


async def test_an_account_has_a_queue_of_so_many() -> None:
    workers = Workers(2)
    waiting = [
        asyncio.create_task(workers.run("slow", "read_markdown", text=SLOW))
        for _ in range(QUEUE_LENGTH + 1)
    ]
    await asyncio.sleep(0.5)
    with pytest.raises(Problem) as caught:
        await workers.run("slow", "read_markdown", text=SLOW)
    assert caught.value.status == 429
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await workers.close()


async def test_a_killed_worker_is_replaced_and_holds_no_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("APP_ENCRYPTION_KEY", "a secret of the server's")
    workers = Workers(2)
    await workers.run("one", "read_markdown", text="words " * 50)
    (worker,) = workers._all
    environ = Path(f"/proc/{worker.pid}/environ").read_bytes()
    assert b"secret" not in environ
    assert b"DATABASE_URL" not in environ
    worker.kill()
    assert b"words" in await workers.run("one", "read_markdown", text="words " * 50)
    await workers.close()
    assert not workers._all


async def test_a_worker_of_a_large_server_stays() -> None:
    """The server's own memory is not the worker's, though `exec` hands its peak on."""
    large = bytearray(b"x" * (KEEP_KB * 1024 * 2))
    workers = Workers(2)
    used = set[int]()
    for _ in range(2):
        await workers.run("one", "read_markdown", text="words " * 50)
        used |= {worker.pid for worker in workers._all}
    assert len(used) == 1
    await workers.close()
    assert large


async def test_too_much_memory_is_a_refusal() -> None:
    workers = Workers(2)
    with pytest.raises(RefusedError, match=r"memory|nodes"):
        await workers.run("one", "page_html", doc=b"[" + b"{}," * 6_000_000 + b"{}]", options={})
    assert b"words" in await workers.run("one", "read_markdown", text="words " * 50)
    await workers.close()
