"""Refusals to begin with a backup, by a real S3 server: each is one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.member_programs import MemberPrograms
from tests.support.object_store import ACCESS_KEY, SECRET_KEY, ObjectStore, object_store

pytestmark = pytest.mark.lab

BUCKET = "parents"
NAME = "000000010000000000000001"
SYSTEM, OTHER = (int.from_bytes(bytes([n]) * 8, "little") for n in (17, 18))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with object_store(tmp_path_factory.mktemp("store") / "swift") as found:
        yield found


@pytest.fixture
def programs(store: ObjectStore, tmp_path: Path) -> MemberPrograms:
    variables = {
        "BACKUP_URL": f"s3://{BUCKET}/copies/main",
        "BACKUP_ENDPOINT": store.endpoint,
        "RESTORE_URL": f"s3://{BUCKET}/main",
        "RESTORE_ENDPOINT": store.endpoint,
    }
    home = tmp_path / "programs"
    home.mkdir()
    found = MemberPrograms(home, variables).lay_out()
    found.write_credentials(ACCESS_KEY, SECRET_KEY)
    (found.secrets / "restore_credentials").write_text(
        (found.secrets / "backup_credentials").read_text()
    )
    return found


def refusal(programs: MemberPrograms, tmp_path: Path, **variables: str) -> str:
    data = tmp_path / "empty"
    data.mkdir(exist_ok=True)
    found = programs.run("cluster-restore", str(data), **variables)
    assert (found.returncode, found.stdout) == (1, "")
    assert not any(data.iterdir())
    (line,) = found.stderr.splitlines()
    return line.removeprefix("cluster-restore: restored nothing: ")


def archive(programs: MemberPrograms, tmp_path: Path, system: int, folder: str) -> None:
    """Archive a WAL file of a database system below a folder of the bucket."""
    data = tmp_path / str(system)
    (data / "global").mkdir(parents=True, exist_ok=True)
    (data / "global/pg_control").write_bytes(system.to_bytes(8, "little"))
    (data / "pg_wal").mkdir(exist_ok=True)
    (data / f"pg_wal/{NAME}").write_bytes(b"WAL")
    url = f"s3://{BUCKET}/{folder}"
    sent = programs.run("wal-archive", f"pg_wal/{NAME}", cwd=data, BACKUP_URL=url)
    assert (sent.returncode, sent.stderr) == (0, "")


@pytest.mark.timeout(900)
def test_each_refusal_is_one_line(
    programs: MemberPrograms, store: ObjectStore, tmp_path: Path
) -> None:
    assert refusal(programs, tmp_path) == (
        f"there is no bucket {BUCKET} at {store.endpoint}; create the bucket or correct its name"
    )
    programs.make_bucket(BUCKET)
    assert refusal(programs, tmp_path) == (
        f"s3://{BUCKET}/main has no backup; correct `cluster`, `bucket` or `prefix`"
    )
    archive(programs, tmp_path, SYSTEM, "main")
    assert refusal(programs, tmp_path) == (
        f"s3://{BUCKET}/main has no whole base backup; nothing can be restored without one"
    )
    archive(programs, tmp_path, OTHER, "main")
    assert refusal(programs, tmp_path) == (
        f"s3://{BUCKET}/main has several database systems ({SYSTEM}, {OTHER}), each of a "
        "deployment under this name; write which of them in `system`"
    )
    archive(programs, tmp_path, SYSTEM, "copies/main")
    assert refusal(programs, tmp_path, RESTORE_SYSTEM=str(SYSTEM)) == (
        f"s3://{BUCKET}/copies/main has WAL or backups of this database system already, which the "
        "new cluster would overwrite; give spec.backup another prefix"
    )
    (programs.secrets / "restore_credentials").write_text(
        f"[default]\naws_access_key_id = {ACCESS_KEY}\naws_secret_access_key = another\n"
    )
    assert refusal(programs, tmp_path) == (
        f"{store.endpoint} does not accept the credentials; correct the secret"
    )
    store.stop_proxy()
    assert refusal(programs, tmp_path) == (
        f"{store.endpoint} does not answer; see that it runs and is reached from this node"
    )
    store.start_proxy()
