"""`explain` reads the trails and nothing else; a broken trail is no traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from queenright.adapters.audit.log import AuditLog
from queenright.adapters.system_clock import SystemClock
from queenright.cli.commands.explain import explain
from queenright.core.actions import CreateService
from queenright.core.audit.chain import Record
from queenright.core.audit.record import Done, Failed, Trigger
from queenright.core.planning.plan import Hold, Plan
from queenright.core.swarm.objects import Service

ACTION = CreateService(service=Service("main_member-1", "i"), reason="missing")
PLAN = Plan("main", "d", (ACTION,), (), ((ACTION.key, "members"),))
BY_HAND = Trigger("command", "restart member-1, by root on node1")


def no_sink(_: Record) -> None:
    """The stream of these trails is read by nobody."""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "state"
    monkeypatch.setenv("QUEENRIGHT_STATE_DIR", str(directory))
    guards = ["one-disruption"]
    with AuditLog(directory, SystemClock(), no_sink, version="1", guards=guards) as trail:
        trail.held(PLAN, Trigger("start"), (Hold("edge/main", "waits: \x1b[2J"),), ())
        for outcome in (Failed("no answer"), Done()):
            trail.intent(PLAN, Trigger("start"), ACTION)
            trail.outcome(PLAN, Trigger("start"), ACTION, outcome, 12)
        trail.intent(Plan("other", "d", (ACTION,)), Trigger("start"), ACTION)
    with AuditLog(directory / "commands", SystemClock(), no_sink) as trail:
        trail.intent(Plan("main", "d", (ACTION,)), BY_HAND, ACTION)
    return directory


def asked(*words: str) -> Result:
    found = CliRunner().invoke(explain, [*words], standalone_mode=False)
    if isinstance(found.exception, AssertionError):
        raise found.exception
    return found


@pytest.mark.usefixtures("state")
def test_the_newest_of_both_trails_is_explained_and_the_others_are_listed() -> None:
    text = asked("member-1").output
    assert text.startswith("create-service/main_member-1; cluster main, ")
    assert "  Command    restart member-1, by root on node1\n" in text
    assert "3 more, newest first\n" in text
    other = json.loads(asked("member-1", "--cluster", "other", "--json").output)
    assert other["cluster"] == "other"
    assert other["others"] == []
    assert {"about": "guards", "text": "1 let the plan pass: one-disruption"} in other["reasons"]


@pytest.mark.usefixtures("state")
def test_control_characters_of_a_record_do_not_reach_the_terminal() -> None:
    text = asked("edge/main").output
    assert "waits:  [2J" in text
    assert "\x1b" not in text


@pytest.mark.usefixtures("state")
def test_what_can_be_asked_is_listed_and_what_is_not_there_is_said() -> None:
    assert "  edge/main\n" in asked().output
    known = json.loads(asked("--json").output)["can_be_asked"]
    assert known["actions"] == ["create-service/main_member-1"]
    missing = asked("create-sevice")
    assert 'did you mean "create-service"?' in str(missing.exception)


def test_a_broken_trail_is_no_traceback(state: Path) -> None:
    file = state / "audit.jsonl"
    torn = file.read_bytes()
    odd = b'{"seq": [], "prev_hash": {}, "hash": [], "phase": "outcome", "chain": [], "at": {}}\n'
    file.write_bytes(
        b"\xff\x00{\n" + odd + torn.replace(b'"missing"', b'"mine"') + b'{"seq": 9, "pre'
    )
    text = asked("create-service", "--cluster", "other").output
    assert "does not match its hash" in text
    assert asked("create-service", "--trail", str(file)).exit_code == 0
    gone = asked("create-service", "--trail", str(state / "gone"))
    assert "no audit trail here" in str(gone.exception)
