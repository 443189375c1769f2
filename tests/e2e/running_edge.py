"""The edge's real entry point with real Caddy and HAProxy, in front of stand-in replicas.

Each replica has a loopback address of its own; a hosts file that only the edge sees plays the
swarm's DNS.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from queenright.core.kinds.notes_app.desired.caddyfile import render_caddyfile
from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.notes_app.schema.edge import Edge

ROOT = Path(__file__).resolve().parents[2]
IMAGE = ROOT / "images/edge"
STUB = Path(__file__).with_name("stub_replica.py")
HOST = "notes.example.org"
BODY_LIMIT = 1 << 20
NET = "127.0.77."
_PORTS = iter(range(23_000 + os.getpid() % 4000, 32_000))


def free_port() -> int:
    return next(_PORTS)


def document(edge: Mapping[str, object], **spec: object) -> NotesApp:
    """An application with this edge."""
    return NotesApp.model_validate(
        {
            "apiVersion": "queenright/v1alpha1",
            "kind": "NotesApp",
            "metadata": {"name": "notes"},
            "spec": {
                "image": "registry.example:5000/queenright-notes:1.0.1",
                "origin": f"https://{HOST}",
                "database": {"cluster": "main"},
                "bodySizeLimit": BODY_LIMIT,
                "shutdownTimeout": "3s",
                "edge": {"image": "registry.example:5000/queenright-edge:2.6", **edge},
                **spec,
            },
        }
    )


class RunningEdge:
    """An edge and its replicas, by number."""

    address = "127.0.0.1"

    def __init__(self, directory: Path, edge: Mapping[str, object], **spec: object) -> None:
        self.directory = directory
        self.app_port, self.http, self.https, self.local = (free_port() for _ in range(4))
        app = document(edge, **spec)
        wanted = app.spec.edge
        assert isinstance(wanted, Edge)
        self.makes_certificates = wanted.tls.mode == "internal"
        self.caddyfile = directory / "Caddyfile"
        self.caddyfile.write_text(render_caddyfile(app, wanted))
        self.hosts = directory / "hosts"
        self.hosts.write_text("127.0.0.1 localhost\n")
        self.log_file = directory / "edge.log"
        self.secrets = directory / "secrets"
        self.secrets.mkdir(exist_ok=True)
        self.replicas: dict[int, subprocess.Popen[bytes]] = {}
        self.process: subprocess.Popen[bytes] | None = None

    def replica(self, number: int) -> None:
        """Start a replica; it is not in DNS yet."""
        command = [sys.executable, str(STUB), f"{NET}{number}", str(self.app_port)]
        self.replicas[number] = subprocess.Popen(command)

    def listed(self, *numbers: int) -> None:
        """Set DNS's answer from now on."""
        lines = "".join(f"{NET}{number} tasks.notes_web\n" for number in numbers)
        self.hosts.write_text(f"127.0.0.1 localhost\n{lines}")

    def end(self, number: int, how: signal.Signals = signal.SIGKILL) -> int:
        """A replica's exit code."""
        process = self.replicas.pop(number)
        process.send_signal(how)
        return process.wait(10)

    def toggle(self, number: int) -> None:
        """Ready <-> not ready."""
        self.replicas[number].send_signal(signal.SIGUSR1)

    def direct(self, number: int) -> int:
        """Status of a replica's readiness."""
        return curl(f"http://{NET}{number}:{self.app_port}/readyz")[0]

    def connections(self, number: int) -> int:
        """Return the number of established connections of a replica."""
        listed = subprocess.run(
            ["ss", "-Htn", "state", "established", "dst", f"{NET}{number}:{self.app_port}"],
            capture_output=True,
            text=True,
            check=True,
        )
        return len(listed.stdout.splitlines())

    def kill_part(self, program: str) -> None:
        """SIGKILL to one of its two programs."""
        assert self.process is not None
        listed = subprocess.run(
            ["ps", "-o", "pid=,comm=", "--ppid", str(self.process.pid)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        pids = [int(line.split()[0]) for line in listed if line.split()[1] == program]
        assert pids, listed
        os.kill(pids[0], signal.SIGKILL)

    def start(self) -> None:
        """Returns when it serves."""
        self.launch()
        eventually(lambda: self.healthy() or self.process_ended(), 15)
        assert self.healthy(), self.log
        if self.makes_certificates:  # which it begins with when it starts
            eventually(lambda: self.get("/healthz")[0] != 0, 15)

    def launch(self) -> None:
        """Returns at once."""
        environ = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(IMAGE),
            "APP_SERVICE": "notes_web",
            "APP_PORT": str(self.app_port),
            "EDGE_RETRIES": "5",
            "EDGE_RUN": str(self.directory / "run"),
            "EDGE_DATA": str(self.directory / "data"),
            "EDGE_SECRETS": str(self.secrets),
            "EDGE_CADDYFILE": str(self.caddyfile),
            "EDGE_HAPROXY_CFG": str(IMAGE / "haproxy.cfg"),
            "EDGE_HTTP_PORT": str(self.http),
            "EDGE_HTTPS_PORT": str(self.https),
            "EDGE_LOCAL_PORT": str(self.local),
            "HOME": str(self.directory),
        }
        # A hosts file of its own, in a mount namespace of its own.
        script = f'mount --bind {self.hosts} /etc/hosts && exec {sys.executable} -c "$1"'
        main = "from queenright_edge.start import main; main()"
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "sh", "-c", script, "sh", main],
                env=environ,
                stdout=log,
                stderr=log,
            )

    def healthy(self) -> bool:
        return curl(f"http://127.0.0.1:{self.local}/healthz")[0] == 200

    def process_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def stop(self) -> int:
        """SIGTERM; its exit status."""
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(20)

    def clean_up(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.stop()
        for number in list(self.replicas):
            self.end(number)

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    def get(self, path: str, *options: str, host: str = HOST) -> tuple[int, str]:
        """Status and body over TLS; status 0 when there is no answer."""
        resolved = f"{host}:{self.https}:127.0.0.1"
        return curl("--resolve", resolved, f"https://{host}:{self.https}{path}", *options)

    def plain(self, path: str, *options: str, host: str = HOST) -> tuple[int, str]:
        """Status and body over plain HTTP."""
        return curl("-H", f"Host: {host}", f"http://127.0.0.1:{self.http}{path}", *options)

    def who(self, count: int = 12) -> set[str]:
        """The replicas that answer, by the last part of their address; a status where it is bad."""
        answers = [self.get("/") for _ in range(count)]
        return {
            body.removeprefix(NET) if status == 200 else str(status) for status, body in answers
        }

    def chosen(self) -> list[str]:
        """Return the replicas in the watch's last list of those that get requests."""
        said = [json.loads(line) for line in self.log.splitlines() if '"requests go to"' in line]
        return [address.removeprefix(NET) for address in said[-1]["replicas"]] if said else []


def curl(*arguments: str) -> tuple[int, str]:
    """Status and body; status 0 when there is no answer."""
    command = ["curl", "-ksS", "-m", "30", "--noproxy", "*", "-w", "\\n%{http_code}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    body, _, status = done.stdout.rpartition("\n")
    return (int(status), body) if status.isdigit() else (0, done.stderr)


def eventually(condition: Callable[[], object], within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"not within {within_s} s"
        time.sleep(0.02)
