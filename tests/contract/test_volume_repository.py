"""The repository on a volume with a real PostgreSQL that archives there: a full volume, and
certificates that are wrong.

Each is one line in the status and in the hold, writes go on, nothing that is listed is damaged, and
the archive catches up when the cause is gone.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from queenright.adapters.postgres.archiving import PostgresArchiving
from queenright.core.kinds.postgres_cluster.backup.archiving import archived_text, overdue_reason
from queenright.core.observed import Archiving
from queenright.ports.databases import Server as Address
from queenright.ports.secrets import Password
from tests.contract.backup_places import archived, initialise, passable, server_in
from tests.contract.postgres_server import Server
from tests.contract.real_postgres import NOBODY, SUPERUSER_PASSWORD
from tests.support.certificates import authority, certificate
from tests.support.member_programs import MemberPrograms
from tests.support.object_store import ACCESS_KEY, SECRET_KEY
from tests.support.volume_repository import VolumeRepository

pytestmark = pytest.mark.lab

BUCKET, SEGMENT = "backups", 16 << 20
SIZE, TAKEN = 700 << 20, 540 << 20
"""The file system, and what somebody else's file takes of it at first."""
LEAKS_AT_MOST = 2 << 20
"""Between two readings of the free room: Swift's databases grow by some pages."""


@pytest.fixture
def place() -> Iterator[Path]:
    with passable("volume-") as found:
        yield found


@contextmanager
def file_system(place: Path, size: int) -> Iterator[Path]:
    """Mount an ext4 file system of this size, in a file, as the one with the repository's volume:
    its folder `data`."""
    image, target = place / "image", place / "disk"
    target.mkdir()
    with image.open("wb") as file:
        file.truncate(size)
    run("mkfs.ext4", "-q", "-m", "0", "-F", str(image))
    run("mount", "-o", "loop", str(image), str(target))
    volume = target / "data"
    volume.mkdir()
    os.chown(volume, NOBODY, NOBODY)
    try:
        yield volume
    finally:
        run("umount", "--lazy", str(target))


def run(*words: str) -> str:
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


def free(directory: Path) -> int:
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize


def programs_for(place: Path, repository: VolumeRepository, ca: str = "") -> MemberPrograms:
    home = place / "programs"
    home.mkdir()
    variables = {
        "BACKUP_URL": f"s3://{BUCKET}/main",
        "BACKUP_ENDPOINT": repository.endpoint,
        "BACKUP_COMPRESSION": "none",
    }
    found = MemberPrograms(home, variables).lay_out()
    found.write_credentials(ACCESS_KEY, SECRET_KEY)
    if ca:
        (found.secrets / "backup_ca").write_text(ca)
    for secret in found.secrets.iterdir():
        os.chown(secret, NOBODY, NOBODY)
        secret.chmod(0o400)
    return found


@contextmanager
def archiving(place: Path, programs: MemberPrograms) -> Iterator[Server]:
    """A server that archives, and keeps its WAL files, so that they can be compared."""
    server = server_in(place, "leader")
    initialise(server)
    server.start(
        archive_mode="on",
        wal_level="replica",
        archive_command=programs.command("wal-archive", "%p"),
        wal_keep_size="2GB",
    )
    server.sql("CREATE TABLE kept (number serial, text text)")
    try:
        yield server
    finally:
        server.kill()


def write(server: Server) -> str:
    """Write a row and finish the WAL file; return its name."""
    server.sql("INSERT INTO kept (text) VALUES (repeat(md5(random()::text), 1000))")
    ((name,),) = server.sql("SELECT pg_walfile_name(pg_switch_wal())")
    return str(name)


def until(wanted: Callable[[], bool], what: str, timeout_s: float = 240) -> None:
    deadline = time.monotonic() + timeout_s
    while not wanted():
        assert time.monotonic() < deadline, what
        time.sleep(0.5)


def cause(programs: MemberPrograms) -> str:
    """Return the cause that a member's container keeps for the status."""
    return programs.failed.read_text() if programs.failed.exists() else ""


async def told(server: Server, programs: MemberPrograms) -> tuple[Archiving, str, str]:
    """Return the operator's reading, its line in the status and its hold's reason. The cause lies
    in a file of the container, which is the test's own here."""
    address = Address("127.0.0.1", server.port, Password(SUPERUSER_PASSWORD))
    read = await PostgresArchiving().read(address)
    found = dataclasses.replace(read, why=cause(programs))
    hold = overdue_reason(found, "member-1", "main_member-1", "the repository")
    return found, archived_text(found, "member-1"), hold


def stored_names(programs: MemberPrograms) -> set[str]:
    return {Path(name).name for name in programs.stored(BUCKET)}


