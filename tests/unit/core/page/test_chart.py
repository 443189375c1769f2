"""The chart of a member's lag: gaps, scale, and its figures in words."""

from __future__ import annotations

from queenright.core.page.chart import HEIGHT, lag_chart, runs


def test_an_unknown_minute_is_a_gap() -> None:
    found = runs((0, 0, None, 4), 4)
    assert [len(run) for run in found] == [2, 2]
    assert found[1][0] == found[1][1]


def test_the_highest_lag_is_at_the_top_and_none_at_the_bottom() -> None:
    (run,) = runs((0, 8), 8)
    assert [point.split(",")[1] for point in run] == [f"{HEIGHT - 1:.1f}", "1.0"]


def test_the_figures_are_in_words() -> None:
    made = lag_chart("member-2", (3, 12, 4)).markup
    assert "<figcaption>member-2: 4 MB now, at most 12 MB in 3 min</figcaption>" in made
    assert "unknown now" in lag_chart("member-2", (3, None)).markup
