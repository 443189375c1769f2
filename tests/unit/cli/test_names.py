"""Completion by a shell: scripts, words, files, and the names in the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.app_builders import APP
from tests.support.builders import MANIFEST
from tests.support.command_line import start


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_scripts(tmp_path: Path, shell: str) -> None:
    found = start(tmp_path, "completion", shell)
    assert found.returncode == 0
    assert "_QUEENRIGHT_COMPLETE" in found.stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("queenright va", "plain,validate"),
        ("queenright schema post", "plain,PostgresCluster"),
        ("queenright audit ", "plain,verify"),
        ("queenright plan --js", "plain,--json"),
        ("queenright validate clu", "file,clu"),
        ("queenright run clu", "file,clu"),
        ("queenright completion f", "plain,fish"),
    ],
)
def test_completion_offers_words_and_files(tmp_path: Path, typed: str, offered: str) -> None:
    found = start(
        tmp_path,
        _QUEENRIGHT_COMPLETE="bash_complete",
        COMP_WORDS=typed,
        COMP_CWORD=str(len(typed.split(" ")) - 1),
    )
    assert offered in found.stdout.splitlines()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("queenright list ", ["main"]),
        ("queenright list o", []),
        ("queenright switchover --candidate member-", ["member-1", "member-2", "member-3"]),
        ("queenright restart --cluster other ", []),
        ("queenright restart --cluster main member-3", ["member-3"]),
        ("queenright status --cluster n", ["notes"]),
        ("queenright list n", []),
        ("queenright render vip --node node4", ["node4"]),
    ],
)
def test_completion_offers_the_names_in_the_files(
    tmp_path: Path, typed: str, offered: list[str]
) -> None:
    directory = tmp_path / "manifests"
    directory.mkdir()
    (directory / "cluster.yaml").write_text(MANIFEST)
    (directory / "notes.yaml").write_text(APP)
    assert completed(tmp_path, typed) == [f"plain,{name}" for name in offered]


def test_completion_without_files_offers_no_name_and_no_error(tmp_path: Path) -> None:
    assert completed(tmp_path, "queenright list ") == []
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "cluster.yaml").write_text("kind: [")
    assert completed(tmp_path, "queenright list ") == []


def completed(tmp_path: Path, typed: str) -> list[str]:
    """Return what the program prints for bash, and nothing else."""
    number = str(len(typed.split(" ")) - 1)
    found = start(
        tmp_path, _QUEENRIGHT_COMPLETE="bash_complete", COMP_WORDS=typed, COMP_CWORD=number
    )
    assert found.stderr == ""
    return [line for line in found.stdout.splitlines() if line]
