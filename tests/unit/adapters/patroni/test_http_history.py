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
    assert isinstance(await leader_location({"members": [BEHIND]}, 503), Unknown)


async def leader_location(body: object, status: int = 200) -> Known[int] | Unknown:
    patroni = PatroniHttp(2)
    with answering(lambda method, path: (status, body)) as there:
        found = await patroni.leader_location("127.0.0.1", there.port)
        assert there.asked == ["GET /cluster"]
    await patroni.aclose()
    return found


BEHIND = {"name": "member-2", "role": "replica", "lsn": "1/5000000", "lag": 1000}
LEVEL = {"name": "member-3", "role": "replica", "lsn": "1/50003E8", "lag": 0}
"""As Patroni 4.1.5 writes them: a lag of 0 stands for a position beyond the noted one, too."""


async def test_the_noted_position_is_a_replicas_and_its_lag() -> None:
    noted = (1 << 32) + 0x5000000 + 1000
    assert await leader_location({"members": [LEVEL, BEHIND]}) == Known(noted)
    assert await leader_location({"members": [LEVEL]}) == Known(0)
    silent = {"name": "member-1", "lsn": "unknown", "lag": "unknown"}
    assert await leader_location({"members": [silent, BEHIND]}) == Known(noted)


@pytest.mark.parametrize(
    "members",
    [
        None,
        "x",
        [],
        ["x"],
        [{"lsn": "unknown", "lag": "unknown"}],
        [{"lsn": "1/5000000"}],
        [{"lsn": 7, "lag": 1}],
        [{"lsn": "1/5000000", "lag": True}],
        [{"lsn": "1/" + 99 * "0", "lag": 1}],
        [{"lsn": "0x1/1", "lag": 1}],
    ],
)
async def test_what_has_no_noted_position(members: object) -> None:
    assert isinstance(await leader_location({"members": members}), Unknown)
    assert isinstance(await leader_location(members), Unknown)
