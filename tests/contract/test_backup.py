"""Backups with a real PostgreSQL and a real S3 server: every acknowledged row comes back.

The archiving begins on one timeline and goes on on the next; the base backup is a replica's.
"""

from __future__ import annotations

import datetime
import ipaddress
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from images.member.queenright_member.backup.repository import system_identifier
from tests.contract.postgres_server import Server
from tests.contract.real_postgres import NOBODY, SUPERUSER_PASSWORD
from tests.support.member_programs import MemberPrograms
from tests.support.object_store import ACCESS_KEY, SECRET_KEY, ObjectStore
from tests.support.ports import free_port

pytestmark = pytest.mark.lab

BUCKET = "backups"


def certificate(file: Path, last_year: int) -> None:
    """Write a key and a certificate signed with it, for 127.0.0.1, valid from 2020 on."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "object store")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))
        .not_valid_after(datetime.datetime(last_year, 12, 31, tzinfo=datetime.UTC))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )


def only_certificate(file: Path) -> str:
    text = file.read_text()
    return text[text.index("-----BEGIN CERTIFICATE-----") :]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    home = tmp_path_factory.mktemp("store")
    good = home / "good.pem"
    certificate(good, 2090)
    found = ObjectStore(home / "swift", good)
    try:
        yield found.start()
    finally:
        found.stop()


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that PostgreSQL's user may pass, as pytest's own is not."""
    with tempfile.TemporaryDirectory(prefix="backup-") as found:
        Path(found).chmod(0o755)
        yield Path(found)


@pytest.fixture
def programs(store: ObjectStore, place: Path) -> MemberPrograms:
    variables = {
        "BACKUP_URL": f"s3://{BUCKET}/some/folder/main",
        "BACKUP_ENDPOINT": store.endpoint,
    }
    home = place / "programs"
    home.mkdir()
    found = MemberPrograms(home, variables).lay_out()
    found.write_credentials(ACCESS_KEY, SECRET_KEY)
    assert store.certificate is not None
    (found.secrets / "backup_ca").write_text(only_certificate(store.certificate))
    (found.secrets / "pg_superuser_pw").write_text(SUPERUSER_PASSWORD)
    for secret in found.secrets.iterdir():
        os.chown(secret, NOBODY, NOBODY)
        secret.chmod(0o400)
    return found


@pytest.fixture
def servers(place: Path) -> Iterator[dict[str, Server]]:
    found = {}
    for name in ("first", "second", "restored"):
        home = place / name
        home.mkdir()
        os.chown(home, NOBODY, NOBODY)
        found[name] = Server(home)
    try:
        yield found
    finally:
        for server in found.values():
            server.stop()


def insert(server: Server, numbers: range) -> None:
    for number in numbers:
        server.sql("INSERT INTO kept VALUES (%s)", number)


def pair(programs: MemberPrograms, servers: dict[str, Server]) -> tuple[Server, Server]:
    """Start a server with ten rows and a replica of it, which archive only when a file is full or
    left, and not at all while there is a file `stuck`."""
    programs.make_bucket(BUCKET)
    first, second = servers["first"], servers["second"]
    (first.home / "pw").write_text(SUPERUSER_PASSWORD)
    first.program(
        "initdb", f"--pgdata={first.data}", "-U", "postgres", "-A", "scram-sha-256",
        "--no-sync", "-E", "UTF8", "--locale=C.UTF-8", f"--pwfile={first.home / 'pw'}",
    )  # fmt: skip
    archiving = {"archive_mode": "on", "wal_level": "replica"}
    command = programs.command("wal-archive", "%p")
    first.start(archive_command=f"test ! -e {first.home / 'stuck'} && {command}", **archiving)
    first.sql("CREATE TABLE kept (number integer)")
    insert(first, range(10))
    second.program(
        "pg_basebackup", "-h", "127.0.0.1", "-p", str(first.port), "-U", "postgres",
        "-D", str(second.data), "-R", "-c", "fast",
    )  # fmt: skip
    second.start(archive_command=command, **archiving)
    return first, second


def archived(server: Server) -> None:
    """Wait until everything that the server has written is archived."""
    (name,) = server.sql("SELECT pg_walfile_name(pg_switch_wal())")[0]
    deadline = time.monotonic() + 600
    while True:
        last, _ = server.sql("SELECT last_archived_wal, failed_count FROM pg_stat_archiver")[0]
        if last is not None and str(last)[:24] >= str(name):
            return
        assert time.monotonic() < deadline, (server.home / "log").read_text()[-3000:]
        time.sleep(0.5)


