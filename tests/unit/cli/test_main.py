"""The program as a person starts it: exit codes, a clear line for a mistake, no traceback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from queenright.adapters.audit.log import AuditLog
from queenright.adapters.system_clock import SystemClock
from tests.support.command_line import ADDRESSED, PROGRAM, environment, launch, start


def test_version_and_help(tmp_path: Path) -> None:
    assert launch(tmp_path, "version").stdout == start(tmp_path, "--version").stdout
    listed = launch(tmp_path, "--help")
    assert listed.returncode == 0
    assert "Exit codes" in listed.stdout


@pytest.mark.parametrize(
    "command",
    ["run", "plan", "status", "validate", "render", "schema", "audit verify", "audit show",
     "completion", "version", "list", "switchover", "failover", "pause", "resume", "history",
     "edit-config", "restart", "explain", "data-end"],
)  # fmt: skip
def test_every_command_helps_with_an_example(tmp_path: Path, command: str) -> None:
    found = start(tmp_path, *command.split(), "--help")
    assert found.returncode == 0
    assert "Example" in found.stdout


@pytest.mark.parametrize(
    "words",
    [(), ("bogus",), ("plan", "--bogus"), ("schema", "Bogus"), ("completion", "tcsh"),
     ("status", "--watch", "soon"), ("audit", "show", "--since", "soon"), ("audit", "show", "-n0"),
     ("validate", "/no/such/path"), ("plan", "/no/such/path"), ("render", "/no/such/path"),
     ("status", "/no/such/path"), ("audit", "verify", "/no/such/file"), ("audit", "show"),
     ("switchover",), ("failover", "main"), ("restart",), ("edit-config", "--set", "ttl"),
     ("edit-config", "--apply", "/no/such/file"), ("list", "--manifests", "/no/such/path"),
     ("pause", "main", "other"), ("history", "--bogus"), ("validate", ""), ("run", ""),
     ("plan", ""), ("list", "--manifests", ""), ("audit", "verify", ""),
     ("audit", "show", "-n", "99999999999999999999"), ("edit-config", "--apply", "/tmp")],
)  # fmt: skip
def test_a_usage_error_is_64(tmp_path: Path, words: tuple[str, ...]) -> None:
    found = start(tmp_path, *words)
    assert found.returncode == 64
    assert found.stderr


@pytest.mark.slow
def test_a_wrong_environment_is_64_with_every_variable(tmp_path: Path) -> None:
    found = launch(tmp_path, "run", QUEENRIGHT_LOG_LEVEL="loud", QUEENRIGHT_DOCKER_TIMEOUT="x")
    assert found.returncode == 64
    assert [line.split(": ")[1] for line in found.stderr.splitlines()] == [
        "QUEENRIGHT_LOG_LEVEL",
        "QUEENRIGHT_DOCKER_TIMEOUT",
    ]


def test_valid_files(tmp_path: Path, manifest: Path) -> None:
    for words in ((), (str(manifest),), (str(manifest.parent),)):
        found = start(tmp_path, "validate", *words)
        assert (found.returncode, found.stdout) == (0, "")
        assert found.stderr == "PostgresCluster main: 0 errors, 0 warnings\n"
    assert start(tmp_path, "validate", "-", given=ADDRESSED).returncode == 0


def test_invalid_files_are_65_with_file_line_and_field(tmp_path: Path, manifest: Path) -> None:
    manifest.write_text(ADDRESSED.replace("lanSubnet", "lanSubnett"))
    found = start(tmp_path, "validate")
    assert found.returncode == 65
    line = next(line for line in found.stdout.splitlines() if "lanSubnett" in line)
    assert line.startswith(f"{manifest}:7: spec.lanSubnett: ")
    for command in ("plan", "render"):
        again = start(tmp_path, command)
        assert again.returncode == 65
        assert line in again.stderr


ACTING = [
    ("list",),
    ("switchover", "--candidate", "member-2"),
    ("failover", "--candidate", "member-2", "--force"),
    ("pause",),
    ("resume", "main"),
    ("history",),
    ("data-end",),
    ("edit-config", "--set", "ttl=20"),
    ("restart", "member-2"),
]


@pytest.mark.parametrize("words", ACTING)
def test_a_cluster_that_no_file_describes(
    tmp_path: Path, manifest: Path, words: tuple[str, ...]
) -> None:
    named = (*words, "--cluster") if words[0] == "restart" else (words[0], *words[1:])
    if words[-1] == "main":
        named = words[:-1]
    found = start(tmp_path, *named, "mian")
    assert found.returncode == 64
    assert found.stderr == ('queenright: no file describes a cluster mian; did you mean "main"?\n')


@pytest.mark.parametrize("words", ACTING)
def test_several_clusters_have_to_be_told_apart(
    tmp_path: Path, manifest: Path, words: tuple[str, ...]
) -> None:
    other = ADDRESSED.replace("name: main", "name: other").replace("10.77.0.1", "10.77.0.2")
    second = "\n  nodeLabels: {member: o, proxy: p}\n  secrets: {replication: a, superuser: b, "
    other = other.replace("node: node", "node: n").rstrip() + second + "restApi: c}\n"
    (manifest.parent / "other.yaml").write_text(other)
    if words[0] != "list" and words[-1] != "main":
        found = start(tmp_path, *words)
        assert (found.returncode, found.stderr) == (
            64,
            "queenright: the cluster's name is missing; there are main, other\n",
        )


@pytest.mark.parametrize("words", ACTING)
def test_invalid_files_keep_commands_from_acting(
    tmp_path: Path, manifest: Path, words: tuple[str, ...]
) -> None:
    manifest.write_text(ADDRESSED.replace("lanSubnet", "lanSubnett"))
    found = start(tmp_path, *words)
    assert found.returncode == 65
    assert f"{manifest}:7: spec.lanSubnett: " in found.stderr


def test_an_editor_needs_a_terminal(tmp_path: Path, manifest: Path) -> None:
    found = start(tmp_path, "edit-config")
    assert (found.returncode, found.stderr) == (
        64,
        "queenright: no terminal to ask for confirmation; use --set or --apply\n",
    )


@pytest.mark.slow
def test_a_state_directory_that_can_not_be_written_moves_the_trail_to_standard_error(
    tmp_path: Path, manifest: Path
) -> None:
    (tmp_path / "state").write_text("not a directory")
    found = launch(tmp_path, "pause", DOCKER_HOST="tcp://127.0.0.1:9", QUEENRIGHT_LOG_FORMAT="json")
    assert found.returncode == 69
    assert '"phase":"start"' in found.stderr.replace(" ", "")


@pytest.mark.slow
def test_a_question_left_unanswered_keeps_nobody_from_acting(
    tmp_path: Path, manifest: Path
) -> None:
    with AuditLog(tmp_path / "state" / "commands", SystemClock(), lambda _: None):
        found = launch(tmp_path, "pause", QUEENRIGHT_LOG_FORMAT="json")
    assert found.returncode == 69
    assert '"phase":"start"' in found.stderr.replace(" ", "")
    assert "no Docker socket" in found.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can try as somebody else")
@pytest.mark.parametrize("words", [("validate",), ("audit", "verify"), ("audit", "show")])
def test_what_may_not_be_read(tmp_path: Path, manifest: Path, words: tuple[str, ...]) -> None:
    place = Path("/tmp") / f"queenright-closed-{os.getpid()}"
    (place / "within").mkdir(parents=True)
    place.chmod(0o700)
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        found = start(tmp_path, *words, str(place / "within"))
        said = found.stdout + found.stderr
        os._exit(found.returncode if "permission denied" in said else 99)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    shutil.rmtree(place)
    assert code == (65 if words == ("validate",) else 1)


def test_schema(tmp_path: Path) -> None:
    assert start(tmp_path, "schema").stdout == "NotesApp\nPostgresCluster\n"
    schema = json.loads(start(tmp_path, "schema", "postgrescluster").stdout)
    assert schema["title"] == "PostgresCluster"
    app, cluster = start(tmp_path, "schema", "-o", str(tmp_path / "crds")).stdout.split()[::-1]
    assert json.loads(Path(cluster).read_text()) == schema
    assert json.loads(Path(app).read_text())["title"] == "NotesApp"
    (tmp_path / "plain").write_text("")
    assert start(tmp_path, "schema", "-o", str(tmp_path / "plain" / "x")).returncode == 1


@pytest.mark.slow
def test_a_reader_that_has_seen_enough(tmp_path: Path) -> None:
    program = subprocess.Popen(
        [*PROGRAM, "schema", "PostgresCluster"],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.close()
    assert program.stderr.read() == b""
    assert program.wait() == 1
