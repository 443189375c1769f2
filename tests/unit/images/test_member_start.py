"""A member's start: the configuration that it writes, and every refusal with its words (§7)."""

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from pysyncobj.journal import FileJournal

from images.member.queenright_member.inputs import Paths, StartError, generate
from images.member.queenright_member.start import GID, UID, own_directory, write_private
from tests.unit.images.member_case import ENVIRONMENT, SECRETS, TEMPLATE, lay_out

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return lay_out(tmp_path)


def refusals(paths: Paths, **environment: str | None) -> tuple[str, ...]:
    given = {k: v for k, v in (ENVIRONMENT | environment).items() if v is not None}
    with pytest.raises(StartError) as refused:
        generate(given, paths)
    assert not any(secret in str(refused.value) for secret in SECRETS.values())
    return refused.value.reasons


def test_the_configuration_has_the_contracts_values(paths: Paths) -> None:
    config = yaml.safe_load(generate(ENVIRONMENT, paths))
    assert config["name"] == "member-1"
    assert config["raft"] == {
        "self_addr": "10.77.0.12:5010",
        "data_dir": "/home/postgres/raft",
        "partner_addrs": ["10.77.0.13:5010", "10.77.0.14:5010"],
    }
    assert config["restapi"]["connect_address"] == "10.77.0.12:8008"
    assert config["restapi"]["authentication"]["password"] == SECRETS["pg_rest_pw"]
    authentication = config["postgresql"]["authentication"]
    assert authentication["replication"]["password"] == SECRETS["pg_replication_pw"]
    assert authentication["superuser"]["password"] == SECRETS["pg_superuser_pw"]
    assert config["tags"]["failover_priority"] == 3


@pytest.mark.parametrize("name", ["NODE_NAME", "RAFT_SELF", "RAFT_PARTNERS", "FAILOVER_PRIORITY"])
@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_required_variable_is_named(paths: Paths, name: str, value: str | None) -> None:
    assert refusals(paths, **{name: value}) == (f"environment variable {name} is empty or unset",)


def test_node_connect_is_needed_only_by_a_template_that_refers_to_it(paths: Paths) -> None:
    assert refusals(paths, NODE_CONNECT="") == (
        "environment variable NODE_CONNECT is empty or unset",
    )
    paths.template.write_text("name: ${NODE_NAME}\n")
    assert generate(ENVIRONMENT | {"NODE_CONNECT": ""}, paths) == 'name: "member-1"\n'


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("RAFT_PARTNERS", "10.77.0.13:5010", "is not a JSON list of <host_ip>:<port> strings"),
        ("RAFT_PARTNERS", '"10.77.0.13:5010"', "RAFT_PARTNERS is not a JSON list"),
        ("RAFT_PARTNERS", "[5010]", "RAFT_PARTNERS is not a JSON list"),
        ("RAFT_PARTNERS", '["10.77.0.13"]', "RAFT_PARTNERS is not a JSON list"),
        ("RAFT_PARTNERS", '["10.77.0.12:5010"]', "lists this member itself (10.77.0.12:5010)"),
        ("RAFT_PARTNERS", '["h:1", "h:1"]', "lists a partner twice"),
        ("RAFT_SELF", "10.77.0.12", "RAFT_SELF is not <host_ip>:<port>"),
        ("FAILOVER_PRIORITY", "high", "FAILOVER_PRIORITY is not a whole number"),
        ("FAILOVER_PRIORITY", "-1", "FAILOVER_PRIORITY is not a whole number"),
        ("FAILOVER_PRIORITY", "1.5", "FAILOVER_PRIORITY is not a whole number"),
        ("NODE_CONNECT", "10.77.0.12 #", "NODE_CONNECT is not an IPv4 address or a host name"),
    ],
)
def test_a_malformed_variable_is_named(paths: Paths, name: str, value: str, words: str) -> None:
    assert any(words in reason for reason in refusals(paths, **{name: value}))


@pytest.mark.parametrize("name", SECRETS)
def test_a_missing_secret_is_named_with_its_path(paths: Paths, name: str) -> None:
    (paths.secrets / name).unlink()
    assert refusals(paths) == (
        f"secret {name} is missing: there is no file {paths.secrets / name}",
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [(b" \n", "is empty"), (b"\xff\xfe", "is not UTF-8 text"), (b"a\nb", "more than one line")],
)
def test_an_unusable_secret_is_named(paths: Paths, content: bytes, words: str) -> None:
    (paths.secrets / "pg_superuser_pw").write_bytes(content)
    (reason,) = refusals(paths)
    assert reason.startswith("secret pg_superuser_pw in ")
    assert words in reason


