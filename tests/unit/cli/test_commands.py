"""The program as a person starts it: exit codes, a clear line for a mistake, no traceback."""

from __future__ import annotations

import json
import logging
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog
import yaml
from click.testing import CliRunner

from queenright.adapters.audit_log import AuditLog
from queenright.adapters.last_good_files import LastGoodFiles
from queenright.adapters.system_clock import SystemClock
from queenright.cli import look
from queenright.cli.exits import CommandError
from queenright.cli.main import main
from queenright.core.actions import CreateService
from queenright.core.audit import Done, Failed, Trigger
from queenright.core.audit_chain import Record
from queenright.core.observed import Engine, Known, Observed, SwarmState, Unknown
from queenright.core.plan import Plan
from queenright.core.resources import Service
from queenright.engine.survey import Survey
from queenright.settings import Docker, Settings
from tests.builders import MANIFEST

PROGRAM = (sys.executable, "-m", "queenright")
ADDRESSED = "".join(
    line.replace("}", f", address: 10.77.0.{11 + int(line[line.index('member-') + 7])}}}")
    if "member-" in line and "node:" in line
    else line
    for line in MANIFEST.splitlines(keepends=True)
)


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME"}}
    paths = os.pathsep.join(str(Path(path).resolve()) for path in ("operator", "."))
    return kept | {
        "PYTHONPATH": paths,
        "DOCKER_HOST": f"unix://{tmp_path}/docker.sock",
        "QUEENRIGHT_MANIFESTS": str(tmp_path / "manifests"),
        "QUEENRIGHT_STATE_DIR": str(tmp_path / "state"),
        **more,
    }


@dataclass(frozen=True)
class Ended:
    returncode: int
    stdout: str
    stderr: str


def start(tmp_path: Path, *words: str, given: str = "", **more: str) -> Ended:
    """The program in this process, which is quick."""
    result = CliRunner().invoke(
        main, words, given, env=environment(tmp_path, **more), prog_name="queenright"
    )
    assert isinstance(result.exception, SystemExit | None), result.exception
    return Ended(result.exit_code, result.stdout, result.stderr)


def launch(tmp_path: Path, *words: str, given: str = "", **more: str) -> Ended:
    """The program in a process of its own, with real pipes."""
    found = subprocess.run(
        [*PROGRAM, *words],
        env=environment(tmp_path, **more),
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in found.stderr, found.stderr
    return Ended(found.returncode, found.stdout, found.stderr)


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("QUEENRIGHT_", "DOCKER_")):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    structlog.reset_defaults()
    root.handlers = handlers
    root.setLevel(level)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    directory = tmp_path / "manifests"
    directory.mkdir()
    file = directory / "cluster.yaml"
    file.write_text(ADDRESSED)
    return file


def test_version_and_help(tmp_path: Path) -> None:
    assert launch(tmp_path, "version").stdout == start(tmp_path, "--version").stdout
    listed = launch(tmp_path, "--help")
    assert listed.returncode == 0
    assert "Exit codes" in listed.stdout


@pytest.mark.parametrize(
    "command",
    ["run", "plan", "status", "validate", "render", "schema", "audit verify", "audit show",
     "completion", "version"],
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
     ("status", "/no/such/path"), ("audit", "verify", "/no/such/file"), ("audit", "show")],
)  # fmt: skip
def test_a_usage_error_is_64(tmp_path: Path, words: tuple[str, ...]) -> None:
    found = start(tmp_path, *words)
    assert found.returncode == 64
    assert found.stderr


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


@pytest.mark.parametrize(
    "words", [("plan",), ("status",), ("validate", "--swarm"), ("status", "--json")]
)
def test_no_docker_socket_is_69(tmp_path: Path, manifest: Path, words: tuple[str, ...]) -> None:
    found = launch(tmp_path, *words)
    assert found.returncode == 69
    assert found.stderr == (
        f"queenright: {tmp_path}/docker.sock: there is no Docker socket; start Docker's engine "
        "here, or set DOCKER_HOST to the engine of a swarm manager\n"
    )
    if "--json" in words:
        assert "there is no Docker socket" in json.loads(found.stdout)["error"]


