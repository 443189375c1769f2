"""Looking without touching: the files, and the swarm as it is, for every command that only shows.

Decides which documents are meant, and turns whatever keeps a person from looking into one line
with what would be right. Invariant: nothing here writes, neither to the swarm nor to the disk.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import anyio
from docker.errors import DockerException

from queenright.adapters.last_good_files import FILE_NAME as LAST_GOOD_NAME
from queenright.adapters.last_good_files import LastGoodFiles
from queenright.adapters.logging import configure_logging
from queenright.adapters.manifest_files import ManifestFiles
from queenright.cli.environment import settings_from_environment
from queenright.cli.exits import UNREACHABLE, USAGE, CommandError
from queenright.core.observed import SwarmState, Unknown
from queenright.core.plan import Hold
from queenright.core.preflight import swarm_or_hold
from queenright.core.spec.loading import load
from queenright.core.spec.problems import Document, Problem
from queenright.engine.survey import Survey, survey
from queenright.settings import Settings
from queenright.wiring import open_ports

STDIN = Path("-")


@dataclass(frozen=True, slots=True)
class Written:
    """What the files say. Where they are not valid, ``documents`` is the last good state, saved at
    ``in_force_since``, or nothing when none is kept here."""

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...] = ()
    in_force_since: datetime | None = None

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def is_valid(self) -> bool:
        return not self.errors


def settings_for_looking(path: Path | None = None) -> Settings:
    """The environment's settings, on ``path`` where one is given; logs go to standard error, from
    warning level on."""
    settings = settings_from_environment()
    configure_logging(settings.log_format, "warning", sys.stderr)
    return replace(settings, manifests=path) if path else settings


def read_files(paths: Sequence[Path]) -> Written:
    """The documents of some files and directories; ``-`` is standard input. Raises CommandError
    for a path that is not there."""
    texts: dict[str, str] = {}
    problems: list[Problem] = []
    for path in paths:
        if path == STDIN:
            texts["<stdin>"] = sys.stdin.read()
            continue
        refuse_missing(path)
        reading = ManifestFiles(path).read()
        texts |= reading.files
        problems += reading.problems
    loaded = load(texts)
    found = tuple(sorted({*problems, *loaded.problems}))
    return Written(loaded.documents, found)


def refuse_missing(path: Path) -> None:
    try:
        is_there = path.exists()
    except OSError:
        return  # Reading it will tell why it can't be read.
    if not is_there:
        raise CommandError(
            f"{path}: there is no such file or directory; give the path of your manifests, or set "
            "QUEENRIGHT_MANIFESTS",
            USAGE,
        )


def read_desired(settings: Settings, path: Path | None) -> Written:
    """What the operator would go by: the files, or the last good state while they are not valid."""
    try:
        written = read_files([settings.manifests])
    except CommandError as error:
        if path is not None:
            raise
        gone = Problem(str(settings.manifests), 1, "file", error.message.partition(": ")[2])
        written = Written((), (gone,))
    if written.is_valid:
        return written
    if path is not None or settings.state_dir is None:
        return replace(written, documents=())
    kept = load(LastGoodFiles(settings.state_dir).load())
    if not kept.documents or kept.errors:
        return replace(written, documents=())
    saved_at = (settings.state_dir / LAST_GOOD_NAME).stat().st_mtime
    return Written(kept.documents, written.problems, datetime.fromtimestamp(saved_at, UTC))


def take_look(settings: Settings, documents: Sequence[Document]) -> Survey:
    """One survey of the swarm, on ``documents``. Raises CommandError when there is no client."""

    async def go() -> Survey:
        async with open_ports(settings, audit=False) as ports:
            return await survey(ports, documents)

    try:
        return anyio.run(go)
    except DockerException as error:
        raise unreachable(str(error), settings) from error


def seen_swarm(survey: Survey, settings: Settings) -> SwarmState:
    """The swarm, or the CommandError that says why it can't be worked with."""
    swarm = swarm_or_hold(survey.observed)
    if not isinstance(swarm, Hold):
        return swarm
    if isinstance(survey.observed.swarm, Unknown):
        raise unreachable(survey.observed.swarm.why, settings)
    raise CommandError(swarm.reason, UNREACHABLE)


def unreachable(why: str, settings: Settings) -> CommandError:
    host = settings.docker.host
    hint = socket_hint(host) or f"{why} (DOCKER_HOST is {host}; it names a swarm manager's engine)"
    return CommandError(hint, UNREACHABLE)


def socket_hint(host: str) -> str:
    """What is wrong with a local socket, where a look at it tells."""
    scheme, _, name = host.partition("://")
    if scheme != "unix":
        return ""
    path = Path("/" + name.lstrip("/"))
    try:
        is_socket = stat.S_ISSOCK(path.stat().st_mode)
    except PermissionError:
        is_socket = True
    except OSError:
        return (
            f"{path}: there is no Docker socket; start Docker's engine here, or set DOCKER_HOST to "
            "the engine of a swarm manager"
        )
    if not is_socket:
        return f"{path} is not a socket; set DOCKER_HOST to the engine of a swarm manager"
    if not os.access(path, os.R_OK | os.W_OK):
        return (
            f"{path}: permission denied; run as root, or as a member of the group that owns the "
            "socket (docker)"
        )
    return ""


def documents_summary(documents: Sequence[Document]) -> Mapping[str, list[str]]:
    """Names by kind."""
    found: dict[str, list[str]] = {}
    for document in documents:
        found.setdefault(document.kind, []).append(document.name)
    return found
