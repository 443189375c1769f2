"""WAL positions are written as PostgreSQL writes them."""

import pytest

from queenright.core.postgres.wal import written


@pytest.mark.parametrize(
    ("location", "text"),
    [
        (0, "0/0"),
        (0x3000148, "0/3000148"),
        ((1 << 32) + 0xAB, "1/AB"),
        (0xF_FFFFFFFF, "F/FFFFFFFF"),
    ],
)
def test_a_position_is_written_in_two_halves(location: int, text: str) -> None:
    assert written(location) == text
