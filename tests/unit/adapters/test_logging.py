"""Log lines: one JSON line per event for machines, plain words for a terminal."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from queenright.adapters.audit.log import AuditLog
from queenright.adapters.logging import configure_logging
from queenright.adapters.system_clock import SystemClock
from queenright.core.actions import FieldChange, UpdateService
from queenright.core.audit.chain import verify
from queenright.core.audit.record import Trigger
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import Service
from queenright.settings import LogFormat
from tests.support.plain_log import log_plainly

SECRET = "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ="


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    log_plainly()
    root.handlers = handlers
    root.setLevel(level)


def lines(out: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_an_event_is_one_json_line() -> None:
    out = io.StringIO()
    configure_logging(stream=out)
    structlog.get_logger().info("pass", clusters=["main"], duration_ms=41.3)
    (line,) = lines(out)
    assert list(line)[:3] == ["timestamp", "level", "event"]
    assert str(line.pop("timestamp")).endswith("Z")
    assert line == {"level": "info", "event": "pass", "clusters": ["main"], "duration_ms": 41.3}


def test_libraries_speak_from_warning_on_and_in_json_too() -> None:
    out = io.StringIO()
    configure_logging(level="debug", stream=out)
    logging.getLogger("httpx").info("HTTP Request: GET http://10.77.0.12:8008/patroni")
    logging.getLogger("urllib3.connectionpool").debug("Starting new connection")
    logging.getLogger("docker").warning("slow %s", "answer")
    assert [line["event"] for line in lines(out)] == ["slow answer"]


@pytest.mark.parametrize(
    ("log_format", "out", "is_json"),
    [
        ("auto", io.StringIO(), True),
        ("auto", Terminal(), False),
        ("json", Terminal(), True),
        ("console", io.StringIO(), False),
    ],
)
def test_the_format_follows_the_stream_unless_told(
    log_format: LogFormat, out: io.StringIO, is_json: bool
) -> None:
    configure_logging(log_format, stream=out)
    structlog.get_logger().info("hello")
    assert out.getvalue().startswith("{") is is_json


@given(st.dictionaries(st.text(min_size=1), st.text() | st.just(SECRET) | st.just([{"x": SECRET}])))
def test_no_secret_leaves_in_a_log_line(fields: dict[str, object]) -> None:
    out = io.StringIO()
    configure_logging(stream=out)
    kept = {key: value for key, value in fields.items() if key not in {"event", "self"}}
    structlog.get_logger().info(f"said {SECRET}", **kept)
    try:
        int(SECRET)
    except ValueError:
        structlog.get_logger().exception("failed")
    assert SECRET not in out.getvalue()
    assert "(hidden)" in out.getvalue()


def an_update() -> UpdateService:
    return UpdateService(
        id="x",
        version=3,
        service=Service("main_member-1", "i"),
        force_update=0,
        reason=f"it was changed by hand to {SECRET}",
        changes=(FieldChange("image", f"postgres://u:hunter2@h/{SECRET}", "i"),),
        disrupts="main_member-1",
    )


def test_the_trail_verifies_out_of_the_log_stream() -> None:
    out = io.StringIO()
    configure_logging(stream=out)
    with AuditLog(None, SystemClock()) as trail:
        trail.intent(Plan("main", "d", (an_update(),)), Trigger("docker", SECRET), an_update())
        structlog.get_logger().info("pass", hash="x", prev_hash="y")
    found = verify(out.getvalue().encode().splitlines(keepends=True))
    assert found.is_sound, found.breaks
    assert (found.records, found.other_lines) == (3, 1)
    assert SECRET not in out.getvalue()
    assert "hunter2" not in out.getvalue()


def test_a_terminal_shows_what_and_why_without_hashes() -> None:
    out = Terminal()
    configure_logging("console", stream=out)
    with AuditLog(None, SystemClock()) as trail:
        trail.intent(Plan("main", "d", (an_update(),)), Trigger("timer"), an_update())
    said = out.getvalue()
    assert "update-service/main_member-1: planned" in said
    assert "it was changed by hand" in said
    assert "prev_hash" not in said