def test_the_rest_secret_is_needed_only_where_the_template_refers_to_it(paths: Paths) -> None:
    (paths.secrets / "pg_rest_pw").unlink()
    kept = [line for line in TEMPLATE.read_text().splitlines() if "PG_REST_PW" not in line]
    paths.template.write_text("\n".join(kept))
    assert "username: queenright" in generate(ENVIRONMENT, paths)


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot be read: No such file"), ("", "is empty"), ("a: ${B}", "line 1: unknown pl")],
)
def test_an_unusable_template_is_named(paths: Paths, content: str | None, words: str) -> None:
    paths.template.unlink()
    if content is not None:
        paths.template.write_text(content)
    (reason,) = refusals(paths)
    assert reason.startswith(f"template {paths.template}")
    assert words in reason


def test_everything_that_is_wrong_is_told_at_once(paths: Paths) -> None:
    (paths.secrets / "pg_rest_pw").unlink()
    assert len(refusals(paths, NODE_NAME="", FAILOVER_PRIORITY="x")) == 3


def test_the_configuration_is_private_whatever_lay_there(paths: Paths, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("kept")
    paths.config.symlink_to(other)
    old = os.umask(0)
    try:
        write_private(paths.config, "secret")
    finally:
        os.umask(old)
    assert stat.S_IMODE(paths.config.lstat().st_mode) == 0o600
    assert other.read_text() == "kept"


def test_a_directory_becomes_private(tmp_path: Path) -> None:
    directory = tmp_path / "pgdata"
    directory.mkdir(mode=0o755)
    assert own_directory(directory) is None
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def as_process(
    paths: Paths, environment: dict[str, str], instead: str = "/bin/cat"
) -> subprocess.CompletedProcess[str]:
    """The entry point as the kernel would run it, with `cat` in Patroni's place."""
    root = paths.template.parents[2]
    command = [instead, str(paths.config)] if instead == "/bin/cat" else [instead]
    program = (
        "import os, pathlib; from images.member.queenright_member.inputs import Paths; "
        "from images.member.queenright_member.start import start; "
        f"paths = Paths.under(pathlib.Path({str(root)!r})); "
        f"start(os.environ, paths, {command!r})"
    )
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def reachable() -> Iterator[Paths]:
    """A member's files that uid 999 can read too: as root the entry point becomes that user."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        paths = lay_out(root)
        if os.geteuid() == 0:
            root.chmod(0o755)
            for path in [root, *root.rglob("*")]:
                os.chown(path, UID, GID)
        yield paths


def test_a_start_that_fails_says_fatal_and_exits_1(paths: Paths) -> None:
    (paths.secrets / "pg_replication_pw").unlink()
    for directory in (paths.data, paths.raft):
        directory.mkdir(parents=True)
    result = as_process(paths, ENVIRONMENT | {"FAILOVER_PRIORITY": "x"})
    assert result.returncode == 1
    lines = result.stderr.splitlines()
    assert all(line.startswith("FATAL: ") for line in lines), result.stderr
    assert "Traceback" not in result.stderr


def test_a_start_writes_the_configuration_and_becomes_patroni(reachable: Paths) -> None:
    reachable.raft.mkdir(parents=True)
    FileJournal(str(reachable.raft / "10.77.0.12:5010.journal"))  # no first start: waits for nobody
    for _ in range(2):
        result = as_process(reachable, dict(ENVIRONMENT))
        assert result.returncode == 0, result.stderr
        assert yaml.safe_load(result.stdout)["name"] == "member-1"
        assert stat.S_IMODE(reachable.config.stat().st_mode) == 0o600
        for directory in (reachable.data, reachable.raft):
            assert stat.S_IMODE(directory.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can hand a directory to someone")
def test_root_hands_a_volume_over_and_is_given_up(reachable: Paths) -> None:
    for directory in (reachable.data, reachable.raft):
        directory.mkdir(parents=True)
        os.chown(directory, 0, 0)
    (reachable.raft / "x.journal").touch()
    result = as_process(reachable, dict(ENVIRONMENT), "/usr/bin/id")
    assert result.stdout.startswith(f"uid={UID}"), result
    assert reachable.data.stat().st_uid == UID
