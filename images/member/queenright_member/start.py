"""Starts a member: checks, writes Patroni's configuration, sets permissions, removes what a restore
that did not end has left, marks data that a copy or a rewind has left half done, sets damaged Raft
files aside, waits for partners, becomes Patroni.

Patroni replaces this process, so that it receives the stop signal itself; as PID 1 it also reaps
orphans. Invariant: the configuration, which holds passwords, is never readable by anyone but its
owner, not even while it is being written. (spec: database-cluster §2.4, §7)
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

import yaml

from .backup import replica
from .backup.cluster_restore import NOTE, unfinished
from .base_copy import mark_interrupted
from .bootstrap_key import give_up_beside
from .fence import any_began, fenced, lift_beside
from .findings import RESTORE_TAG, is_full, look, with_tag
from .inputs import NO_ROOM, OTHERWISE, Paths, StartError, generate
from .partners import await_partners
from .raft_anew import BEGAN_TAG
from .raft_files import RaftFiles
from .raft_repair import RESET, repair
from .raft_status import Node, asking
from .raft_sync import sync_beside
from .raft_wait import address_in, wait
from .rewind import take_note
from .used_timelines import skipping

#: The user that PostgreSQL runs as (spec: database-cluster §2.3).
UID = GID = 999
PATRONI = "/usr/local/bin/patroni-durable"


def main() -> NoReturn:
    """The image's entry point; FATAL lines and a status of `inputs` when it cannot start."""
    paths = Paths.under(Path("/"))
    start(os.environ, paths, [PATRONI, str(paths.config)])


def start(environ: Mapping[str, str], paths: Paths, command: Sequence[str]) -> NoReturn:
    """Prepare everything below `paths`, then become `command`."""
    try:
        prepare(environ, paths)
        restores_again = start_again(paths)
        if take_note(paths.data, paths.raft):
            print("WARNING: a rewind did not end; the data are copied anew", file=sys.stderr)
        if mark_interrupted(paths.data, paths.raft):
            print("WARNING: a copy did not end; it begins again", file=sys.stderr)
        say_finding(paths)
        node = node_of(environ, paths)
        files = RaftFiles.of(paths.raft, node.own)
        waiting = partial(wait, files, node, paths.config, paths.data)
        has_begun = partial(any_began, node.partners, address_in(paths.config)[1])
        asked = environ.get(RESET, "").strip()
        repair(files, node, asked, wait=waiting, has_begun=has_begun)
        await_partners(node.own, node.partners, paths.raft)
    except StartError as error:
        for reason in error.reasons:
            print(f"FATAL: {reason}", file=sys.stderr)
        sys.exit(error.status)
    except OSError as error:
        print(f"FATAL: {error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(NO_ROOM if is_full(error) else OTHERWISE)
    try:
        sync_beside(str(paths.raft))
    except OSError as error:
        print(f"WARNING: Raft's files are not synced: {error.strerror}", file=sys.stderr)
    if restores_again:
        give_up_beside(paths.config)
    if files.began.exists():
        number = files.began.read_text(encoding="utf-8")
        text = with_tag(paths.config.read_text(encoding="utf-8"), number, BEGAN_TAG)
        write_private(paths.config, text)
    if files.fence.exists():
        raise_fence(paths.config, files.fence)
    os.execv(command[0], list(command))  # noqa: S606 - replacing this process is the aim


def node_of(environ: Mapping[str, str], paths: Paths) -> Node:
    """This member's Raft node, by its environment and configuration."""
    return Node(
        environ["RAFT_SELF"].strip(),
        json.loads(environ["RAFT_PARTNERS"]),
        asking(raft_password(paths.config)),
        name=environ["NODE_NAME"].strip(),
        has_data=(paths.data / "PG_VERSION").exists(),
    )


def raise_fence(config: Path, fence: Path) -> None:
    """Start Patroni with the tag ``nofailover``, and the process that takes it away."""
    text = config.read_text(encoding="utf-8")
    write_private(config, fenced(text))
    lift_beside(config, text, fence, address_in(config)[1])


def say_finding(paths: Paths) -> None:
    """Have Patroni tell what will keep PostgreSQL from starting, if anything will."""
    try:
        finding = look(paths)
    except OSError as error:
        finding = ""
        print(f"WARNING: {error.filename}: {error.strerror}", file=sys.stderr, flush=True)
    if finding:
        print(f"WARNING: PostgreSQL will not start: {finding}", file=sys.stderr, flush=True)
        write_private(paths.config, with_tag(paths.config.read_text(encoding="utf-8"), finding))


def start_again(paths: Paths) -> bool:
    """Remove what a restore that did not end has left, and have Patroni tell why it did not; False
    where there was none."""
    if replica.unfinished(paths.data):
        print("WARNING: the restore of a replica did not end; it begins again", file=sys.stderr)
    why = unfinished(paths.data, paths.raft / NOTE.name)
    if why:
        print(f"WARNING: the restore begins again: {why}", file=sys.stderr, flush=True)
        text = paths.config.read_text(encoding="utf-8")
        write_private(paths.config, with_tag(text, why, RESTORE_TAG))
    return bool(why)


def raft_password(config: Path) -> str | None:
    """Raft's password in the generated configuration; None where it has none."""
    found = yaml.safe_load(config.read_text(encoding="utf-8")) or {}
    raft = found.get("raft") if isinstance(found, dict) else None
    password = raft.get("password") if isinstance(raft, dict) else None
    return None if password is None else str(password)


def prepare(environ: Mapping[str, str], paths: Paths) -> None:
    """Directories with mode 0700 and the configuration with 0600; StartError with the reasons."""
    if os.geteuid() == 0:
        _leave_root(paths)
    text = generate(environ, paths)
    problems = [problem for path in (paths.data, paths.raft) if (problem := own_directory(path))]
    if problems:
        raise StartError(*problems)
    write_private(paths.config, skipping(text))


def own_directory(path: Path) -> str | None:
    """Make `path` a directory of ours with mode 0700; the reason when that is impossible."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
    except PermissionError:
        return (
            f"directory {path} belongs to uid {_owner(path)}, not to uid {os.geteuid()}: "
            f"hand the volume over (chown {UID}:{GID}), or start the container once as root"
        )
    except OSError as error:
        if is_full(error):
            raise
        return f"directory {path} cannot be prepared: {error.strerror}"
    return None


def write_private(path: Path, text: str) -> None:
    """Write `text` to a new file that nobody else could ever open."""
    try:
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        status = NO_ROOM if is_full(error) else OTHERWISE
        reason = f"configuration {path} cannot be written: {error.strerror}"
        raise StartError(reason, status=status) from None


def _leave_root(paths: Paths) -> None:
    """A volume may arrive owned by root: hand it over, then go on as the unprivileged user."""
    for path in (paths.data, paths.raft):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chown(path, UID, GID)
    os.setgroups([])
    os.setgid(GID)
    os.setuid(UID)


def _owner(path: Path) -> int:
    while not path.exists():
        path = path.parent
    return path.stat().st_uid
