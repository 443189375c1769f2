"""Tests that the parts of a replica that run all the time go on after an error."""

import asyncio
import logging

import pytest

from notes import services


async def test_a_part_that_fails_begins_again_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As the part that tells of events: a replica that serves, and tells nothing, looks healthy."""
    monkeypatch.setattr(services, "AGAIN_S", 0.01)
    tries = list[int]()

    async def work() -> None:
        tries.append(len(tries))
        if len(tries) < 3:
            raise KeyError(len(tries))

    with caplog.at_level(logging.ERROR):
        async with asyncio.timeout(5):
            await services.kept_running(work)
    assert len(tries) == 3
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]
    assert all(record.exc_info for record in caplog.records)


async def test_a_part_ends_with_the_replica() -> None:
    task = asyncio.create_task(services.kept_running(asyncio.Event().wait))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_part_that_makes_an_error_of_its_end_ends() -> None:
    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            raise OSError from error

    task = asyncio.create_task(services.kept_running(work))
    await asyncio.sleep(0)
    task.cancel()
    async with asyncio.timeout(5):
        await task