@pytest.mark.timeout(1800)
def test_every_acknowledged_row_is_restored(
    programs: MemberPrograms, servers: dict[str, Server]
) -> None:
    first, second = pair(programs, servers)
    restored = servers["restored"]
    insert(first, range(10, 20))
    second.sql("SELECT 1")

    at_second = {"BACKUP_HOST": "127.0.0.1", "BACKUP_PORT": str(second.port)}
    made = programs.run("base-backup", str(second.data), user=NOBODY, **at_second)
    assert (made.stderr, made.returncode) == ("", 0)
    assert made.stdout.startswith("backed up id=")
    assert end_of(made.stdout) in whole_files(programs, second), "the leader has left the file"
    listed = programs.run("backup-list", str(second.data), user=NOBODY)
    (backup,) = [json.loads(line) for line in listed.stdout.splitlines()]
    assert (backup["status"], backup["timeline"], backup["error"]) == ("DONE", 1, None)
    assert backup["bytes"] > 1_000_000
    words = " ".join(f"{key}={backup[key]}" for key in ("begin_wal", "end_wal", "bytes"))
    assert f"id={backup['id']} begin={backup['begin']} end={backup['end']} {words}" in made.stdout

    insert(first, range(20, 30))
    first.stop()
    second.sql("SELECT pg_promote(true, 60)")
    insert(second, range(30, 40))
    archived(second)

    assert restored_rows(programs, restored, second) == [(n,) for n in range(40)]
    assert_retention(programs, second, backup)
    assert_nothing_told(first, second, restored)


def end_of(said: str) -> str:
    """Return the WAL file with which a backup ends, by the line of the program."""
    return said.partition(" end_wal=")[2].partition(" ")[0]


def whole_files(programs: MemberPrograms, server: Server) -> set[str]:
    """Return the names of the WAL files that the system's archive has whole."""
    of_system = f"/{system_identifier(server.data)}/wals/"
    files = [name for name in programs.stored(BUCKET) if of_system in name]
    names = [name.rpartition("/")[2].split(".") for name in files]
    return {name[0] for name in names if len(name[0]) == 24 and name[1:] in ([], ["gz"])}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("is_lost", [False, True], ids=["killed", "shut-down"])
def test_a_backup_is_done_when_it_can_be_restored_also_across_a_change_of_the_leader(
    programs: MemberPrograms, servers: dict[str, Server], *, is_lost: bool
) -> None:
    """A server that is shut down begins another file, and nobody archives the former one."""
    first, second = pair(programs, servers)
    archived(first)
    insert(first, range(10, 20))
    (first.home / "stuck").touch()
    at_second = {"BACKUP_HOST": "127.0.0.1", "BACKUP_PORT": str(second.port)}

    def back_up(**variables: str) -> subprocess.CompletedProcess[str]:
        variables |= at_second
        return programs.run("base-backup", str(second.data), user=NOBODY, **variables)

    # The leader archives nothing: the backup is there, and is not done.
    late = back_up(ARCHIVED_S="0")
    (backup,) = [json.loads(line) for line in lines_of(programs, second)]
    lacking = f"base backup {backup['id']} can't be restored (WAL file {backup['end_wal']}, which"
    assert (late.returncode, late.stdout) == (1, "")
    assert late.stderr.startswith(f"base-backup: failed: {lacking} it needs, is not in bucket ")

    # The next job waits for it, unless the next leader's timeline has not got its end either.
    if is_lost:
        first.stop()
    else:
        first.kill()
    second.sql("SELECT pg_promote(true, 60)")
    insert(second, range(20, 30))
    made = back_up(BACKUP_DUE=backup["begin"])
    assert (made.stderr, made.returncode) == ("", 0)
    assert (f"id={backup['id']} " not in made.stdout) == is_lost
    whole, on_next = whole_files(programs, second), f"00000002{backup['end_wal'][8:]}"
    assert backup["end_wal"] not in whole
    assert (on_next not in whole) == is_lost
    assert is_lost or any(f"{backup['end_wal']}.partial" in n for n in programs.stored(BUCKET))
    archived(second)
    restored = restored_rows(programs, servers["restored"], second)
    assert restored == [(number,) for number in range(30)]
    assert_late_target_refused(programs, second)


