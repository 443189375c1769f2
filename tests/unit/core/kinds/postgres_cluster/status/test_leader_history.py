"""Causes of changes of leader: history and trail joined."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from queenright.core.kinds.postgres_cluster.status.leader_history import UNASKED, Cause, causes
from queenright.core.observed import TimelineEnd

AT = datetime(2026, 11, 20, 22, 0, tzinfo=UTC)


def change(timeline: int, leader: str, after_s: float = 0.0) -> TimelineEnd:
    return TimelineEnd(timeline, 100, "no recovery", AT + timedelta(seconds=after_s), leader)


def record(kind: str, after_s: float, **fields: object) -> dict[str, object]:
    plain: dict[str, object] = {
        "phase": "outcome",
        "cluster": "main",
        "at": (AT + timedelta(seconds=after_s)).isoformat(),
        "action": {"kind": kind, "key": f"{kind}/main"},
        "reason": f"a {kind}",
        "outcome": "done",
        "duration_ms": 2000,
        "disturbs": "main_member-1",
    }
    return plain | fields


def texts(changes: list[TimelineEnd], *records: dict[str, object]) -> list[str]:
    return [cause.text for cause in causes(changes, records, "main")]


def test_a_move_that_was_asked_for() -> None:
    by_edit = record("switchover", 1, trigger={"kind": "file", "file": "c.yaml", "line": 7})
    assert texts([change(1, "member-2")], by_edit) == ["a switchover; c.yaml:7"]
    by_hand = record("failover", 1, trigger={"kind": "command", "detail": "failover, by root"})
    assert texts([change(1, "member-2")], by_hand) == ["a failover; failover, by root"]


def test_a_lost_answer_may_have_been_carried_out_late() -> None:
    lost = record("switchover", -30, outcome="failed", transient=True)
    assert texts([change(1, "member-2")], lost) == ["a switchover"]
    refused = record("switchover", -1, outcome="failed", transient=False)
    assert texts([change(1, "member-2")], refused) == [UNASKED]


def test_what_was_too_early_or_later_or_about_another_cluster_is_no_cause() -> None:
    assert texts(
        [change(1, "member-2")],
        record("switchover", -70),
        record("switchover", 30),
        record("switchover", 1, cluster="other"),
        record("label-config", 1),
        record("switchover", 1, at="soon"),
        {"phase": "start"},
    ) == [UNASKED]


def test_the_nearest_of_several_is_the_cause() -> None:
    first, second = change(1, "member-2"), change(2, "member-3", 20)
    assert texts(
        [first, second],
        record("switchover", 1, reason="the first"),
        record("switchover", 21, reason="the second"),
    ) == ["the first", "the second"]


def test_a_stopped_leader_is_a_cause_and_a_stopped_replica_is_none() -> None:
    changes = [change(1, "member-1", -1000), change(2, "member-2")]
    of_leader = record("restart-service", -10)
    assert texts(changes, of_leader) == [UNASKED, "a restart-service"]
    of_replica = record("update-service", -10, disturbs="main_member-3")
    assert texts(changes, of_replica) == [UNASKED, UNASKED]


def test_what_patroni_did_not_date_has_no_cause() -> None:
    assert texts([TimelineEnd(1, 100, "x")], record("switchover", 1)) == [""]


def test_the_canarys_measurement_is_found_by_its_timeline() -> None:
    measured = {"phase": "measured", "cluster": "main", "timeline": 2, "write_gap_ms": 1230,
                "lost_rows": 0}  # fmt: skip
    assert causes([change(1, "member-2"), change(2, "member-3")], [measured], "main") == (
        Cause(UNASKED, 1230, 0),
        Cause(UNASKED),
    )
