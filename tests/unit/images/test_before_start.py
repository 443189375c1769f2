"""The data of a member as Patroni has them put in order before each start of its PostgreSQL."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from images.member.queenright_member.before_start import prepare_starts, put_in_order
from images.member.queenright_member.used_timelines import skip


class Started:
    """Has what is used of Patroni's class."""

    def __init__(self, data: Path) -> None:
        self.data_dir, self.runs = str(data), False
        self.given: list[Any] = []

    def is_running(self) -> bool:
        return self.runs

    def start(self, timeout: float | None = None, role: str | None = None) -> bool:
        self.given.append((timeout, role, self.numbers()))
        return True

    def numbers(self) -> list[str]:
        return sorted(path.stem for path in Path(self.data_dir, "pg_wal").iterdir())


@pytest.fixture
def patroni(tmp_path: Path) -> Started:
    kind = type("Same", (Started,), {})
    prepare_starts(kind)
    (tmp_path / "pg_wal").mkdir()
    found = kind(tmp_path)
    assert isinstance(found, Started)
    return found


def test_numbers_of_a_promotion_that_did_not_come_are_forgotten_at_each_start(
    patroni: Started,
) -> None:
    for _ in range(2):
        skip(Path(patroni.data_dir, "pg_wal"), 3)
        assert patroni.start(5.0, role="replica") is True
    assert patroni.given == [(5.0, "replica", [])] * 2


def test_nothing_is_done_while_postgresql_runs(patroni: Started) -> None:
    """It may be about to be promoted."""
    skip(Path(patroni.data_dir, "pg_wal"), 2)
    patroni.runs = True
    assert patroni.start()
    assert patroni.given == [(None, None, ["00000002"])]


def test_what_fails_keeps_no_postgresql_from_starting(patroni: Started, tmp_path: Path) -> None:
    (tmp_path / "pg_wal/000000ZZ.history").touch()
    put_in_order(tmp_path)
    assert patroni.start()
    put_in_order(tmp_path / "absent")


USES = """
import inspect
from images.member.queenright_member.before_start import make_orderly
from patroni.postgresql import Postgresql
for name in ("start", "is_running", "data_dir"):
    assert name in vars(Postgresql)
before = Postgresql.start
starts = inspect.getsource(before)
assert starts.index("is_running()") < starts.index("PostmasterProcess.start(")
make_orderly()
assert Postgresql.start is not before
"""


def test_patroni_has_all_that_is_used_of_it() -> None:
    """In a process of its own: Patroni sets the umask where it is imported."""
    subprocess.run([sys.executable, "-c", USES], check=True)
