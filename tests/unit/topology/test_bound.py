"""The bound of a loss of power: what only the leader had, and what is judged by it."""

from __future__ import annotations

import pytest

from tests.soak.judge import Acknowledged
from tests.topology.bound import Cut, beyond, bound_lines, bounds
from tests.topology.judge import Figures, line
from tests.topology.script import STEPS


def row(number: int, at: float, client: str = "a") -> Acknowledged:
    return Acknowledged(client, number, at, 1)


TOLD = [row(3, 3.0), row(1, 1.0), row(2, 2.0), row(2, 2.5, "b"), row(4, 9.0)]
HAD = frozenset({("a", 1), ("a", 2)})


def cut(at: float = 3.1, *, led: bool = True, received: frozenset[tuple[str, int]] = HAD) -> Cut:
    return Cut(at, "node3", "raft-remove/main/10.77.0.15:5010", led, received)


def test_the_bound_is_what_the_leader_had_acknowledged_and_nobody_else_had() -> None:
    ((_, rows),) = bounds(TOLD, [cut()])
    assert rows == [row(2, 2.5, "b"), row(3, 3.0)]


def test_a_member_that_does_not_lead_costs_no_row() -> None:
    assert [rows for _, rows in bounds(TOLD, [cut(led=False)])] == [[]]
    assert beyond([row(3, 3.0)], TOLD, [cut(led=False)]) == [row(3, 3.0)]


def test_a_later_loss_has_no_rows_of_before_the_earlier_one() -> None:
    """A row that the first loss has cost is on no member at the second, either."""
    found = [rows for _, rows in bounds(TOLD, [cut(), cut(9.5)])]
    assert found == [[row(2, 2.5, "b"), row(3, 3.0)], [row(4, 9.0)]]


@pytest.mark.parametrize(
    ("gone", "wrong"),
    [
        ([], []),
        ([row(3, 3.0)], []),
        ([row(3, 3.0), row(2, 2.0)], [row(2, 2.0)]),
        ([row(4, 9.0)], [row(4, 9.0)]),
    ],
    ids=["nothing", "within", "a replica had it", "acknowledged after it"],
)
def test_what_is_lost_beyond_the_bound_is_found(
    gone: list[Acknowledged], wrong: list[Acknowledged]
) -> None:
    assert beyond(gone, TOLD, [cut()]) == wrong
    assert beyond(gone, TOLD, []) == gone


def test_each_bound_is_told() -> None:
    received = frozenset((one.client, one.number) for one in TOLD)
    led, had_all, follows = bound_lines(
        TOLD, [cut(), cut(9.5, received=received), cut(10.0, led=False)]
    )
    assert "2 rows of the last 0.60 s" in led
    assert "every row" in had_all
    assert "no row may be lost" in follows
    assert all("node3" in text and "raft-remove" in text for text in (led, had_all, follows))


def test_rows_within_the_bound_break_no_promise_and_others_do() -> None:
    found = Figures(STEPS[0], 1.0, 0.1, 0.1, 5, 0, 0, bound=(led_words(),), within=2)
    assert found.keeps_promise
    assert led_words() in line(found)
    assert "2 of these rows lost" in line(found)
    assert not Figures(STEPS[0], 1.0, 0.1, 0.1, 5, 1, 0, bound=(led_words(),)).keeps_promise


def led_words() -> str:
    return bound_lines(TOLD, [cut()])[0]