def assert_late_target_refused(programs: MemberPrograms, system: Server) -> None:
    """A new cluster begins with no target that is behind the end of the archive."""
    for file in ("credentials", "ca"):
        text = (programs.secrets / f"backup_{file}").read_text()
        (programs.secrets / f"restore_{file}").write_text(text)
    variables = {name: programs.variables[f"BACKUP_{name}"] for name in ("URL", "ENDPOINT")}
    variables["SYSTEM"] = system_identifier(system.data)
    empty = programs.home / "empty"
    empty.mkdir()
    last = max(whole_files(programs, system), key=lambda name: (name[8:], name))
    for target in ("time 2090-01-01 00:00:00+00:00", "lsn 7/0"):
        asked = {f"RESTORE_{k}": v for k, v in {**variables, "TARGET": target}.items()}
        found = programs.run("cluster-restore", str(empty), BACKUP_URL="", **asked)
        assert (found.returncode, found.stdout) == (1, "")
        assert f"{target} is not covered, as the archive {variables['URL']} ends" in found.stderr
        assert f"with WAL file {last}, archived at 2" in found.stderr
        assert not any(empty.iterdir())


def restored_rows(
    programs: MemberPrograms, restored: Server, system: Server
) -> list[tuple[object, ...]]:
    """Restore the latest backup and what the archive has, and return the table's rows."""
    wanted = programs.run(
        "base-restore", str(system.data), "latest", str(restored.data), user=NOBODY
    )
    assert wanted.returncode == 0, wanted.stderr
    assert wanted.stdout.startswith("restored 2")
    (restored.data / "recovery.signal").touch()
    (restored.data / "standby.signal").unlink(missing_ok=True)
    os.chown(restored.data / "recovery.signal", NOBODY, NOBODY)
    restored.start(
        restore_command=programs.command("wal-restore", "%f", "%p"),
        recovery_target_action="promote",
    )
    restored.sql("SELECT 1")
    while restored.sql("SELECT pg_is_in_recovery()") == [(True,)]:
        time.sleep(0.2)
    return restored.sql("SELECT number FROM kept ORDER BY 1")


def assert_retention(
    programs: MemberPrograms, server: Server, former: Mapping[str, object]
) -> None:
    """A job makes none since it was due; what a later one does not keep is removed."""
    variables = {"BACKUP_HOST": "127.0.0.1", "BACKUP_PORT": str(server.port)}
    due = str(former["begin"])
    kept = {"BACKUP_DUE": due, "BACKUP_KEEP_COUNT": "1", "BACKUP_KEEP_DAYS": "1"}
    same = programs.run("base-backup", str(server.data), user=NOBODY, **variables, **kept)
    assert (same.stderr, same.returncode) == ("", 0)
    assert same.stdout.startswith(f"backed up id={former['id']} begin={due} ")
    assert len(same.stdout.splitlines()) == 1
    made = programs.run("base-backup", str(server.data), user=NOBODY, **variables)
    assert (made.stderr, made.returncode) == ("", 0)
    assert len(made.stdout.splitlines()) == 1
    kept = {"BACKUP_KEEP_COUNT": "1"}
    assert_listed_obsolete(programs, server, str(former["id"]), **kept)
    since = {"BACKUP_DUE": json.loads(lines_of(programs, server)[-1])["begin"]}
    same = programs.run("base-backup", str(server.data), user=NOBODY, **variables, **since, **kept)
    assert (same.stdout, same.stderr) == (made.stdout, "")
    listed = programs.run("backup-list", str(server.data), user=NOBODY)
    (left,) = [json.loads(line) for line in listed.stdout.splitlines()]
    assert left["id"] != former["id"]
    assert f"id={left['id']} begin={left['begin']} end={left['end']} " in made.stdout


def lines_of(programs: MemberPrograms, server: Server, **variables: str) -> list[str]:
    listed = programs.run("backup-list", str(server.data), user=NOBODY, **variables)
    lines = listed.stdout.splitlines()
    assert (listed.stderr, listed.returncode) == (f"listed {len(lines)} base backups\n", 0)
    return lines


def assert_listed_obsolete(
    programs: MemberPrograms, server: Server, former: str, **kept: str
) -> None:
    """The list says which one Barman would remove, and nothing is removed by that."""
    found = [json.loads(line) for line in lines_of(programs, server, **kept)]
    assert [(one["id"] == former, one["obsolete"]) for one in found] == [
        (True, True),
        (False, False),
    ]
    assert [json.loads(line)["obsolete"] for line in lines_of(programs, server)] == [False, False]


def assert_nothing_told(*servers: Server) -> None:
    """No credential is in a server's log or in its parameters."""
    for server in servers:
        assert SECRET_KEY not in (server.home / "log").read_text()


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
