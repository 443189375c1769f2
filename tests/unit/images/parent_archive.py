"""The archive of the cluster from which another one begins, as stand-ins for Barman show it."""

from __future__ import annotations

import json
from pathlib import Path

from images.member.queenright_member.backup import cluster_restore
from tests.support.barman import NO_HISTORY, barman

SYSTEM = "7000000000000000001"
ARCHIVED_AT = "2025-11-22T10:00:00+00:00"
LAST_FILE = f"some/main/{SYSTEM}/wals/0000000200000000/00000002000000000000000B.gz {ARCHIVED_AT}"
RESTORE = {"RESTORE_URL": "s3://backups/some/main", "RESTORE_ENDPOINT": "https://s3.example"}


def stored(number: int, status: str = "DONE") -> dict[str, object]:
    """A backup of one hour of the day, which took a minute and two segments."""
    return {
        "backup_id": f"20251122T{number:02}0000",
        "status": status,
        "begin_time_iso": f"2025-11-22T{number:02}:00:00+00:00",
        "end_time_iso": f"2025-11-22T{number:02}:01:00.600000+00:00",
        "timeline": 2,
        "begin_wal": f"0000000200000000000000{number:02X}",
        "end_wal": f"0000000200000000000000{number + 1:02X}",
        "size": 42,
        "error": None,
    }


def parent_places(tmp_path: Path) -> cluster_restore.Places:
    """An empty data directory, the parent's credentials, and a parent with three backups."""
    for name in ("empty", "secrets", "raft"):
        (tmp_path / name).mkdir()
    (tmp_path / "secrets/restore_credentials").write_text("[default]\n")
    (tmp_path / "secrets/backup_credentials").write_text("[default]\n")
    found = {"backups_list": [stored(2), stored(4), stored(6, "FAILED"), stored(8)]}
    barman(tmp_path, "backup-list", f"echo '{json.dumps(found)}'")
    laid_out = (
        "for word; do last=$word; done; echo $2 > $last/PG_VERSION; touch $last/standby.signal"
    )
    barman(tmp_path, "wal-restore", NO_HISTORY)
    programs = barman(tmp_path, "restore", laid_out)
    listing(tmp_path, f"some/main/{SYSTEM}/")
    return cluster_restore.Places(
        tmp_path / "empty", tmp_path / "secrets", tmp_path / "raft/restore", programs, 0.0
    )


def listing(tmp_path: Path, *folders: str, script: str = "") -> None:
    """Write a stand-in for the Python that lists folders, with those of the parent's place alone;
    of any other it knows none."""
    found = "\n".join(f"echo {folder}" for folder in folders)
    of_system = f"some/main/{SYSTEM}/wals/"
    wals = f"{of_system}) echo {of_system}0000000200000000/;; {of_system}*) echo {LAST_FILE};;"
    file = tmp_path / "programs/python"
    file.write_text(f'#!/bin/sh\n{script}\ncase "$6" in some/main/) {found or ":"};; {wals} esac\n')
    file.chmod(0o755)
