"""The numbers of timelines that a promoted member may not take, as Patroni's history has them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from images.member.queenright_member import used_timelines
from images.member.queenright_member.used_timelines import (
    MOST,
    PROGRAM,
    TEXT,
    ask,
    forget,
    main,
    newest_in,
    skip,
    skipping,
)
from tests.support.ports import free_port

LINE = [4, 100, "no recovery target specified"]


@pytest.mark.parametrize(
    ("present", "newest", "made"),
    [
        ([], 0, []),
        ([], 1, []),
        ([], 2, [2]),
        ([2, 3], 3, []),
        ([2, 3], 5, [4, 5]),
        ([3], 3, []),  # an older file that is missing is an ancestor, and stays so
        ([2, 9], 5, []),
    ],
)
def test_a_number_that_the_history_has_and_the_member_has_not_is_taken(
    tmp_path: Path, present: list[int], newest: int, made: list[int]
) -> None:
    for number in present:
        (tmp_path / f"{number:08X}.history").write_text("own")
    (tmp_path / "000000010000000000000001").touch()
    (tmp_path / "0000000F.history.tmp").touch()
    assert skip(tmp_path, newest) == made
    assert skip(tmp_path, newest) == []
    for number in present:
        assert (tmp_path / f"{number:08X}.history").read_text() == "own"
    for number in made:
        text = (tmp_path / f"{number:08X}.history").read_text()
        assert all(line.startswith("#") for line in text.splitlines())


@pytest.mark.parametrize(
    ("texts", "forgotten"),
    [
        ({}, []),
        ({2: "own"}, []),
        ({2: TEXT, 3: TEXT}, [2, 3]),
        ({2: "own", 3: TEXT, 4: ""}, [3, 4]),
        ({2: TEXT, 3: TEXT[:9]}, [2, 3]),
        ({2: TEXT, 3: TEXT, 4: "own"}, []),  # it was promoted, and has used none of them
        ({2: "own", 3: TEXT, 4: "own", 5: TEXT}, [5]),
        ({2: TEXT + "1\t0/3000000\tby hand\n"}, []),
    ],
)
def test_only_numbers_that_no_promotion_came_after_are_forgotten(
    tmp_path: Path, texts: dict[int, str], forgotten: list[int]
) -> None:
    for number, text in texts.items():
        (tmp_path / f"{number:08X}.history").write_text(text)
    (tmp_path / "000000010000000000000001").touch()
    (tmp_path / "0000000F.history.tmp").touch()
    assert forget(tmp_path) == forgotten
    assert forget(tmp_path) == []
    kept = {int(path.stem, 16) for path in tmp_path.glob("*.history")}
    assert kept == texts.keys() - set(forgotten)
    for number in kept:
        assert (tmp_path / f"{number:08X}.history").read_text() == texts[number]


def test_a_damaged_history_makes_no_files(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the history ends with timeline"):
        skip(tmp_path, MOST + 3)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("history", "newest"),
    [([], 0), (None, 0), ({}, 0), ([[1, 5, "why"], LINE], 5), ([LINE, [2, 1, "why"]], 5)],
)
def test_the_newest_timeline_follows_the_last_that_ended(history: object, newest: int) -> None:
    assert newest_in(history) == newest


def test_nothing_that_fails_keeps_a_member_from_leading(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(used_timelines.sys, "argv", ["skip-used-timelines", str(free_port())])
    main()
    assert "WARNING: used timelines are not skipped" in capsys.readouterr().err
    with pytest.raises(OSError, match="refused"):
        ask(free_port())


def test_patroni_runs_it_before_a_promotion() -> None:
    text = "postgresql: {data_dir: /data}\nname: member-1\n"
    assert yaml.safe_load(skipping(text))["postgresql"]["pre_promote"] == PROGRAM
    own = "postgresql: {pre_promote: /bin/true}\n"
    assert skipping(own) == own
    assert skipping("name: member-1\n") == "name: member-1\n"
    assert (Path("images/member/bin") / Path(PROGRAM).name).stat().st_mode & 0o111