def test_what_is_no_socket_is_69(tmp_path: Path, manifest: Path) -> None:
    (tmp_path / "docker.sock").write_text("")
    found = start(tmp_path, "plan")
    assert found.returncode == 69
    assert "is not a socket" in found.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can try as somebody else")
def test_a_socket_without_permission_is_69(manifest: Path) -> None:
    open_place = Path("/tmp") / f"queenright-{os.getpid()}"
    open_place.mkdir(mode=0o755)
    place = open_place / "docker.sock"
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(str(place))
        place.chmod(0o660)
        settings = Settings(docker=Docker(host=f"unix://{place}"))
        child = os.fork()
        if child == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            said = look.unreachable("no", settings).message
            os._exit(0 if said.startswith(f"{place}: permission denied; run as root") else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        listener.close()
        place.unlink()
        open_place.rmdir()


def test_nobody_listens_at_the_address(tmp_path: Path, manifest: Path) -> None:
    found = start(tmp_path, "plan", DOCKER_HOST="tcp://127.0.0.1:9")
    assert found.returncode == 69
    assert found.stderr.count("\n") == 1
    assert "DOCKER_HOST is tcp://127.0.0.1:9" in found.stderr


def test_tls_without_certificates_is_69(tmp_path: Path, manifest: Path) -> None:
    found = start(
        tmp_path, "plan", DOCKER_HOST="tcp://127.0.0.1:9", DOCKER_TLS_VERIFY="1",
        DOCKER_CERT_PATH=str(tmp_path),
    )  # fmt: skip
    assert found.returncode == 69


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        (Engine(is_manager=False), "docker node promote"),
        (Engine(swarm_state="locked"), "docker swarm unlock"),
        (Engine(swarm_state="inactive"), "docker swarm init"),
    ],
)
def test_a_swarm_that_cannot_be_worked_with(engine: Engine, said: str) -> None:
    found = Survey(Observed(Known(SwarmState(engine))), ())
    with pytest.raises(CommandError, match=said) as caught:
        look.seen_swarm(found, Settings())
    assert caught.value.code == 69


def test_an_unknown_swarm_names_the_address() -> None:
    found = Survey(Observed(Unknown("no answer in 10 s")), ())
    settings = Settings(docker=Docker(host="tcp://10.77.0.11:2375"))
    with pytest.raises(CommandError, match=r"no answer in 10 s \(DOCKER_HOST is tcp://10.77.0.11"):
        look.seen_swarm(found, settings)


def test_render_needs_no_swarm_when_the_file_has_addresses(tmp_path: Path, manifest: Path) -> None:
    found = start(tmp_path, "render", "--services")
    assert found.returncode == 0, found.stderr
    configs, *services = found.stdout.split("# --- service ")
    assert "# --- config main_patroni-" in configs
    assert "server member-1 10.77.0.12:5432" in configs
    names = [text.partition("\n")[0] for text in services]
    assert names == ["main_member-1", "main_member-2", "main_member-3", "main_proxy"]
    member = yaml.safe_load(services[0].partition("\n")[2])
    assert member["endpoint_mode"] == "dnsrr"
    assert {"published": 5432, "target": 5432, "protocol": "tcp", "mode": "host"} in member["ports"]
    assert {file["mode"] for file in member["secrets"]} == {"0400"}


def test_render_asks_the_swarm_for_addresses(tmp_path: Path, manifest: Path) -> None:
    manifest.write_text(MANIFEST)
    assert start(tmp_path, "render").returncode == 69


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
    assert start(tmp_path, "schema").stdout == "PostgresCluster\n"
    schema = json.loads(start(tmp_path, "schema", "postgrescluster").stdout)
    assert schema["title"] == "PostgresCluster"
    written = start(tmp_path, "schema", "-o", str(tmp_path / "crds")).stdout.strip()
    assert json.loads(Path(written).read_text()) == schema
    (tmp_path / "plain").write_text("")
    assert start(tmp_path, "schema", "-o", str(tmp_path / "plain" / "x")).returncode == 1


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


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_scripts(tmp_path: Path, shell: str) -> None:
    found = start(tmp_path, "completion", shell)
    assert found.returncode == 0
    assert "_QUEENRIGHT_COMPLETE" in found.stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("queenright va", "plain,validate"),
        ("queenright schema post", "plain,PostgresCluster"),
        ("queenright audit ", "plain,verify"),
        ("queenright plan --js", "plain,--json"),
        ("queenright validate clu", "file,clu"),
        ("queenright run clu", "file,clu"),
        ("queenright completion f", "plain,fish"),
    ],
)
def test_completion_offers_words_and_files(tmp_path: Path, typed: str, offered: str) -> None:
    found = start(
        tmp_path,
        _QUEENRIGHT_COMPLETE="bash_complete",
        COMP_WORDS=typed,
        COMP_CWORD=str(len(typed.split(" ")) - 1),
    )
    assert offered in found.stdout.splitlines()


