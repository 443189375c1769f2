"""A stand-in for Barman's commands, and the repository that the tests describe to them.

The Python beside them, which lists places and asks the leader for another WAL file, has one, too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

URL = {"BACKUP_URL": "s3://backups/some/main"}
ARCHIVED_AT = "2025-11-22T18:02:00+00:00"


def barman(tmp_path: Path, command: str, script: str) -> Path:
    """Write a stand-in for one of Barman's commands, which notes its arguments and variables."""
    programs = tmp_path / "programs"
    programs.mkdir(exist_ok=True)
    file = programs / f"barman-cloud-{command}"
    noted = f'printf "%s\\n" "$@" > {tmp_path}/arguments; env > {tmp_path}/environment'
    file.write_text(f"#!/bin/sh\n{noted}\n{script}\n")
    file.chmod(0o755)
    return programs


NO_HISTORY = (
    "echo '2026-01-01 00:00:00,000 [1] ERROR: WAL file 00000002.history for server 7 does not "
    "exist' >&2; exit 1"
)
"""The script of an archive that has no file of a timeline's history."""

_PYTHON = """#!{python}
import json, os, sys
from pathlib import Path
home, program, words = Path({home!r}), sys.argv[3], sys.argv[4:]
if "runpy" in program:
    os.execv(words[0], words)
if "psycopg2" in program:
    with (home / "switched").open("a") as file:
        file.write(" ".join(words) + chr(10))
    for name, at in json.loads({later!r}).items():
        (home / "archived" / name).write_text(at)
    sys.exit(0)
files = {{path.name: path.read_text() for path in (home / "archived").iterdir()}}
for place in words[2:]:
    if place.endswith("/wals/"):
        found = sorted({{place + name[:16] + "/" for name in files if "history" not in name}})
        found += [place + name + " " + at for name, at in files.items() if "history" in name]
    else:
        folder = place.split("/")[-2]
        found = [place + name + " " + at for name, at in files.items() if name[:16] == folder]
    sys.stdout.writelines(line + chr(10) for line in found)
"""


def archive(tmp_path: Path, *names: str, later: Mapping[str, str] | None = None) -> Path:
    """Write a stand-in for Barman's Python, whose archive has these files; ``later`` are those that
    it gets, with their moments, when the leader is asked for another WAL file."""
    programs = tmp_path / "programs"
    for directory in (programs, tmp_path / "archived"):
        directory.mkdir(exist_ok=True)
    for name in names:
        (tmp_path / "archived" / name).write_text(ARCHIVED_AT)
    file = programs / "python"
    text = _PYTHON.format(
        python=sys.executable, home=str(tmp_path), later=json.dumps(dict(later or {}))
    )
    file.write_text(text)
    file.chmod(0o755)
    return programs


def stored(number: int, timeline: int, lsn: str) -> dict[str, Any]:
    """A base backup that ended on a timeline at a position, in the WAL file that it began in."""
    file = f"{timeline:08X}00000000{int(lsn.partition('/')[2], 16) >> 24:08X}"
    return {
        "backup_id": f"20251122T{number:02}0000",
        "status": "DONE",
        "begin_time_iso": f"2025-11-22T{number:02}:00:00+00:00",
        "end_time_iso": f"2025-11-22T{number:02}:01:00+00:00",
        "timeline": timeline,
        "begin_wal": file,
        "end_wal": file,
        "end_xlog": lsn,
        "size": 42,
        "error": None,
    }
