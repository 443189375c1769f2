"""The judgement of a topology run: what fails it, and what it prints of each step."""

from __future__ import annotations

import pytest

from tests.soak.judge import Acknowledged
from tests.topology.__main__ import read
from tests.topology.judge import Figures, broken, line, longest_gaps_s, pauses, table
from tests.topology.script import PLANNED_MOVE_S, STEPS

BY_NAME = {step.name: step for step in STEPS}


def figures(name: str = "grow", gap_s: float = 0.2, lost: int = 0, beside: int = 0) -> Figures:
    return Figures(BY_NAME[name], 20.0, gap_s, 0.1, 100, lost, beside)


def rows(*moments: float) -> list[Acknowledged]:
    return [Acknowledged("a", number, at, 1) for number, at in enumerate(moments)]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"lost": 1}, "lost 1"),
        ({"canary_lost": 2}, "lost 2"),
        ({"beside": 3}, "at once 3"),
        ({"wrong": "waited for the members"}, "NOT whole (waited for the members)"),
    ],
)
def test_what_breaks_a_promise_is_told(changed: dict[str, int], words: str) -> None:
    assert figures().keeps_promise
    found = Figures(BY_NAME["grow"], 150.2, 0.2, 0.1, 100, **{"lost": 0, "beside": 0, **changed})
    assert not found.keeps_promise
    assert words in line(found)
    assert len(broken([found], [found.step])) == 1


@pytest.mark.parametrize(
    ("name", "gap_s", "bound", "over"),
    [
        ("grow", 0.31, "0.3 s", True),
        ("grow", 0.3, "0.3 s", False),
        ("rename", 0.4, "0.3 s", True),
        ("move-leader", 1.2, "1.2 s", False),
        ("move-leader", 1.24, "1.2 s", True),
    ],
)
def test_a_gap_above_the_bound_fails_the_run_at_its_end(
    name: str, gap_s: float, bound: str, over: bool
) -> None:
    """The further steps are taken: a gap breaks no promise."""
    found = figures(name, gap_s)
    assert found.keeps_promise
    words = f"bound {bound}, over" if over else f"bound {bound})"
    assert words in line(found)
    cell = f"| {gap_s:.2f} s | {bound}{', over' if over else ''} |"
    assert cell in table([found]).splitlines()[-1]
    assert bool(broken([found], [found.step])) is over
    assert not broken([found], [found.step], judges_gaps=False)


def test_all_that_fails_a_run_is_told_with_the_steps_that_were_not_taken() -> None:
    steps = [BY_NAME[name] for name in ("grow", "shrink", "rename")]
    assert broken([figures(step.name) for step in steps], steps) == []
    assert broken([figures(gap_s=0.5), figures("shrink", lost=2, beside=1)], steps) == [
        "grow: a write gap of 0.50 s, bound 0.3 s",
        "shrink: 2 acknowledged rows lost",
        "shrink: 1 rows acknowledged by two members at once",
        "rename: not taken",
    ]


def test_a_slow_machine_has_its_gaps_only_printed() -> None:
    assert not read([]).gaps_only_print
    assert read(["--gaps-only-print"]).gaps_only_print


@pytest.mark.parametrize(
    ("power_lost", "found"),
    [([], (31.0, 0.0)), ([12.5], (2.0, 31.0)), ([12.5, 43.5], (1.0, 31.0)), ([99.0], (31.0, 0.0))],
)
def test_the_gap_of_a_loss_of_power_is_counted_by_itself(
    power_lost: list[float], found: tuple[float, float]
) -> None:
    assert longest_gaps_s(rows(9.0, 11.0, 12.0, 43.0, 45.0), power_lost, 10.0, 46.0) == found


def test_after_a_loss_of_power_the_leader_may_move_in_any_step() -> None:
    found = Figures(
        BY_NAME["grow"], 1.0, 0.9, 0.1, 5, 0, 0, bound=("node3 without power",), power_gap_s=31.0
    )
    assert not found.is_over
    assert found.gap_bound_s == PLANNED_MOVE_S
    assert "31.00 s with a loss of power in it (no bound)" in line(found)


def test_a_long_pause_is_told_with_the_action_before_its_end() -> None:
    told = rows(9.9, 12.0, 12.1, 14.0)
    acts = [(10.5, "label-node/node2"), (12.05, "update-service/main_proxy"), (15.0, "later")]
    assert [*pauses(told, acts, 10.0, 1.0)] == [
        "2.10 s after 0 s (label-node/node2)",
        "1.90 s after 2 s (update-service/main_proxy)",
    ]
    assert [*pauses(told, [], 10.0, 2.0)] == ["2.10 s after 0 s (nothing)"]
    assert [*pauses(told, acts, 14.0, 1.0)] == []
