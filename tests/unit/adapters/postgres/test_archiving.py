"""A server's row about its archiving, decoded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from queenright.adapters.postgres.archiving import decode
from queenright.ports.database import Row
from queenright.ports.databases import Server
from queenright.ports.errors import UnavailableError
from queenright.ports.secrets import Password

SERVER = Server("10.77.0.12", 5432, Password("x"))
AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
LAST = "000000010000000000000007"
SEGMENT = 16 << 20


def row(**fields: object) -> Row:
    found: dict[str, object] = {
        "in_recovery": False, "at": AT, "mode": "on", "last": LAST, "last_at": AT,
        "failed": None, "failed_at": None, "waiting": 0, "since": None, "segment": SEGMENT,
        "system": "7000000000000000001", "why": None,
    }  # fmt: skip
    return tuple((found | fields).values())


def test_a_server_that_is_no_primary_any_more_is_not_believed() -> None:
    with pytest.raises(UnavailableError, match="is not a primary now"):
        decode(row(in_recovery=True), SERVER)


@pytest.mark.parametrize("fields", [{"at": None}, {"waiting": "2"}, {"segment": None}], ids=str)
def test_an_answer_in_another_form_is_none(fields: dict[str, object]) -> None:
    with pytest.raises(UnavailableError, match="in an unknown form"):
        decode(row(**fields), SERVER)


def test_moments_are_in_utc_and_segments_in_the_servers_own_size() -> None:
    there = timezone(timedelta(hours=2))
    found = decode(
        row(at=AT.astimezone(there), waiting=3, since=AT.astimezone(there), segment=1 << 20), SERVER
    )
    assert found.at.tzinfo is UTC
    assert (found.waiting_since, found.waiting_bytes) == (AT, 3 << 20)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        (LAST, LAST),
        ("00000002.history", "00000002.history"),
        (f"{LAST}.partial", f"{LAST}.partial"),
        (f"{LAST}.00000028.backup", f"{LAST}.00000028.backup"),
        (f"{LAST}\x1b[2J", ""),
        ("something else", ""),
        (None, ""),
    ],
)
def test_only_the_name_of_a_wal_file_is_shown(name: object, kept: str) -> None:
    assert decode(row(last=name), SERVER).last_wal == kept


@pytest.mark.parametrize(("mode", "is_on"), [("on", True), ("always", True), ("off", False)])
def test_the_mode_is_that_of_the_running_server(mode: str, is_on: bool) -> None:
    assert decode(row(mode=mode), SERVER).is_on is is_on


def test_the_cause_of_a_failure_is_one_printable_line_while_something_waits() -> None:
    said = "bucket backups has no room left\n\x1b[2J; make room"
    assert decode(row(why=said, waiting=1, since=AT), SERVER).why == (
        "bucket backups has no room left  [2J; make room"
    )
    assert decode(row(why=said), SERVER).why == ""
