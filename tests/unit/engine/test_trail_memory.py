"""The newest records in memory: what was begun, what is kept, and the bounds."""

from __future__ import annotations

import pytest

from queenright.engine import trail_memory
from queenright.engine.trail_memory import MOST_EACH, MOST_RECORDS, TrailMemory

CREATE = {"kind": "create", "key": "create/1"}


def record(phase: str, seq: int, name: str = "main", **fields: object) -> dict[str, object]:
    action = {"kind": "create", "key": f"create/{seq}"}
    return {"phase": phase, "seq": seq, "cluster": name, "action": action, "at": f"t{seq}"} | fields


def test_an_action_is_running_from_its_intent_to_its_outcome() -> None:
    memory = TrailMemory()
    memory.note(record("intent", 1, reason="it is missing"))
    assert [(one.key, one.since) for one in memory.running("main")] == [("create/1", "t1")]
    assert memory.running("other") == ()
    assert memory.records() == ()
    memory.note(record("outcome", 2, intent_seq=1, outcome="done") | {"action": CREATE})
    assert memory.running("main") == ()
    assert [one.cells[3] for one in memory.records()] == ["done"]


def test_records_are_newest_first_of_all_or_of_one() -> None:
    memory = TrailMemory()
    for seq, name in enumerate(("a", "b", "a")):
        memory.note(record("refused", seq, name))
    assert [one.cells[0] for one in memory.records()] == ["t2", "t1", "t0"]
    assert [one.cells[0] for one in memory.records("a")] == ["t2", "t0"]


def test_earlier_records_are_taken_without_intents_that_have_an_outcome() -> None:
    memory = TrailMemory()
    intent, orphan = record("intent", 1), record("intent", 0)
    memory.preload([record("outcome", 2, intent_seq=1, outcome="done"), intent, orphan])
    assert [one.cells[3] for one in memory.records()] == ["done", "no outcome"]


def test_what_the_log_repeats_is_not_taken_twice() -> None:
    memory = TrailMemory()
    memory.note(record("outcome", 2) | {"repeated": True})
    assert memory.records() == ()


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trail_memory, "MOST_NAMES", 3)
    memory = TrailMemory()
    for seq in range(MOST_RECORDS + MOST_EACH):
        memory.note(record("refused", seq, "busy", reason="x" * 10_000))
    for seq in range(10):
        memory.note(record("refused", seq, f"c{seq}"))
    assert len(memory.records()) == MOST_RECORDS
    assert memory.records("busy") == ()
    assert len(memory.records("c9")) == 1
    assert all(len(cell) < 1_000 for one in memory.records() for cell in one.cells)


def test_a_record_has_the_edit_and_the_rule_behind_it() -> None:
    edits = [{"path": "spec.image", "old": "a", "new": "b"}, {"path": "spec.x"}]
    trigger = {"kind": "file", "edits": edits, "more_edits": 3}
    memory = TrailMemory()
    memory.note(record("outcome", 1, rule="members", trigger=trigger))
    memory.note(record("refused", 2, guard="quorum", trigger={"kind": "timer"}))
    memory.note(record("start", 3))
    assert [one.causes for one in reversed(memory.records())] == [
        "edit spec.image: a -> b and 4 more; rule members",
        "pass begun by timer; guard quorum",
        "",
    ]


def test_hostile_records_are_taken_as_they_are() -> None:
    memory = TrailMemory()
    for odd in ({}, {"phase": 3, "cluster": ["x"], "action": "y"}, {"phase": "held", "holds": 7}):
        memory.note(odd)
    assert len(memory.records()) == 3
