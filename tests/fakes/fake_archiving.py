"""The ``ArchiveStatus`` port on modelled servers: archiving without PostgreSQL.

A server that was started with ``archive_mode`` finishes a segment every minute. What it can't
archive waits from the moment at which it was finished: while the repository is away, and while the
container has not got the environment and the credentials of the repository.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from queenright.core.observed import Archiving
from queenright.ports.databases import Server
from tests.fakes.fake_catalogs import ModelledServers
from tests.fakes.fake_swarm import nothing
from tests.fakes.files import EPOCH
from tests.fakes.instances import Instance
from tests.fakes.repositories import Place, Repositories

SEGMENT_BYTES = 16 << 20
SEGMENT_S = 60.0
SYSTEM = "7000000000000000001"


@dataclass
class FakeArchiver:
    """The archiver of one server. ``stuck_s`` is since when nothing can be archived; None while it
    works. Times are the model's."""

    is_on: bool = False
    stuck_s: float | None = None
    archived: int = 0
    archived_s: float | None = None
    failed_s: float | None = None

    def status(self, now_s: float) -> Archiving:
        at = moment(now_s)
        if not self.is_on:
            return Archiving(at, is_on=False)
        waiting = 0
        if self.stuck_s is None:
            self.archived_s = now_s - now_s % SEGMENT_S
            self.archived = int(now_s // SEGMENT_S) + 1
        else:
            waiting = int((now_s - self.stuck_s) // SEGMENT_S)
        if waiting:
            self.failed_s = now_s
        return Archiving(
            at,
            is_on=True,
            last_wal=name(self.archived) if self.archived_s is not None else "",
            last_at=moment(self.archived_s) if self.archived_s is not None else None,
            failed_wal=name(self.archived + 1) if self.failed_s is not None else "",
            failed_at=moment(self.failed_s) if self.failed_s is not None else None,
            waiting=waiting,
            waiting_bytes=waiting * SEGMENT_BYTES,
            waiting_since=moment((self.stuck_s or 0) + SEGMENT_S) if waiting else None,
            system=SYSTEM,
        )


Find = Callable[[Server], Awaitable[FakeArchiver]]
"""The archiver of the server that hears a call; raises the port's errors where none does."""


@dataclass
class FakeArchiving:
    """Typed by ``ports.archiving.ArchiveStatus``."""

    find: Find
    now_s: Callable[[], float]
    boundary: Callable[[str], Awaitable[None]] = nothing

    async def read(self, server: Server) -> Archiving:
        await self.boundary("read the archiving")
        return (await self.find(server)).status(self.now_s())


@dataclass
class ModelledArchives:
    """The archivers of the modelled members, and the repository that all of them use."""

    servers: ModelledServers
    now_s: Callable[[], float]
    repositories: Repositories
    away_s: float | None = None
    """Since when the repository answers nobody."""
    places: list[Place] = field(default_factory=list)
    """The volumes on which WAL was archived, in the order of the first file on each."""
    archivers: dict[str, FakeArchiver] = field(default_factory=dict)
    unserved_s: dict[str, float] = field(default_factory=dict)
    """Since when the repository on a volume was found to be away, by its address."""

    async def find(self, server: Server) -> FakeArchiver:
        instance = await self.servers.primary(server)
        found = self.archivers.setdefault(instance.task.id, FakeArchiver())
        unserved_s = self.unserved(instance.task.template.environment)
        found.is_on = instance.running.get("archive_mode") == "always"
        if not can_archive(instance):
            found.stuck_s = instance.task.up_since_s
        elif self.away_s is not None:
            found.stuck_s = max(self.away_s, instance.task.up_since_s)
        elif unserved_s is not None:
            found.stuck_s = max(unserved_s, instance.task.up_since_s)
        else:
            found.stuck_s = None
            self.note_place(instance.task.template.environment)
        return found

    def note_place(self, environment: Mapping[str, str]) -> None:
        """Note on which volume WAL is archived now."""
        place = self.repositories.serving(environment)
        if place is not None and place not in self.places:
            self.places.append(place)

    def is_away(self, environment: Mapping[str, str]) -> bool:
        """Return True if the repository that a container's environment names does not answer."""
        return self.away_s is not None or not self.repositories.answers(environment)

    def unserved(self, environment: Mapping[str, str]) -> float | None:
        """Return since when a repository on a volume is away; None while it answers."""
        endpoint = environment.get("BACKUP_ENDPOINT", "")
        if self.repositories.answers(environment):
            self.unserved_s.pop(endpoint, None)
            return None
        return self.unserved_s.setdefault(endpoint, self.now_s())


def can_archive(instance: Instance) -> bool:
    """Return True if its container has what `wal-archive` reads, and its settings have that."""
    template, section = instance.task.template, instance.settings.get("postgresql", {})
    command = section.get("parameters", {}).get("archive_command", "")
    mounted = {item.target for item in template.secrets}
    has_place = "BACKUP_URL" in template.environment and "backup_credentials" in mounted
    return has_place and str(command).startswith("wal-archive ")


def name(number: int) -> str:
    return f"{1:08X}{0:08X}{number:08X}"


def moment(at_s: float) -> datetime:
    return EPOCH + timedelta(seconds=at_s)
