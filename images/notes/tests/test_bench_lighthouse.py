"""The bench's Lighthouse section takes a score from each run, or says which run has none."""

import pytest

from bench.lighthouse import score_of
from tests.judges.lighthouse import Run


def _run(score: int | None, error: str = "") -> Run:
    return Run("share", "/s/1", "12", error, {"performance": score}, {}, 0)


def test_a_score_is_taken_as_it_is() -> None:
    assert score_of(_run(77), 1) == 77
    assert score_of(_run(0), 1) == 0


def test_a_run_without_a_score_is_an_error_that_names_it() -> None:
    with pytest.raises(RuntimeError, match=r"share, run 2: no score \(NO_FCP\)"):
        score_of(_run(None, "NO_FCP"), 2)
    with pytest.raises(RuntimeError, match=r"share, run 3: no score \(no reason given\)"):
        score_of(_run(None), 3)
