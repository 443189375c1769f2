"""``/history`` as a member answers it: every form that Patroni has written, and what is none."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from queenright.adapters.patroni.http import PatroniHttp
from queenright.core.observed import Known, TimelineEnd, Unknown
from tests.support.http_server import answering


async def history(body: object, status: int = 200) -> Known[Sequence[TimelineEnd]] | Unknown:
    patroni = PatroniHttp(2)
    with answering(lambda method, path: (status, body)) as there:
        found = await patroni.history("127.0.0.1", there.port)
        assert there.asked == ["GET /history"]
    await patroni.aclose()
    return found


async def test_changes_with_and_without_moment_and_leader() -> None:
    reason = "no recovery target specified"
    body = [
        [1, 100, reason],
        [2, 200, reason, "2026-11-20T23:00:00.250000+01:00"],
        [3, 300, reason, "2026-11-20T22:10:00", "member-2"],
    ]
    at = datetime(2026, 11, 20, 22, 0, 0, 250000, tzinfo=UTC)
    later = datetime(2026, 11, 20, 22, 10, tzinfo=UTC)
    assert await history(body) == Known(
        (
            TimelineEnd(1, 100, reason),
            TimelineEnd(2, 200, reason, at),
            TimelineEnd(3, 300, reason, later, "member-2"),
        )
    )
    assert await history([]) == Known(())


@pytest.mark.parametrize(
    "body", [{}, "x", None, [1], [[1]], [["1", 2, "x"]], [[1, 2, "x", "soon"]], b"<html>", b""]
)
async def test_what_is_no_history(body: object) -> None:
    assert isinstance(await history(body), Unknown)


async def test_a_refusal_is_unknown() -> None:
    assert isinstance(await history([], 503), Unknown)
