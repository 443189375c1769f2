"""Refusals of a member's archiving and recovery by a real S3 server: each is one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.backup_places import programs_in
from tests.support.certificates import certificate, only_certificate
from tests.support.member_programs import MemberPrograms
from tests.support.object_store import ACCESS_KEY, SECRET_KEY, ObjectStore
from tests.support.ports import free_port

pytestmark = pytest.mark.lab

BUCKET = "refusals"


@pytest.fixture
def programs(store: ObjectStore, place: Path) -> MemberPrograms:
    return programs_in(place, store, f"{BUCKET}/some/folder/main")


def wal_file(programs: MemberPrograms, tmp_path: Path) -> Path:
    """A data directory with what `wal-archive` reads of one; returns it."""
    data = tmp_path / "small"
    (data / "global").mkdir(parents=True)
    (data / "global/pg_control").write_bytes(bytes(range(8)) * 4)
    (data / "pg_wal").mkdir()
    (data / "pg_wal/000000010000000000000001").write_bytes(b"WAL")
    return data


def failure(programs: MemberPrograms, data: Path, **variables: str) -> str:
    """Return the one line with which the archiving of a file fails."""
    found = programs.run("wal-archive", "pg_wal/000000010000000000000001", cwd=data, **variables)
    assert (found.returncode, found.stdout) == (1, "")
    (line,) = found.stderr.splitlines()
    return line.removeprefix("WAL 000000010000000000000001: is not archived: ")


@pytest.mark.timeout(1800)
def test_each_failure_is_one_line(
    programs: MemberPrograms, store: ObjectStore, tmp_path: Path
) -> None:
    data, end = wal_file(programs, tmp_path), store.endpoint
    assert failure(programs, data, BACKUP_URL="s3://nowhere/x") == (
        f"there is no bucket nowhere at {end}; create the bucket or correct its name"
    )
    programs.make_bucket(BUCKET)
    programs.write_credentials(ACCESS_KEY, "another key")
    assert failure(programs, data) == f"{end} does not accept the credentials; correct the secret"
    (programs.secrets / "backup_credentials").write_text("no such format")
    assert failure(programs, data) == (
        "the secret is not a credentials file with aws_access_key_id and aws_secret_access_key; "
        "correct the secret"
    )
    programs.write_credentials(ACCESS_KEY, SECRET_KEY)
    (programs.secrets / "backup_ca").unlink()
    assert failure(programs, data) == (
        f"the certificate of {end} is not trusted; give the CA that signed it, and the name that "
        "it is for"
    )
    good, expired = store.certificate, tmp_path / "expired.pem"
    certificate(expired, 2020)
    (programs.secrets / "backup_ca").write_text(only_certificate(expired))
    store.stop_proxy()
    assert failure(programs, data) == (
        f"{end} does not answer; see that it runs and is reached from this node"
    )
    try:
        store.certificate = expired
        store.start_proxy()
        assert failure(programs, data) == f"the certificate of {end} has expired; renew it"
    finally:
        store.stop_proxy()
        store.certificate = good
        store.start_proxy()


@pytest.mark.timeout(1800)
def test_a_recovery_goes_on_only_when_the_file_is_not_there(
    programs: MemberPrograms, tmp_path: Path
) -> None:
    programs.make_bucket(BUCKET)
    data, name = wal_file(programs, tmp_path), "000000010000000000000001"
    sent = programs.run("wal-archive", f"pg_wal/{name}", cwd=data)
    assert (sent.returncode, sent.stderr) == (0, "")
    assert programs.run("wal-restore", name, "pg_wal/back", cwd=data).returncode == 0
    assert (data / "pg_wal/back").read_bytes() == b"WAL"
    # Patroni names what a former leader has left in full, and runs the command elsewhere.
    elsewhere = programs.run("wal-archive", str(data / "pg_wal" / name), cwd=tmp_path)
    assert (elsewhere.returncode, elsewhere.stderr) == (0, "")
    absent = programs.run("wal-restore", "000000010000000000000002", "pg_wal/next", cwd=data)
    assert (absent.returncode, absent.stderr) == (1, "")
    away = f"http://127.0.0.1:{free_port()}"
    lost = programs.run("wal-restore", name, "pg_wal/again", cwd=data, BACKUP_ENDPOINT=away)
    assert lost.returncode == 255
    assert lost.stderr == (
        f"WAL {name}: is not restored: {away} does not answer; see that it runs and is reached "
        "from this node\n"
    )
