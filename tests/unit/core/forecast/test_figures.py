"""Figures of a forecast: medians of what the trail has, and nothing else."""

from __future__ import annotations

from queenright.core.audit.questions import LeaderChange
from queenright.core.audit.reading import Step, read_step
from queenright.core.forecast.figures import UNKNOWN, Figure, History

EDIT = {"document": "main", "file": "f", "line": 1, "path": "spec.image"}


def step(
    key: str,
    second: int,
    took_ms: int = 10,
    *,
    cluster: str = "main",
    outcome: str = "done",
    edits: tuple[object, ...] = (EDIT,),
) -> Step:
    return read_step(
        {
            "phase": "outcome",
            "cluster": cluster,
            "at": f"2026-01-01T10:{second // 60:02d}:{second % 60:02d}.000Z",
            "action": {"key": key},
            "outcome": outcome,
            "duration_ms": took_ms,
            "trigger": {"edits": [*edits]},
        }
    )


def test_a_duration_is_the_median_of_what_was_done_in_this_cluster() -> None:
    steps = [
        step("update-service/a", 50, 300),
        step("update-service/a", 40, 9000, outcome="failed"),
        step("update-service/b", 30, 100),
        step("update-service/b", 20, 8000, cluster="other"),
        step("restart-service/b", 15, 7000),
        step("update-service/a", 10, 200),
    ]
    assert History(steps).of("main", "update-service").duration == Figure(200, 3)


def test_without_a_record_there_is_no_figure() -> None:
    assert History([step("a/b", 1)]).of("main", "switchover") == UNKNOWN
    assert History().of("main", "update-service") == UNKNOWN


def test_the_next_step_counts_from_the_end_of_one_to_the_begin_of_the_next_of_its_edit() -> None:
    other = {**EDIT, "path": "spec.other"}
    steps = [
        step("update-service/c", 300, edits=(other,)),
        step("update-service/b", 130, 2000),
        step("update-service/a", 100, 500),
    ]
    assert History(steps).of("main", "update-service").until_next == Figure(28_000, 1)


def test_steps_far_apart_or_without_an_edit_do_not_count_as_next() -> None:
    far = [step("update-service/b", 3000), step("update-service/a", 100)]
    assert History(far).of("main", "update-service").until_next is None
    plain = [step("update-service/b", 30, edits=()), step("update-service/a", 10, edits=())]
    assert History(plain).of("main", "update-service").until_next is None


def test_a_write_gap_is_that_of_the_changes_that_the_action_made() -> None:
    cause = step("switchover/main", 1)
    gaps = [
        LeaderChange("main", "", None, "a", "b", n, cause, measured(gap), cause)
        for n, gap in enumerate((900, 1500, None))
    ]
    by_itself = LeaderChange("main", "", None, "a", "b", 9, cause, measured(60_000))
    history = History([cause], [*gaps, by_itself])
    assert history.of("main", "switchover").write_gap == Figure(1200, 2)
    assert history.of("other", "switchover").write_gap is None


def measured(gap_ms: int | None) -> Step:
    return read_step({"phase": "measured", "write_gap_ms": gap_ms})