PLAN = Plan("main", "d", (CreateService(service=Service("main_member-1", "i"), reason="missing"),))
EDIT = Trigger("file", file="/etc/queenright/cluster.yaml", line=12)


def no_sink(_: Record) -> None:
    """The stream of these trails is read by nobody."""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    directory = tmp_path / "state"
    with AuditLog(directory, SystemClock(), no_sink, version="0.1.0") as trail:
        trail.intent(PLAN, EDIT, PLAN.actions[0])
        trail.outcome(PLAN, EDIT, PLAN.actions[0], Failed("no answer"), 10)
        trail.intent(PLAN, EDIT, PLAN.actions[0])
        trail.outcome(PLAN, EDIT, PLAN.actions[0], Done(), 12)
        trail.intent(Plan("other", "d", PLAN.actions), EDIT, PLAN.actions[0])
    return directory


def test_verify_a_sound_trail(tmp_path: Path, state: Path) -> None:
    head = json.loads((state / "audit.jsonl").read_text().splitlines()[2])["hash"]
    for words in ((), (str(state),), (str(state / "audit.jsonl"),), ("--head", head)):
        found = start(tmp_path, "audit", "verify", *words)
        assert found.returncode == 0, found.stdout
        assert found.stdout.startswith("sound: 7 records (3 intent, 2 outcome, 1 start, 1 stop)")
        assert "intents without an outcome, as a kill leaves them: 6" in found.stdout


def test_verify_names_the_file_and_line_of_the_first_broken_link(
    tmp_path: Path, state: Path
) -> None:
    file = state / "audit.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    (state / "audit.jsonl.1").write_text("".join(lines[:3]))
    file.write_text("".join([lines[3], lines[4].replace('"done"', '"failed"'), *lines[6:]]))
    found = start(tmp_path, "audit", "verify")
    assert found.returncode == 1
    assert found.stdout.splitlines()[:3] == [
        f"{file}:2: seq 5: its content does not match its hash: it was altered",
        f"{file}:3: seq 7: seq 6 missing",
        found.stdout.splitlines()[2],
    ]
    assert found.stdout.splitlines()[2].startswith("BROKEN: 6 records")


def test_verify_a_service_log_with_prefixes_and_other_lines(tmp_path: Path, state: Path) -> None:
    lines = (state / "audit.jsonl").read_text().splitlines()
    prefix = "queenright_operator.1.x@node1    | "
    stream = [prefix + json.dumps({"event": "audit", **json.loads(line)}) for line in lines]
    stream.insert(2, prefix + '{"event":"pass","converged":true}')
    found = start(tmp_path, "audit", "verify", "-", given="\n".join(stream) + "\n")
    assert found.returncode == 0, found.stdout
    assert "1 other lines passed over" in found.stdout
    del stream[4]
    found = start(tmp_path, "audit", "verify", "-", given="\n".join(stream) + "\n")
    assert found.returncode == 1
    assert found.stdout.startswith("<stdin>:5: seq 5: seq 4 missing")


def test_verify_nothing_is_a_failure(tmp_path: Path, state: Path) -> None:
    assert start(tmp_path, "audit", "verify", "-", given="hello\n").returncode == 1
    assert start(tmp_path, "audit", "verify", "--head", "0" * 64).returncode == 1
    found = start(tmp_path, "audit", "verify", "--json")
    assert json.loads(found.stdout)["sound"] is True


