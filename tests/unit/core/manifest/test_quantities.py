"""Durations and sizes: what they mean, what is refused, and that spelling them loses nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queenright.core.manifest.quantities import (
    format_duration,
    format_size,
    parse_duration,
    parse_size,
    parse_whole_seconds,
)

DURATIONS = {
    30: 30,
    0.5: 0.5,
    "30": 30,
    "30s": 30,
    "10m": 600,
    "1h": 3600,
    "2d": 172800,
    "500ms": 0.5,
    "1m30s": 90,
    "1.5s": 1.5,
    " 5s ": 5,
    "0": 0,
}
SIZES = {
    0: 0,
    1048576: 1048576,
    "2G": 2 << 30,
    "512M": 512 << 20,
    "1MB": 1 << 20,
    "1MiB": 1 << 20,
    "16k": 16 << 10,
    "64 mb": 64 << 20,
    "1.5G": 3 << 29,
    "100b": 100,
    "1T": 1 << 40,
}


@pytest.mark.parametrize("value", DURATIONS)
def test_durations_mean(value: object) -> None:
    assert parse_duration(value) == DURATIONS[value]  # type: ignore[index]


@pytest.mark.parametrize("value", SIZES)
def test_sizes_mean(value: object) -> None:
    assert parse_size(value) == SIZES[value]  # type: ignore[index]


@pytest.mark.parametrize(
    "value",
    [
        *("", "s", "-5s", "5 s", "5x", "5S", "1e3s", "٣s", "5s5", "0.1ms", "1" * 50, "4000d"),
        *(True, None, [], {}, -1, 1e-9, float("inf"), float("nan"), 1e300),
    ],
)
def test_durations_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"[a-z] "):
        parse_duration(value)


@pytest.mark.parametrize(
    "value",
    ["", "G", "-5M", "5X", "5Mi5", "1e3", "1.5", "٣M", "9" * 39, True, None, [], -1, 2.5],
)
def test_sizes_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"[a-z] "):
        parse_size(value)


def test_whole_seconds_refuse_parts() -> None:
    assert parse_whole_seconds("1500ms1s500ms") == 3
    with pytest.raises(ValueError, match="whole seconds"):
        parse_whole_seconds("1.5s")


@settings(deadline=None)
@given(st.integers(0, 10 * 365 * 86_400_000))
def test_a_duration_survives_its_spelling(milliseconds: int) -> None:
    seconds = milliseconds / 1000
    assert parse_duration(format_duration(seconds)) == seconds


@settings(deadline=None)
@given(st.integers(0, 1 << 60))
def test_a_size_survives_its_spelling(size: int) -> None:
    assert parse_size(format_size(size)) == size
