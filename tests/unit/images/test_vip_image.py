"""The virtual address's entry point and check, run by the shell: refusals, and signs of life."""

import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from queenright.core.kinds.postgres_cluster.desired.virtual_ip import NO_INTERFACE_STATUS
from tests.support.programs import require
from tests.support.vip_error_cases import with_vip
from tests.unit.core.kinds.postgres_cluster.desired.test_keepalived_conf import render

ROOT = Path(__file__).resolve().parents[3]
ENTRYPOINT, CHECK = ROOT / "images/vip/vip-entrypoint", ROOT / "images/vip/check-proxy"
#: Plays keepalived: says how it was called, and ends.
KEEPALIVED = '#!/bin/sh\necho "keepalived $*"\n'
SECRET = "s3cr3t+/=_and-more-of-it"


def start(
    tmp_path: Path, secret: str | None = SECRET, node: str = "node3", **fields: str
) -> subprocess.CompletedProcess[str]:
    require(ip="iproute2")
    programs, config = tmp_path / "bin", tmp_path / "keepalived.conf"
    programs.mkdir()
    (programs / "keepalived").write_text(KEEPALIVED)
    (programs / "keepalived").chmod(0o755)
    config.write_text(render(with_vip(**{"interface": "lo", **fields})))
    if secret is not None:
        (tmp_path / "vrrp_pw").write_text(secret)
    arguments = [str(config), str(tmp_path / "vrrp_pw"), str(tmp_path / "scratch")]
    path = f"{programs}:{os.environ['PATH']}:/usr/sbin:/sbin"
    return subprocess.run(
        ["sh", str(ENTRYPOINT), *arguments],
        env=os.environ | {"PATH": path, "NODE_NAME": node},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_keepalived_is_started_for_its_node_without_any_password(tmp_path: Path) -> None:
    started = start(tmp_path)
    assert started.returncode == 0, started.stderr
    assert "--config-id node3" in started.stdout
    assert SECRET[:8] not in started.stdout + started.stderr


def test_the_first_eight_characters_are_for_keepalived_alone(tmp_path: Path) -> None:
    start(tmp_path, f" {SECRET}\n")
    file = tmp_path / "scratch/authentication.conf"
    assert file.read_text() == f"auth_pass {SECRET[:8]}\n"
    assert file.stat().st_mode & 0o777 == 0o600


def test_without_a_password_none_is_asked_for(tmp_path: Path) -> None:
    started = start(tmp_path, None, authentication="none")
    assert started.returncode == 0, started.stderr
    assert not (tmp_path / "scratch/authentication.conf").exists()


def test_a_missing_secret_is_named(tmp_path: Path) -> None:
    started = start(tmp_path, None)
    assert started.returncode == 1
    assert started.stderr == (
        f"FATAL: secret vrrp_pw is missing or cannot be read: {tmp_path}/vrrp_pw\n"
    )


@pytest.mark.parametrize("secret", ["", "\n \n", "with blank", 'quo"te', "a#b", "$HOME", "p\\w"])
def test_a_secret_that_keepalived_would_read_otherwise_is_refused_unseen(
    tmp_path: Path, secret: str
) -> None:
    started = start(tmp_path, secret)
    assert started.returncode == 1
    assert started.stderr.startswith("FATAL: secret vrrp_pw (")
    assert not secret.strip() or secret not in started.stderr + started.stdout


def test_a_missing_interface_is_named_with_those_there_are(tmp_path: Path) -> None:
    started = start(tmp_path, interface="eth99")
    assert started.returncode == NO_INTERFACE_STATUS
    assert started.stderr.startswith("FATAL: node node3 has no network interface eth99; it has lo")


@pytest.mark.parametrize("node", ["node9", "node", "ode3", ""])
def test_a_node_that_the_configuration_does_not_know_is_named(tmp_path: Path, node: str) -> None:
    started = start(tmp_path, node=node)
    assert started.returncode == 1
    assert started.stderr.startswith(
        f"FATAL: node {node} is not in " if node else "FATAL: environment variable NODE_NAME"
    )


def test_a_missing_configuration_is_named(tmp_path: Path) -> None:
    said = subprocess.run(
        ["sh", str(ENTRYPOINT), str(tmp_path / "none.conf")],
        env=os.environ | {"NODE_NAME": "node3"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert said.returncode == 1
    assert said.stderr == (
        f"FATAL: keepalived configuration {tmp_path}/none.conf is missing or cannot be read\n"
    )


@contextmanager
def listener(behave: Callable[[socket.socket], None] | None) -> Iterator[int]:
    """A port; each connection is given to ``behave``, or left in the kernel's queue without one,
    as a frozen process leaves it."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while behave is not None:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    behave(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def check(port: int, questions: int = 2, wait_s: str = "10") -> int:
    return subprocess.run(
        [CHECK, "127.0.0.1", str(port), str(questions), wait_s], check=False, timeout=60
    ).returncode


def saying(text: bytes) -> Callable[[socket.socket], None]:
    def behave(connection: socket.socket) -> None:
        connection.recv(100)
        connection.sendall(text)

    return behave


@pytest.mark.parametrize("status", [b"200 OK", b"403 Forbidden", b"503 Service Unavailable"])
def test_any_answer_of_haproxy_is_a_sign_of_life(status: bytes) -> None:
    with listener(saying(b"HTTP/1.1 " + status + b"\r\n\r\n")) as port:
        assert check(port) == 0


def test_a_frozen_proxy_whose_kernel_still_accepts_is_no_sign_of_life() -> None:
    with listener(None) as port:
        assert check(port, wait_s="0.2") == 1


@pytest.mark.parametrize("said", [b"", b"SSH-2.0-x\r\n"])
def test_another_answer_or_none_is_no_sign_of_life(said: bytes) -> None:
    """Docker's port proxy accepts, and closes, where nothing listens in the container."""
    with listener(saying(said)) as port:
        assert check(port) == 1


def test_nobody_there_is_no_sign_of_life() -> None:
    with listener(None) as port:
        pass
    assert check(port) == 1


def test_one_lost_answer_is_asked_for_again() -> None:
    seen: list[int] = []

    def behave(connection: socket.socket) -> None:
        seen.append(1)
        if len(seen) > 1:
            saying(b"HTTP/1.0 200 OK\r\n\r\n")(connection)

    with listener(behave) as port:
        assert check(port) == 0
        assert check(port, questions=1) == 0
    assert len(seen) == 3
