"""Contract of ``ArchiveStatus``: the fake, and the real one on a real PostgreSQL that archives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import anyio
import pytest

from queenright.adapters.postgres.archiving import PostgresArchiving
from queenright.core.observed import Archiving
from queenright.ports.archiving import ArchiveStatus
from queenright.ports.databases import Server
from queenright.ports.errors import PortError, RejectedError, UnavailableError
from queenright.ports.secrets import Password
from tests.contract.real_postgres import SUPERUSER_PASSWORD, RealPostgres, real_postgres
from tests.fakes.fake_archiving import SEGMENT_BYTES, SEGMENT_S, FakeArchiver, FakeArchiving

CRASHES = "exit 127"
"""The end of a shell that does not find the program. PostgreSQL counts no such failure."""


@dataclass
class Scene:
    """A server with a port to it, whose archiving is set by hand."""

    status: ArchiveStatus
    server: Server
    set_command: Callable[[str], None]
    finish_segment: Callable[[], None]

    async def read(self) -> Archiving:
        return await self.status.read(self.server)

    async def until(self, wanted: Callable[[Archiving], bool]) -> Archiving:
        """Read until the answer is as wanted."""
        for _ in range(2000):
            if wanted(found := await self.read()):
                return found
            await anyio.sleep(0.1)
        raise AssertionError(f"still {found}")


@dataclass
class FakeClockwork:
    """The fake's world: an archiver, and minutes that pass with each finished segment."""

    archiver: FakeArchiver
    now_s: float = 600.0
    password: str = SUPERUSER_PASSWORD
    commands: list[str] = field(default_factory=list)

    async def find(self, server: Server) -> FakeArchiver:
        if server.superuser.value != self.password:
            raise RejectedError("password authentication failed")
        return self.archiver

    def set_command(self, command: str) -> None:
        works = command == "true"
        self.archiver.stuck_s = None if works else (self.archiver.stuck_s or self.now_s)

    def finish_segment(self) -> None:
        self.now_s += SEGMENT_S


def server_at(port: int, password: str = SUPERUSER_PASSWORD) -> Server:
    return Server("127.0.0.1", port, Password(password))


def fake_scene(*, is_on: bool) -> Scene:
    world = FakeClockwork(FakeArchiver(is_on=is_on))
    port = FakeArchiving(world.find, lambda: world.now_s)
    return Scene(port, server_at(5432), world.set_command, world.finish_segment)


def real_scene(postgres: RealPostgres) -> Scene:
    def set_command(command: str) -> None:
        postgres.sql(f"ALTER SYSTEM SET archive_command = '{command}'")
        postgres.sql("SELECT pg_reload_conf()")

    def finish_segment() -> None:
        postgres.sql("CREATE TABLE IF NOT EXISTS written (n integer)")
        postgres.sql("INSERT INTO written VALUES (1)")
        postgres.sql("SELECT pg_switch_wal()")

    server = server_at(postgres.port)
    return Scene(PostgresArchiving(), server, set_command, finish_segment)


KINDS = ["fake", pytest.param("postgresql", marks=pytest.mark.lab)]


@pytest.fixture(params=KINDS)
async def archiving(request: pytest.FixtureRequest) -> AsyncIterator[Scene]:
    if request.param == "fake":
        yield fake_scene(is_on=True)
        return
    with real_postgres(archive_mode="on", wal_level="replica") as postgres:
        yield real_scene(postgres)


@pytest.fixture(params=KINDS)
async def silent(request: pytest.FixtureRequest) -> AsyncIterator[Scene]:
    if request.param == "fake":
        yield fake_scene(is_on=False)
        return
    with real_postgres() as postgres:
        yield real_scene(postgres)


@pytest.mark.timeout(300)
async def test_a_server_without_archive_mode_says_so(silent: Scene) -> None:
    silent.set_command("false")
    silent.finish_segment()
    found = await silent.read()
    assert (found.is_on, found.last_wal, found.last_at, found.waiting) == (False, "", None, 0)
    assert (found.waiting_since, found.is_failing) == (None, False)


@pytest.mark.timeout(300)
async def test_what_is_archived_has_a_name_and_a_time(archiving: Scene) -> None:
    archiving.set_command("true")
    archiving.finish_segment()
    found = await archiving.until(lambda found: bool(found.last_wal) and not found.waiting)
    assert found.is_on
    assert len(found.last_wal) == 24
    assert found.last_at is not None
    assert found.last_at <= found.at
    assert found.waiting_since is None
    assert not found.is_failing
    before = found
    archiving.finish_segment()
    later = await archiving.until(lambda found: found.last_wal > before.last_wal)
    assert later.last_at is not None
    assert later.last_at > found.last_at


@pytest.mark.timeout(300)
@pytest.mark.parametrize("command", ["false", CRASHES])
async def test_what_is_not_archived_waits_until_it_is(archiving: Scene, command: str) -> None:
    archiving.set_command(command)
    for _ in range(2):
        archiving.finish_segment()
    stuck = await archiving.until(lambda found: found.waiting >= 2)
    assert stuck.waiting_bytes == stuck.waiting * SEGMENT_BYTES
    assert stuck.waiting_since is not None
    assert stuck.waiting_since <= stuck.at
    archiving.finish_segment()
    worse = await archiving.until(lambda found: found.waiting > stuck.waiting)
    assert worse.waiting_since == stuck.waiting_since
    archiving.set_command("true")
    healed = await archiving.until(lambda found: found.waiting == 0)
    assert healed.last_wal
    assert (healed.waiting_bytes, healed.waiting_since, healed.is_failing) == (0, None, False)


@pytest.mark.timeout(300)
async def test_a_failed_try_is_told(archiving: Scene) -> None:
    archiving.set_command("false")
    archiving.finish_segment()
    found = await archiving.until(lambda found: found.is_failing)
    assert len(found.failed_wal) == 24


@pytest.mark.timeout(300)
async def test_another_password_is_refused(archiving: Scene) -> None:
    with pytest.raises(PortError):
        await archiving.status.read(server_at(archiving.server.port, "another"))


@pytest.mark.lab
async def test_a_server_that_does_not_answer_is_unavailable() -> None:
    with pytest.raises(UnavailableError):
        await PostgresArchiving().read(server_at(1))
