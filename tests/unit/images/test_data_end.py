"""The end of a member's data as a person reads it, by a container beside the member's volume."""

from __future__ import annotations

from pathlib import Path

import pytest

from images.member.queenright_member import data_end
from images.member.queenright_member.data_end import DataEnd, UnknownEndError
from images.member.queenright_member.inputs import Paths
from queenright.core.kinds.postgres_cluster.losses.data_ends import DataEnd as ReadEnd
from queenright.core.kinds.postgres_cluster.losses.data_ends import read_end


def printed(root: Path, capsys: pytest.CaptureFixture[str]) -> str:
    data_end.main(root)
    return capsys.readouterr().out


def test_a_volume_without_data_is_said_to_have_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Paths.under(tmp_path).data.mkdir(parents=True)
    assert printed(tmp_path, capsys) == "no data\n"


def test_the_position_is_written_as_the_operator_and_as_postgresql_write_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    def end_of(data: Path) -> DataEnd:
        asked.append(data)
        return DataEnd("7123", 2, (1 << 32) + 0x3000148, "a digest")

    monkeypatch.setattr(data_end, "end_of", end_of)
    said = printed(tmp_path, capsys)
    assert said == "timeline 2, WAL position 4345299272 (1/3000148), database 7123\n"
    assert asked == [tmp_path / "home/postgres/pgdata"]


def test_what_is_not_known_is_no_position(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def end_of(data: Path) -> DataEnd:
        raise UnknownEndError("its data directory is damaged (no-control-file)")

    monkeypatch.setattr(data_end, "end_of", end_of)
    with pytest.raises(SystemExit) as ended:
        printed(tmp_path, capsys)
    assert ended.value.code == 1
    assert capsys.readouterr().out == (
        "not known: its data directory is damaged (no-control-file)\n"
    )


def test_a_volume_that_is_not_mounted_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        printed(tmp_path, capsys)
    assert capsys.readouterr().out.startswith("not known: ")


def test_for_a_program_the_end_is_one_line_of_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_end, "end_of", lambda _: DataEnd("7123", 2, 5, "ab12"))
    data_end.main(tmp_path, ["--json"])
    said = capsys.readouterr().out
    assert said == '{"system": "7123", "timeline": 2, "location": 5, "history": "ab12"}\n'
    assert read_end(said) == ReadEnd(2, 5, "7123", "ab12")


def test_for_a_program_too_what_is_not_known_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        data_end.main(tmp_path, ["--json"])
    assert ended.value.code == 1
    assert capsys.readouterr().out.startswith("not known: ")


def test_an_argument_that_it_does_not_know_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="usage"):
        data_end.main(tmp_path, ["--jsn"])
