"""The trail explains what was done, held and refused, in words; hostile lines are no exception."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from queenright.core.actions import LabelConfig, RestartPostgres, Switchover, UpdateService
from queenright.core.audit.chain import Chain, Record, decode, encode
from queenright.core.audit.explanation import Trail, explained, title_of
from queenright.core.audit.questions import answers, offers
from queenright.core.audit.reading import Step, read_step
from queenright.core.audit.record import (
    MOST_EDITS,
    Body,
    Done,
    Edit,
    Failed,
    Trigger,
    held_body,
    intent_body,
    note_body,
    outcome_body,
    refused_body,
)
from queenright.core.kinds.postgres_cluster.status.leader_records import leader_changes
from queenright.core.planning.plan import Hold, Plan, Refusal
from queenright.core.swarm.diff import FieldChange
from queenright.core.swarm.objects import Config, Service
from tests.golden.compare import assert_golden

BEGAN = datetime(2026, 1, 31, 12, tzinfo=UTC)
FILE = "/etc/queenright/cluster.yaml"
GRACE = Edit("main", FILE, 15, "spec.stopGracePeriod", "2m", "90s")
TOKEN = Edit("main", FILE, 16, "spec.apiToken", "hunter2", "hunter3")
OTHER = Edit("other", "/etc/queenright/other.yaml", 3, "spec.image", "a", "b")
EDITED = Trigger("file", "spec.stopGracePeriod: 2m -> 90s", FILE, 15, (OTHER, GRACE, TOKEN))
TIMER = Trigger("timer", "", FILE, 15, EDITED.edits)
BY_HAND = Trigger("command", "restart member-3, by root on node1")
UPDATE = UpdateService(
    id="id", version=1, service=Service("main_member-2", "i"), force_update=0,
    reason="main_member-2 differs from the file in stop_grace_s",
    changes=(FieldChange("stop_grace_s", "120.0", "90"),), disrupts="main_member-2",
)  # fmt: skip
MOVE = Switchover(
    cluster="main", address="10.0.0.1", port=8008, secret="", leader="member-1",
    candidate="member-2", timeline=5, reason="the leader restarts last", disrupts="main_member-1",
)  # fmt: skip
NOTE = LabelConfig(
    id="id", version=1, config=Config("main_cluster", b""),
    reason="the operator's annotations change",
    changes=(FieldChange("labels[queenright.leader]", '["member-1", 5]', '["member-2", 6]'),),
)  # fmt: skip
RESTART = RestartPostgres(
    cluster="main", address="10.0.0.3", port=8008, secret="", member="member-3", reason="asked for",
    disrupts="main_member-3",
)  # fmt: skip
MADE = (("update-service/main_member-2", "members"), ("switchover/main", "leadership"))
WAITS = Hold("update-service/main_member-3", "waiting: main_member-2 is disrupted first")
PLAN = Plan("main", "d", (UPDATE,), (WAITS,), (*MADE, (WAITS.key, "members")))


def bodies() -> Iterator[Body]:
    yield note_body("start", version="1", guards=["one-disruption", "removal-is-asked-for"])
    yield refused_body(PLAN, EDITED, Refusal("replica-is-near", "member-3 is far behind"))
    yield held_body(PLAN, EDITED, PLAN.held, ())
    yield from tried(UPDATE, EDITED, Failed("no answer"))
    yield from tried(UPDATE, TIMER, Done())
    yield from tried(MOVE, TIMER, Done())
    yield from tried(NOTE, Trigger("member", "main_member-2"), Done())
    yield note_body(
        "measured", cluster="main", leader_before="member-1", leader="member-2", timeline=6,
        cause="planned: rollout", write_gap_ms=1502, lost_rows=0,
    )  # fmt: skip
    yield held_body(Plan("main", "d"), TIMER, (), (WAITS.key,))
    yield intent_body(PLAN, BY_HAND, RESTART)


def tried(
    action: UpdateService | Switchover | LabelConfig, trigger: Trigger, outcome: Done | Failed
) -> Iterator[Body]:
    yield intent_body(PLAN, trigger, action)
    yield outcome_body(PLAN, trigger, action, outcome, duration_ms=42, intent_seq=None)


def records() -> list[Record]:
    chain, found = Chain(), []
    for number, body in enumerate(bodies()):
        record, chain = chain.seal(body, BEGAN + timedelta(seconds=number))
        found.append(record)
    return found


def newest_first(found: list[Record]) -> list[Step]:
    finished = [one for one in found if one["phase"] != "intent" or one is found[-1]]
    return [read_step(one) for one in reversed(finished)]


def in_words(what: str, steps: list[Step]) -> str:
    changes = leader_changes(steps)
    found = answers(what, steps, changes)
    if not found:
        return f"? {what}\n  nothing\n"
    told = explained(found[0], Trail(steps, changes))
    lines = [f"? {what}", told.title]
    lines += [f"  {why.about:10} {why.text}" for why in told.reasons]
    lines += [f"  - {title_of(other)}" for other in found[1:]]
    return "\n".join(lines) + "\n"


ASKED = (
    "update-service/main_member-2", "leader", "leader/6", "switchover", "member-3",
    "update-service/main_member-3", "replica-is-near", "stopGracePeriod", "10", "main", "nosuch",
)  # fmt: skip


def test_the_words_of_every_sort_of_explanation() -> None:
    steps = newest_first(records())
    text = "\n".join(in_words(what, steps) for what in ASKED)
    text += "\n" + json.dumps(offers(steps, leader_changes(steps)), indent=1) + "\n"
    assert "hunter" not in text
    assert "spec.apiToken: (hidden) -> (hidden)" in text
    assert_golden("explain.txt", text)


def test_a_record_keeps_the_edits_of_its_own_document_and_a_bounded_number() -> None:
    many = tuple(Edit("main", FILE, n, f"spec.x{n}", 1, 2) for n in range(MOST_EDITS + 5))
    body = intent_body(PLAN, Trigger("file", "", FILE, 1, (OTHER, *many)), UPDATE)
    trigger = body["trigger"]
    assert isinstance(trigger, dict)
    assert len(trigger["edits"]) == MOST_EDITS
    assert trigger["more_edits"] == 5
    assert {edit["document"] for edit in trigger["edits"]} == {"main"}
    elsewhere = intent_body(PLAN, Trigger("file", "", FILE, 1, (OTHER,)), UPDATE)
    step = read_step({**elsewhere, "seq": 1})
    assert "(of other)" in " ".join(why.text for why in explained(step, Trail([step])).reasons)


def test_a_trail_from_before_the_new_keys_is_explained_as_far_as_it_goes() -> None:
    found = []
    for record in records():
        old = {key: value for key, value in record.items() if key not in ("rule", "guards")}
        if isinstance(trigger := old.get("trigger"), dict):
            old["trigger"] = {key: value for key, value in trigger.items() if key != "edits"}
        found.append(old)
    text = in_words("update-service/main_member-2", newest_first(found))
    assert "Rule       not recorded" in text
    assert "every guard lets pass" in text
    assert f"{FILE}:15: spec.stopGracePeriod: 2m -> 90s" in in_words("5", newest_first(found))


def test_an_altered_record_is_told_as_one() -> None:
    found = [dict(record) for record in records()]
    found[4]["reason"] = "because"
    assert "Warning    record 5 does not match its hash" in in_words("5", newest_first(found))


DEEP = "[" * 900 + "]" * 900
ODD_VALUES = (
    "null", "true", "-1", "1e999", "9" * 400, '""', '"\\ud800\\u001b[2J"',
    '"0001-01-01T00:00:00+23:00"',
    '"2026-01-31T12:00:00"', "[]", "[[]]", "[{}]", '[{"key": [], "path": 5, "line": "x"}]', "{}",
    '{"kind": [], "file": "f", "line": {}, "edits": "x", "key": {}}', DEEP,
)  # fmt: skip


FEW = (
    "null",
    "1e999",
    '""',
    "[{}]",
    '{"kind": [], "file": "f", "line": {}, "edits": "x", "key": {}}',
)
"""One of each kind of value; `make test` has all."""


@pytest.mark.parametrize(
    "odd",
    [pytest.param(v, marks=[] if v in FEW else [pytest.mark.slow], id=v[:20]) for v in ODD_VALUES],
)
def test_odd_values_in_any_field_are_no_exception(odd: str) -> None:
    known = [record for record in records() if record["phase"] != "intent"]
    keys = {key for record in known for key in record}
    for key in sorted(keys | {"intent_seq", "ended", "error"}):
        found = []
        for record in known:
            rest = {name: value for name, value in record.items() if name != key}
            line = encode(rest)[:-2] + f', "{key}": {odd}}}'.encode()
            read = decode(line)
            if read is not None:
                found.append(read)
        steps = [read_step(one) for one in reversed(found)]
        for what in (*ASKED, "#5", "plan", ""):
            in_words(what, steps)
        offers(steps, leader_changes(steps))


def test_a_note_in_the_trail_does_not_wait_for_anybody() -> None:
    """Of commits that a failover lost, say."""
    loss = Hold("removed/main_member-1/3", "lost", is_informational=True, is_recorded=True)
    record, _ = Chain().seal(held_body(PLAN, TIMER, (loss,), ()), BEGAN)
    text = in_words(loss.key, newest_first([record]))
    assert "Needs      nobody has to act" in text
    assert "is_note" not in json.dumps(held_body(PLAN, TIMER, (WAITS,), ()))
