"""The trail has each hold once: its begin, and its end after a minute without it."""

from __future__ import annotations

from queenright.core.audit.record import Trigger
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.plan import Hold, Plan
from queenright.engine.held import GONE_S, HeldSteps
from tests.fakes.files import FakeAudit

KEY = DocumentKey("PostgresCluster", "main")
TRIGGER = Trigger("timer")
FIRST = Hold("members/main", "waits")


def plan(*holds: Hold) -> Plan:
    return Plan("main", "d", (), holds)


def test_a_hold_is_recorded_when_it_begins_and_a_minute_after_it_was_last_seen() -> None:
    memory, audit = HeldSteps(), FakeAudit()
    memory.note(KEY, plan(), TRIGGER, 0.0, audit)
    assert audit.holds == []
    memory.note(KEY, plan(FIRST), TRIGGER, 1.0, audit)
    memory.note(KEY, plan(Hold(FIRST.key, "waits longer")), TRIGGER, 2.0, audit)
    assert [held.began for held in audit.holds] == [(FIRST,)]
    memory.note(KEY, plan(), TRIGGER, 1.0 + GONE_S, audit)
    assert len(audit.holds) == 1, "absent for less than the time since it was last seen"
    memory.note(KEY, plan(), TRIGGER, 2.0 + GONE_S, audit)
    assert [(held.began, held.ended) for held in audit.holds[1:]] == [((), (FIRST.key,))]
    memory.note(KEY, plan(FIRST), TRIGGER, 200.0, audit)
    assert len(audit.holds) == 3


def test_a_hold_that_comes_and_goes_is_recorded_once() -> None:
    memory, audit = HeldSteps(), FakeAudit()
    for second in range(300):
        memory.note(KEY, plan(*[FIRST] * (second % 2)), TRIGGER, float(second), audit)
    assert len(audit.holds) == 1


def test_a_note_is_no_hold_and_a_document_that_is_gone_is_forgotten() -> None:
    memory, audit = HeldSteps(), FakeAudit()
    remark = Hold("key/main", "store a copy", is_informational=True)
    memory.note(KEY, plan(remark), TRIGGER, 0.0, audit)
    assert audit.holds == []
    memory.note(KEY, plan(FIRST), TRIGGER, 1.0, audit)
    memory.forget_others({KEY})
    memory.note(KEY, plan(FIRST), TRIGGER, 2.0, audit)
    assert len(audit.holds) == 1
    memory.forget_others(set())
    memory.note(KEY, plan(FIRST), TRIGGER, 3.0, audit)
    assert len(audit.holds) == 2


def test_a_note_about_a_loss_is_in_the_trail_and_nothing_is_held_by_it() -> None:
    memory, audit = HeldSteps(), FakeAudit()
    loss = Hold("removed/main_a/3", "lost", is_informational=True, is_recorded=True)
    for second in (0.0, 1.0):
        memory.note(KEY, plan(loss), TRIGGER, second, audit)
    assert [held.began for held in audit.holds] == [(loss,)]
    assert plan(loss).is_converged
    memory.note(KEY, plan(), TRIGGER, 1.0 + GONE_S, audit)
    assert [held.ended for held in audit.holds] == [(), (loss.key,)]
