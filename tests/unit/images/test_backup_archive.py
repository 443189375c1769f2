"""The WAL that a base backup needs of the archive: what is missing of it, and what is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from images.member.queenright_member.backup.archive import Missing, missing_wal
from images.member.queenright_member.backup.barman import Barman
from images.member.queenright_member.backup.base_backup import backups
from images.member.queenright_member.backup.repository import read_repository
from tests.support.barman import URL, archive, barman
from tests.unit.images.listed_backup import BACKUP, BEGIN, END, NEXT, listing


def lacking(tmp_path: Path, *archived: str, begin: str = BEGIN, **history: str) -> Missing | None:
    """The WAL that the backup needs of an archive with these files; ``history`` are the timelines'
    files, by their names."""
    archive(tmp_path, *archived)
    files = "".join(
        f"*/{name[1:]}.history) printf '{text}' > $last;; " for name, text in history.items()
    )
    absent = 'echo "WAL file $(basename $last) for server 7 does not exist" >&2; exit 1'
    script = f"for word; do last=$word; done; case $last in {files} *) {absent};; esac"
    programs = barman(tmp_path, "wal-restore", script)
    repository = read_repository(URL, tmp_path / "secrets")
    (backup,) = backups(Barman(repository, "7", listing(tmp_path, BACKUP | {"begin_wal": begin})))
    return missing_wal(Barman(repository, "7", programs), backup)


def later(timeline: int, name: str) -> str:
    return f"{timeline:08X}{name[8:]}"


@pytest.mark.parametrize(
    ("archived", "missing"),
    [
        ([BEGIN, END], None),
        ([f"{BEGIN}.gz", f"{END}.bz2"], None),
        ([BEGIN], Missing(END, is_lost=False)),
        ([END], Missing(BEGIN, is_lost=True)),
        ([BEGIN, f"{END}.partial"], Missing(END, is_lost=False)),
        ([BEGIN, f"{END}.partial.gz"], Missing(END, is_lost=False)),
        ([BEGIN, f"{END}.00000028.backup"], Missing(END, is_lost=False)),
        ([BEGIN, NEXT], Missing(END, is_lost=True)),
        ([BEGIN, f"{NEXT}.partial"], Missing(END, is_lost=True)),
        ([BEGIN, "000000020000000100000000"], Missing(END, is_lost=True)),
        ([later(1, BEGIN), later(1, END)], Missing(BEGIN, is_lost=False)),
        ([], Missing(BEGIN, is_lost=False)),
    ],
)
def test_a_backup_needs_each_wal_file_between_its_begin_and_its_end(
    tmp_path: Path, secrets: Path, archived: list[str], missing: Missing | None
) -> None:
    assert lacking(tmp_path, *archived) == missing


LEFT_BEHIND_IT = "1\\t0/3000060\\tno reason\\n2\\t0/4000138\\tno reason\\n"


@pytest.mark.parametrize(
    ("history", "archived", "missing"),
    [
        (LEFT_BEHIND_IT, [BEGIN, f"{END}.partial", later(3, END)], None),
        (LEFT_BEHIND_IT, [BEGIN, f"{END}.partial", later(4, END)], Missing(END, is_lost=False)),
        (LEFT_BEHIND_IT, [BEGIN, later(3, NEXT)], Missing(END, is_lost=True)),
        ("2\\t0/4000137\\tno reason\\n", [BEGIN, later(3, END)], Missing(END, is_lost=False)),
        ("1\\t0/9000000\\tno reason\\n", [BEGIN, later(3, END)], Missing(END, is_lost=False)),
    ],
    ids=["next", "no-history", "gap", "left-before", "another-branch"],
)
def test_the_next_timeline_has_the_end_if_it_left_the_backups_own_behind_it(
    tmp_path: Path, secrets: Path, history: str, archived: list[str], missing: Missing | None
) -> None:
    """After a switchover the former leader's file is archived in part, and the new one's whole."""
    assert lacking(tmp_path, *archived, t00000003=history) == missing


@pytest.mark.parametrize(
    ("archived", "missing"),
    [
        ([later(1, BEGIN), END], Missing(BEGIN, is_lost=True)),
        ([later(1, BEGIN), later(1, END), BEGIN], Missing(END, is_lost=False)),
        ([later(1, BEGIN), BEGIN, END], None),
    ],
)
def test_what_a_former_leader_wrote_behind_the_next_ones_beginning_is_of_no_use(
    tmp_path: Path, secrets: Path, archived: list[str], missing: Missing | None
) -> None:
    left = "1\\t0/3000060\\tno reason\\n"
    found = lacking(tmp_path, *archived, begin=later(1, BEGIN), t00000002=left)
    assert found == missing
