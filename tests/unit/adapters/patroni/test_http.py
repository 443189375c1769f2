"""A member's port on which anything may listen: Unknown with a reason, never an exception."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from queenright.adapters.patroni.http import PatroniHttp
from queenright.core.observed import Known, MemberStatus, RemovedWal, Unknown
from tests.support.http_server import Answer, answering

LEADER = {
    "state": "running",
    "role": "primary",
    "timeline": 3,
    "server_version": 160014,
    "xlog": {"location": 67108960},
    "patroni": {"version": "4.0.4", "scope": "main", "name": "member-1"},
    "pending_restart": True,
    "tags": {"failover_priority": 2},
}
DEEP = b"[" * 100_000


async def ask(body: object, lock: int = 200, status: int = 200) -> Known[MemberStatus] | Unknown:
    def answer(method: str, path: str) -> Answer:
        return (lock, b"") if method == "OPTIONS" else (status, body)

    patroni = PatroniHttp(2)
    with answering(answer) as there:
        found = await patroni.status("127.0.0.1", there.port)
    await patroni.aclose()
    return found


@pytest.mark.parametrize(("lock", "holds_lock"), [(200, True), (503, False)])
async def test_a_member_says_how_it_is(lock: int, *, holds_lock: bool) -> None:
    assert await ask(LEADER, lock) == Known(
        MemberStatus(
            state="running",
            role="primary",
            timeline=3,
            holds_lock=holds_lock,
            location=67108960,
            pending_restart=True,
            version="4.0.4",
            server_version=160014,
            tags={"failover_priority": 2},
            scope="main",
            name="member-1",
        )
    )


@pytest.mark.parametrize(
    "body",
    [
        [],
        "x",
        7,
        None,
        {},
        {"state": "running"},
        {"role": "replica"},
        {"state": 1, "role": "replica"},
        {"state": "running", "role": ["replica"]},
        {**LEADER, "xlog": "x"},
        {**LEADER, "xlog": [1]},
        {**LEADER, "patroni": "4"},
        {**LEADER, "tags": "x"},
        {**LEADER, "replication_state": {}, "role": None},
        b"<html>hello</html>",
        b"",
        b"\xff\xfe\x00",
        DEEP,
    ],
)
async def test_a_foreign_answer_is_unknown(body: object) -> None:
    found = await ask(body)
    assert isinstance(found, Unknown)
    assert found.why


@pytest.mark.parametrize("body", [[], "x", None, b"<html>", b"", DEEP])
async def test_foreign_settings_are_unknown(body: object) -> None:
    patroni = PatroniHttp(2)
    with answering(lambda method, path: (200, body)) as there:
        assert isinstance(await patroni.settings("127.0.0.1", there.port), Unknown)
    await patroni.aclose()


@pytest.mark.parametrize("address", ["", "not an address", "a\nb", "[::", "x" * 70_000])
async def test_what_is_no_address_is_unknown(address: str) -> None:
    patroni = PatroniHttp(2)
    assert isinstance(await patroni.status(address, 8008), Unknown)
    assert isinstance(await patroni.settings(address, 8008), Unknown)
    await patroni.aclose()


async def test_nobody_there_is_unknown() -> None:
    with answering(lambda method, path: (200, {})) as there:
        port = there.port
    patroni = PatroniHttp(2)
    assert isinstance(await patroni.status("127.0.0.1", port), Unknown)
    await patroni.aclose()


ENTRY = {"timeline": 3, "begin": 0x3000000, "end": 0x3002060, "commits": 4, "at": 1767268800}
REMOVED = RemovedWal(3, 0x3000000, 0x3002060, 4, datetime(2026, 1, 1, 12, 0, tzinfo=UTC))


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ([ENTRY], (REMOVED,)),
        ([{**ENTRY, "commits": None}], (replace(REMOVED, end=None, commits=None),)),
        ([ENTRY] * 9, (REMOVED,) * 5),
        ([7, None, {}, DEEP.decode(), ENTRY], (REMOVED,)),
        ([{**ENTRY, "at": 10**30}, {**ENTRY, "at": "now"}, {**ENTRY, "at": -(10**17)}], ()),
        ([{**ENTRY, "end": 0}, {**ENTRY, "commits": -1}, {**ENTRY, "timeline": 0}], ()),
        ([{**ENTRY, "begin": -1}, {**ENTRY, "commits": 10**400}], ()),
        ("WAL", ()),
        (None, ()),
    ],
)
async def test_a_member_says_what_its_rewinds_removed(
    told: object, found: tuple[RemovedWal, ...]
) -> None:
    """Whatever it says there, the rest of its answer counts."""
    known = await ask({**LEADER, "queenright_removed": told})
    assert isinstance(known, Known)
    assert known.value.removed == found
    assert known.value.timeline == 3
