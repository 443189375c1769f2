"""Read the files and the swarm, for every command that only shows something.

Finds the documents, and turns every obstacle into one line with the way to remove it. Invariant:
nothing here writes, neither to the swarm nor to the disk.
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

from queenright.adapters.docker.lease import DockerLease
from queenright.adapters.files.last_known_good import FILE_NAME as LAST_GOOD_NAME
from queenright.adapters.files.last_known_good import LastGoodFiles
from queenright.adapters.files.manifests import ManifestFiles
from queenright.adapters.logging import configure_logging
from queenright.cli.environment import settings_from_environment
from queenright.cli.exit_codes import UNREACHABLE, USAGE, CommandError
from queenright.core.kinds.load import load
from queenright.core.manifest.document import Document
from queenright.core.manifest.problems import Problem
from queenright.core.observed import Observed, SwarmState, Unknown
from queenright.core.planning.lease import StoredLease
from queenright.core.planning.plan import Hold
from queenright.core.planning.preflight import swarm_or_hold
from queenright.engine.base_copies import with_copies
from queenright.engine.live_look import live_look
from queenright.engine.planning import PlannedPass, observe_and_plan
from queenright.ports.errors import PortError
from queenright.settings import Settings
from queenright.wiring import open_ports

STDIN = Path("-")


@dataclass(frozen=True, slots=True)
class Written:
    """The documents of the files. If the files are not valid, ``documents`` is the last good state,
    saved at ``in_force_since``, or empty if none is kept here."""

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
    """Return the environment's settings, with ``path`` if one is given; logs go to standard error,
    from warning level on."""
    settings = settings_from_environment()
    configure_logging(settings.log_format, "warning", sys.stderr)
    return replace(settings, manifests=path) if path else settings


def read_files(paths: Sequence[Path]) -> Written:
    """Return the documents of files and directories; ``-`` is standard input. Raises CommandError
    for a path that does not exist."""
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
        return  # The read reports why it can't be read.
    if not is_there:
        raise CommandError(
            f"{path}: no such file or directory; give the path of your manifests, or set "
            "QUEENRIGHT_MANIFESTS",
            USAGE,
        )


def read_desired(settings: Settings, path: Path | None) -> Written:
    """Return the documents that the operator would use: the files, or the last good state."""
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


def take_look(settings: Settings, documents: Sequence[Document]) -> PlannedPass:
    """Survey the swarm once for ``documents``. Raises CommandError if there is no client."""

    async def go() -> PlannedPass:
        async with open_ports(settings, audit=False) as ports:
            found = await observe_and_plan(ports, documents)
            return replace(found, observed=await with_copies(ports, found.observed))

    try:
        return anyio.run(go)
    except DockerException as error:
        raise unreachable(str(error), settings) from error


def take_live_look(settings: Settings) -> Observed:
    """Return the deployed state, whatever the files say. Raises CommandError as ``seen_swarm``."""

    async def go() -> Observed:
        async with open_ports(settings, audit=False) as ports:
            return await with_copies(ports, await live_look(ports))

    try:
        observed = anyio.run(go)
    except DockerException as error:
        raise unreachable(str(error), settings) from error
    seen_swarm(observed, settings)
    return observed


def lease_in_swarm(settings: Settings) -> StoredLease | None:
    """Return the operators' lease; None if there is none, or if it can't be read."""

    async def go() -> StoredLease | None:
        store = DockerLease(settings.docker.environment, settings.docker_timeout_s)
        try:
            return await store.read()
        finally:
            await store.aclose()

    try:
        return anyio.run(go)
    except (DockerException, PortError):
        return None


def seen_swarm(observed: Observed, settings: Settings) -> SwarmState:
    """Return the swarm, or raise the CommandError with the reason why it can't be used."""
    swarm = swarm_or_hold(observed)
    if not isinstance(swarm, Hold):
        return swarm
    if isinstance(observed.swarm, Unknown):
        raise unreachable(observed.swarm.why, settings)
    raise CommandError(swarm.reason, UNREACHABLE)


def unreachable(why: str, settings: Settings) -> CommandError:
    host = settings.docker.host
    hint = socket_hint(host) or f"{why} (DOCKER_HOST is {host}); set it to a swarm manager's engine"
    return CommandError(hint, UNREACHABLE)


def socket_hint(host: str) -> str:
    """Return the fault of a local socket, if its file shows one."""
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
            f"{path}: no Docker socket; start Docker's engine here, or set DOCKER_HOST to "
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
    """Return names by kind."""
    found: dict[str, list[str]] = {}
    for document in documents:
        found.setdefault(document.kind, []).append(document.name)
    return found
