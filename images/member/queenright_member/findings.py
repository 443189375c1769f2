"""Finds what will keep a member's PostgreSQL from starting, and has Patroni say it in a tag.

Patroni starts all the same: its Raft node votes, and whoever asks ``/patroni`` hears the cause
beside the state. Each start of the container looks anew. Invariant: the member's data is read, and
nothing in it is changed; beside it one small file is written and removed at once.
"""

import contextlib
import errno
import os
import struct
import subprocess
from pathlib import Path

import yaml

from .base_copy import INTERRUPTED
from .inputs import Paths
from .rewind import TORN

TAG = "queenright_finding"
RESTORE_TAG = "queenright_restore"
"""The cause for which the last try to restore the cluster failed."""
NO_ROOM = "no-room"
NO_VERSION_FILE = "no-version-file"
NO_CONTROL_FILE = "no-control-file"
DAMAGED_CONTROL_FILE = "damaged-control-file"
INTERRUPTED_COPY = "interrupted-copy"

PROBE = ".queenright-room"
PROBE_BYTES = 65_536
"""Less than PostgreSQL or Patroni writes at any start."""
IDENTIFIER = struct.Struct("<Q")
WRONG_CHECKSUM = "crc checksum does not match"
CONTROL_S = 30.0
LEAST_DIGITS = 18
"""Patroni takes a shorter system identifier for an invalid one, and waits."""


def look(paths: Paths) -> str:
    """The first finding; empty where there is none."""
    if any(has_no_room(path) for path in (paths.data, paths.raft)):
        return NO_ROOM
    return damage_of(paths.data)


def has_no_room(directory: Path) -> bool:
    """Return True if the file system of a directory takes no small file more.

    An empty one stays empty, as PostgreSQL's has to be for a first copy."""
    if not any(directory.iterdir()):
        found = os.statvfs(directory)
        return found.f_bavail * found.f_frsize < PROBE_BYTES
    probe = directory / PROBE
    try:
        with probe.open("wb") as file:
            file.write(bytes(PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return is_full(error)
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()
    return False


def is_full(error: OSError) -> bool:
    """Return True if the disk, or the quota on it, has no room left."""
    return error.errno in {errno.ENOSPC, errno.EDQUOT}


def damage_of(data: Path) -> str:
    """The damage for which Patroni would wait and start no PostgreSQL; empty where there is none,
    or no data at all."""
    if not any(data.iterdir()):
        return ""
    control = data / "global/pg_control"
    if not control.exists():
        is_begun = any((data / name).exists() for name in ("backup_label", INTERRUPTED, TORN))
        return INTERRUPTED_COPY if is_begun else NO_CONTROL_FILE
    if not (data / "PG_VERSION").exists():
        return NO_VERSION_FILE
    try:
        found = control.read_bytes()[: IDENTIFIER.size]
    except OSError:
        return DAMAGED_CONTROL_FILE
    is_whole = len(found) == IDENTIFIER.size
    if not is_whole or len(str(IDENTIFIER.unpack(found)[0])) < LEAST_DIGITS:
        return DAMAGED_CONTROL_FILE
    return DAMAGED_CONTROL_FILE if is_refused(data) else ""


def is_refused(data: Path) -> bool:
    """Return True if PostgreSQL's own program can't read the control file, or finds its checksum
    wrong: PostgreSQL would not start, and others would take the fields for true. False where that
    program is missing or hangs, or is of another version than the data, of which it can't judge."""
    read = say("pg_controldata", str(data))
    if read is None or (read.returncode == 0 and WRONG_CHECKSUM not in read.stdout.lower()):
        return False
    version = say("pg_controldata", "--version")
    words = version.stdout.split() if version is not None else []
    of_data = (data / "PG_VERSION").read_text(encoding="utf-8", errors="replace").strip()
    return any(word.partition(".")[0] == of_data for word in words)


def say(*command: str) -> subprocess.CompletedProcess[str] | None:
    """Return both channels of a program; None where it can't be run or hangs."""
    try:
        return subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=CONTROL_S,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def with_tag(text: str, finding: str, tag: str = TAG) -> str:
    """Patroni's configuration with the finding among its tags."""
    configuration = yaml.safe_load(text)
    if not isinstance(configuration, dict):
        return text  # Patroni says what is wrong with it
    tags = configuration.get("tags")
    configuration["tags"] = {**(tags if isinstance(tags, dict) else {}), tag: finding}
    return str(yaml.safe_dump(configuration, sort_keys=False))
