"""Passwords of the REST API leak nowhere: not in the trail, the log, an outcome or on disk."""

from __future__ import annotations

import base64
import io
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from queenright.adapters.logging import NOISY, configure_logging
from queenright.core.actions import (
    AnyPatroniAction,
    Failover,
    PatchSettings,
    RestartPostgres,
    Switchover,
)
from queenright.core.audit.record import Conflict, Done, Failed, Trigger
from queenright.core.planning.plan import Plan
from queenright.engine.execute import execute
from queenright.settings import Docker, Settings
from queenright.wiring import open_ports
from tests.support.http_server import Answer, answering
from tests.support.plain_log import log_plainly

VALUE = "correct horse"
"""A password that does not look like one, so that no redaction helps."""
NAME = "pg_rest_pw"
WHERE: dict[str, Any] = {
    "cluster": "main",
    "address": "127.0.0.1",
    "secret": NAME,
    "reason": "a test",
}
SPELLINGS = (VALUE, base64.b64encode(f"queenright:{VALUE}".encode()).decode())


def actions(port: int) -> list[AnyPatroniAction]:
    return [
        PatchSettings(port=port, aspect="a", patch={"ttl": 20}, expected={"ttl": 30}, **WHERE),
        PatchSettings(port=port, aspect="b", patch={"ttl": 20}, expected={"ttl": 31}, **WHERE),
        Switchover(port=port, leader="member-1", candidate="member-2", timeline=1, **WHERE),
        Failover(port=port, candidate="member-2", **WHERE),
        RestartPostgres(port=port, member="member-1", **WHERE),
    ]


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Return the operator's log at its most verbose level."""
    stream = io.StringIO()
    root = logging.getLogger()
    loggers = [root, *map(logging.getLogger, NOISY)]
    handlers, levels = root.handlers[:], [logger.level for logger in loggers]
    configure_logging("json", "debug", stream)
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    yield stream
    root.handlers[:] = handlers
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
    log_plainly()


@pytest.mark.parametrize("status", [200, 401, 409, 412, 500, 503, 0])
async def test_a_password_is_nowhere_whatever_a_member_answers(
    status: int, tmp_path: Path, log: io.StringIO, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / NAME).write_text(f"{VALUE}\n")

    def answer(method: str, path: str) -> Answer:
        return (200, {"ttl": 30}) if method == "GET" else (status, f"you said {VALUE}".encode())

    told: list[str] = []
    with answering(answer) as there:
        settings = Settings(
            state_dir=tmp_path / "state",
            secrets_dir=tmp_path,
            docker=Docker(host=f"tcp://127.0.0.1:{there.port}"),
        )
        async with open_ports(settings, audit=True) as ports:
            for action in actions(there.port):
                plan = Plan("main", "x", (action,))
                result = await execute(ports, plan, Trigger("timer"), lambda: False)
                told += [repr(item) for item in result.tried]
                assert {type(outcome) for _, outcome in result.tried} <= {Done, Conflict, Failed}
        assert len([sent for sent, _ in there.sent if sent]) == 4
    trail = (tmp_path / "state" / "audit.jsonl").read_text()
    assert "switchover/main" in trail
    assert '"level": "debug"' in log.getvalue()
    everything = [*told, trail, log.getvalue(), *capfd.readouterr()]
    assert not [text for text in everything for spelling in SPELLINGS if spelling in text]
