"""A base backup, as stand-ins for Barman list it, and the WAL files that it needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tests.support.barman import barman

BEGIN, END, NEXT = (f"00000002000000000000000{number}" for number in (3, 4, 5))

BACKUP = {
    "backup_id": "20251122T180000",
    "status": "DONE",
    "begin_time": "Sat Nov 22 18:00:00 2025",
    "begin_time_iso": "2025-11-22T19:00:00.250000+01:00",
    "end_time": "Sat Nov 22 18:01:00 2025",
    "end_time_iso": "2025-11-22T18:01:00+00:00",
    "timeline": 2,
    "begin_wal": "000000020000000000000003",
    "end_wal": "000000020000000000000004",
    "end_xlog": "0/4000138",
    "size": 42,
    "error": None,
    "other": "left out",
}


def listing(tmp_path: Path, *backups: Mapping[str, object]) -> Path:
    """Barman with these backups before and after, whose commands note that they were run."""
    barman(tmp_path, "backup", f"touch {tmp_path}/made")
    delete = f'printf "%s\n" "$@" > {tmp_path}/deleted'
    barman(tmp_path, "backup-delete", delete)
    return barman(tmp_path, "backup-list", f"echo '{json.dumps({'backups_list': [*backups]})}'")
