"""The progress of a copy, out of a container's lines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from queenright.core.observed.base_copies import copy_in

WHOLE = 4_000_000


def line(second: int, done: int, whole: int = WHOLE) -> str:
    return (
        f"2026-01-01T12:{second // 60:02}:{second % 60:02}.123456789Z "
        f"{done:>{len(str(whole))}}/{whole} kB ({100 * done // whole}%), 0/1 tablespace"
    )


def patroni(second: int) -> str:
    moment = f"2026-01-01T12:{second // 60:02}:{second % 60:02}"
    return f"{moment}.5Z {moment} INFO: bootstrap from leader 'member-1' in progress"


def test_the_rate_is_that_of_the_last_minute() -> None:
    slow = [line(second, second * 1_000) for second in range(100)]
    fast = [line(100 + second, 100_000 + second * 30_000) for second in range(100)]
    copy = copy_in("\n".join([*slow, patroni(99), *fast, patroni(199)]))
    assert copy is not None
    assert copy.at == datetime(2026, 1, 1, 12, 3, 19, 123456, UTC)
    assert (copy.done_bytes, copy.whole_bytes) == (3_070_000 * 1024, WHOLE * 1024)
    assert copy.bytes_per_s == pytest.approx(30_000 * 1024)
    assert copy.left == timedelta(seconds=31)
    assert copy.percent == 76


def test_one_line_tells_no_rate() -> None:
    copy = copy_in(line(1, 5_000))
    assert copy is not None
    assert (copy.bytes_per_s, copy.left) == (None, None)


def test_an_earlier_try_does_not_count() -> None:
    first = [line(second, second * 100_000) for second in range(30)]
    again = [line(40 + second, second * 1_000) for second in range(11)]
    copy = copy_in("\n".join([*first, *again]))
    assert copy is not None
    assert (copy.done_bytes, copy.bytes_per_s) == (10_000 * 1024, pytest.approx(1_000 * 1024))


def test_more_than_the_estimate_is_no_time_left() -> None:
    copy = copy_in("\n".join((line(1, WHOLE - 1_000), line(2, WHOLE + 1_000))))
    assert copy is not None
    assert (copy.left, copy.percent) == (timedelta(0), 100)


@pytest.mark.parametrize(
    "text",
    [
        "",
        patroni(1),
        "12/34 kB (35%), 0/1 tablespace",
        "2026-01-01T12:00:00Z 12/34 kB",
        "2026-01-01T12:00:00Z " + "9" * 400 + "/34 kB (1%), 0/1 tablespace",
    ],
)
def test_other_lines_tell_nothing(text: str) -> None:
    assert copy_in(text) is None


def test_an_empty_cluster_is_whole() -> None:
    copy = copy_in("2026-01-01T12:00:00Z 0/0 kB (100%), 1/1 tablespace")
    assert copy is not None
    assert copy.percent == 100