def test_show_tells_outcomes_and_what_was_left_unfinished(tmp_path: Path, state: Path) -> None:
    rows = start(tmp_path, "audit", "show").stdout.splitlines()
    assert [row.split()[2:4] for row in rows[2:5]] == [
        ["create-service/main_member-1", "failed"],
        ["create-service/main_member-1", "done"],
        ["create-service/main_member-1", "no"],
    ]
    assert "no answer; missing; /etc/queenright/cluster.yaml:12" in rows[2]
    only = start(tmp_path, "audit", "show", "--cluster", "main", "-n", "1", "--json").stdout
    assert json.loads(only)["outcome"] == "done"
    assert start(tmp_path, "audit", "show", "--since", "2100-01-01").stdout == "No record fits.\n"
    assert len(start(tmp_path, "audit", "show", "--since", "1h").stdout.splitlines()) == 6
    given = (state / "audit.jsonl").read_text()
    assert start(tmp_path, "audit", "show", "-", given=given).stdout.splitlines() == rows


def test_status_watches_until_it_is_interrupted(tmp_path: Path, manifest: Path) -> None:
    with subprocess.Popen(
        [*PROGRAM, "status", "--json", "--watch", "200ms"],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as watcher:
        assert watcher.stdout is not None
        assert watcher.stderr is not None
        looks = [json.loads(watcher.stdout.readline()) for _ in range(2)]
        watcher.send_signal(signal.SIGINT)
        assert "Traceback" not in watcher.stderr.read()
        assert watcher.wait() == 0
    assert [look["files"]["valid"] for look in looks] == [True, True]


def test_the_last_good_state_is_planned_while_the_file_is_invalid(
    tmp_path: Path, manifest: Path
) -> None:
    manifest.write_text("kind: Nonsense")
    said = start(tmp_path, "status").stdout
    assert said.startswith("Files  not valid, and no last good state is kept here\n")
    LastGoodFiles(tmp_path / "state").save({str(manifest): ADDRESSED})
    said = start(tmp_path, "status").stdout
    assert said.startswith("Files  not valid; the last good state, of 20")
    assert start(tmp_path, "plan").returncode == 69


def test_status_shows_the_last_actions_even_without_a_swarm(
    tmp_path: Path, manifest: Path, state: Path
) -> None:
    found = start(tmp_path, "status")
    assert found.returncode == 69
    assert "Last actions" in found.stdout
    assert "(operator)" not in found.stdout


def on_terminal(tmp_path: Path, *words: str, **more: str) -> str:
    main, side = pty.openpty()
    subprocess.run(
        [*PROGRAM, *words], env=environment(tmp_path, TERM="xterm-256color", **more),
        stdin=side, stdout=side, stderr=side, check=True,
    )  # fmt: skip
    os.close(side)
    said = os.read(main, 1 << 16).decode()
    os.close(main)
    return said


def test_colour_on_a_terminal_unless_no_color(tmp_path: Path, state: Path) -> None:
    assert "\x1b[32mdone" in on_terminal(tmp_path, "audit", "show", COLUMNS="160")
    plain = on_terminal(tmp_path, "audit", "show", COLUMNS="160", NO_COLOR="1")
    assert "\x1b[3" not in plain
    assert "done" in plain
    assert "\x1b" not in start(tmp_path, "audit", "show").stdout


def test_run_ends_with_0_on_sigterm_and_leaves_a_sound_trail(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*PROGRAM, "run"], env=environment(tmp_path), stdout=subprocess.PIPE, text=True
    ) as operator:
        assert operator.stdout is not None
        assert json.loads(operator.stdout.readline())["phase"] == "start"
        busy = launch(tmp_path, "run")
        assert busy.returncode == 1
        assert "another queenright writes its audit trail here" in busy.stderr
        for line in operator.stdout:
            if json.loads(line)["event"] == "pass":
                break
        operator.send_signal(signal.SIGTERM)
        rest = operator.stdout.read()
        assert operator.wait() == 0
    assert json.loads(rest.splitlines()[-1])["phase"] == "stop"
    assert start(tmp_path, "audit", "verify").returncode == 0