def assert_whole(server: Server, programs: MemberPrograms, names: set[str]) -> None:
    """Compare each listed file with the one that PostgreSQL wrote, byte by byte."""
    for name in sorted(names):
        back = server.data / "pg_wal/back"
        got = programs.run("wal-restore", name, "pg_wal/back", cwd=server.data)
        assert got.returncode == 0, (name, got.stderr)
        assert back.stat().st_size == SEGMENT
        assert back.read_bytes() == (server.data / "pg_wal" / name).read_bytes(), name
        back.unlink()


@pytest.mark.timeout(1200)
async def test_a_full_volume_is_told_and_harms_nothing_and_archiving_catches_up(
    place: Path,
) -> None:
    with file_system(place, SIZE) as volume:
        other = volume.parent / "other"
        with other.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, TAKEN)
        repository = VolumeRepository(place, volume, NOBODY).lay_out().start()
        programs = programs_for(place, repository)
        line = (
            f"bucket {BUCKET} at {repository.endpoint} has no room left; make room or raise its "
            "quota"
        )
        try:
            with archiving(place, programs) as server:
                written = [write(server)]
                until(lambda: not waits(server), "the first file")
                while not cause(programs) and len(written) < 20:
                    written.append(write(server))
                    until(lambda: not waits(server) or bool(cause(programs)), "an answer")
                assert cause(programs) == line
                before = free(volume)
                full = stored_names(programs)
                assert len(full) >= 4
                # Writes go on, and nothing that was begun and refused is listed or takes room.
                written += [write(server) for _ in range(3)]
                tries = failures(server)
                until(lambda: failures(server) >= tries + 3, "more tries")
                assert free(volume) >= before - LEAKS_AT_MOST
                assert stored_names(programs) == full
                assert full < set(written)
                assert_whole(server, programs, full)
                found, status, hold = await told(server, programs)
                assert found.is_failing
                assert found.waiting == len(written) - len(full)
                assert status.endswith(f"the last try failed: {line}")
                assert f": {line})" in hold
                assert "\n" not in status + hold

                other.unlink()
                until(lambda: not waits(server), "the archive to catch up")
                assert stored_names(programs) == set(written)
                assert_whole(server, programs, set(written))
                found, status, _ = await told(server, programs)
                assert (found.waiting, found.is_failing) == (0, False)
                assert status.endswith("nothing waits")
                assert archived(server) in stored_names(programs)
                assert server.sql("SELECT count(*) FROM kept") == [(len(written),)]
        finally:
            repository.stop()


def waits(server: Server) -> bool:
    status = server.data / "pg_wal/archive_status"
    return any(path.suffix == ".ready" for path in status.iterdir())


def failures(server: Server) -> int:
    ((found,),) = server.sql("SELECT failed_count FROM pg_stat_archiver")
    return int(str(found))


@pytest.mark.timeout(1200)
async def test_a_wrong_certificate_is_told_and_archiving_catches_up_when_it_is_renewed(
    place: Path,
) -> None:
    volume = place / "data"
    volume.mkdir()
    os.chown(volume, NOBODY, NOBODY)
    ours, another = authority(), authority()
    good = place / "good.pem"
    certificate(good, 2090, ours)
    repository = VolumeRepository(place, volume, NOBODY, certificate=good).lay_out().start()
    programs, end = programs_for(place, repository, ours.pem), repository.endpoint
    expired, elsewhere, foreign = (place / f"{name}.pem" for name in ("old", "other", "foreign"))
    certificate(expired, 2021, ours)
    certificate(elsewhere, 2090, ours, "10.77.0.99")
    certificate(foreign, 2090, another)
    lines = {
        expired: f"the certificate of {end} has expired; renew it",
        elsewhere: f"the certificate of {end} is for another name; give the server one for this "
        "one",
        foreign: f"the certificate of {end} is not trusted; give the CA that signed it, and the "
        "name that it is for",
    }
    try:
        with archiving(place, programs) as server:
            written = [write(server)]
            until(lambda: not waits(server), "the first file")
            for wrong, line in lines.items():
                # A secret of another name is another task of the service.
                repository.stop()
                repository.certificate = wrong
                repository.start()
                written.append(write(server))
                until(lambda line=line: cause(programs) == line, f"{line}: {cause(programs)}")  # type: ignore[misc]
                found, status, hold = await told(server, programs)
                assert found.is_failing
                assert status.endswith(f"the last try failed: {line}")
                assert f": {line})" in hold
                repository.stop()
                repository.certificate = good
                repository.start()
                written.append(write(server))  # the archiver tries again at once, not in a minute
                until(lambda: not waits(server), "the archive to catch up")
                assert stored_names(programs) == set(written)
                assert cause(programs) == ""
            assert_whole(server, programs, set(written))
    finally:
        repository.stop()
