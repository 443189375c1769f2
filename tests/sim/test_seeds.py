"""The turns of a sweep: a part of the cases in each run, and all of them in the end."""

from __future__ import annotations

import pytest

from tests.sim import seeds

CASES = range(11)


def test_as_many_commits_as_one_in_take_every_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(seeds.HISTORIES, "320")
    taken: list[int] = []
    for seed in range(1000, 1003):
        monkeypatch.setattr(seeds, "first_seed", lambda seed=seed: seed)
        part = seeds.turns(CASES, 3, "kills")
        assert 3 <= len(part) <= 4
        taken += part
    assert sorted(taken) == [*CASES]


def test_a_complete_run_leaves_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(seeds.HISTORIES, str(seeds.ALL_FROM))
    assert seeds.turns(CASES, 3, "kills") == [*CASES]
    assert all(seeds.has_turn(f"test {number}", 5) for number in range(20))


def test_a_name_has_its_turn_in_one_of_so_many_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(seeds.HISTORIES, "320")
    found = []
    for seed in range(5):
        monkeypatch.setattr(seeds, "first_seed", lambda seed=seed: seed)
        found.append(seeds.has_turn("one test", 5))
    assert sorted(found) == [False] * 4 + [True]
