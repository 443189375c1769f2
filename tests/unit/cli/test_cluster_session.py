"""Commands say why they can't reach the swarm, and end with 69."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from queenright.cli import read_only
from queenright.cli.exit_codes import CommandError
from queenright.core.observed import Engine, Known, Observed, SwarmState, Unknown
from queenright.engine.planning import PlannedPass
from queenright.settings import Docker, Settings
from tests.support.command_line import start


@pytest.mark.parametrize(
    "words",
    [("plan",), ("status",), ("validate", "--swarm"), ("status", "--json"), ("list",),
     ("pause",), ("history",), ("switchover", "--candidate", "member-2", "--force")],
)  # fmt: skip
def test_no_docker_socket_is_69(tmp_path: Path, manifest: Path, words: tuple[str, ...]) -> None:
    found = start(tmp_path, *words)
    assert found.returncode == 69
    assert found.stderr == (
        f"queenright: {tmp_path}/docker.sock: no Docker socket; start Docker's engine "
        "here, or set DOCKER_HOST to the engine of a swarm manager\n"
    )
    if "--json" in words:
        assert "no Docker socket" in json.loads(found.stdout)["error"]


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
            said = read_only.unreachable("no", settings).message
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
    found = PlannedPass(Observed(Known(SwarmState(engine))), ())
    with pytest.raises(CommandError, match=said) as caught:
        read_only.seen_swarm(found.observed, Settings())
    assert caught.value.code == 69


def test_an_unknown_swarm_names_the_address() -> None:
    found = PlannedPass(Observed(Unknown("no answer in 10 s")), ())
    settings = Settings(docker=Docker(host="tcp://10.77.0.11:2375"))
    with pytest.raises(CommandError, match=r"no answer in 10 s \(DOCKER_HOST is tcp://10.77.0.11"):
        read_only.seen_swarm(found.observed, settings)
