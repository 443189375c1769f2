"""The pause between two questions of a test that waits."""

from __future__ import annotations

import pytest

from tests.support.asking import pause_s


@pytest.mark.parametrize(
    ("waited_s", "least_s", "wanted_s"),
    [(0.0, 0.05, 0.05), (1.0, 0.1, 0.1), (4.0, 0.1, 0.2), (6.0, 0.1, 0.3), (200.0, 0.1, 0.3)],
)
def test_it_grows_with_the_wait_up_to_a_most(
    waited_s: float, least_s: float, wanted_s: float
) -> None:
    assert pause_s(waited_s, least_s) == pytest.approx(wanted_s)


def test_a_test_whose_question_starts_a_program_asks_more_rarely() -> None:
    assert pause_s(200.0, 2.0) == pytest.approx(2.0)
