"""Runs a replica in its own process, and provides a browser-like client for it."""

import contextlib
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from tests.postgres import free_port

KEY = "a test key of more than thirty-two characters"
PASSWORD = "correct horse battery"
ADMIN = "ada@example.org"
# All connections are plain HTTP. To read the authorities' certificates takes a client 50 ms.
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@dataclass
class Replica:
    """One `notes` process."""

    database_url: str
    env: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    module: str = "notes.main"
    process: subprocess.Popen[bytes] | None = None

    def start(self, *, wait: bool = True) -> "Replica":
        handle, name = tempfile.mkstemp(prefix="notes-log-")
        self.log_path = Path(name)
        environ = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "DATABASE_URL": self.database_url,
            "APP_ENCRYPTION_KEY": KEY,
            "HOST": "127.0.0.1",
            "PORT": str(self.port),
            "PROTOCOL_HEADER": "x-forwarded-proto",
            "SHUTDOWN_TIMEOUT": "5",
            **self.env,
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", self.module],
            env={k: v for k, v in environ.items() if v},
            stdout=handle,
            stderr=handle,
        )
        os.close(handle)
        if wait:
            self.wait_ready()
        return self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return self.log_path.read_text()

    def lines(self) -> list[dict[str, Any]]:
        # The last line may not have been read yet.
        whole = self.log.rpartition("\n")[0].split("\n")
        return [json.loads(line) for line in whole if line.startswith("{")]

    def wait_ready(self, timeout_s: float = 60) -> float:
        """Waits until the replica is ready; returns the seconds that it took."""
        begun = time.monotonic()
        while time.monotonic() - begun < timeout_s:
            with contextlib.suppress(httpx.HTTPError):
                if get(f"{self.url}/readyz", timeout=5).status_code == 200:
                    return time.monotonic() - begun
            if self.process is None or self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"not ready after {timeout_s} s:\n{self.log[-4000:]}")

    def stop(self, timeout_s: float = 30) -> int:
        """Sends SIGTERM and waits; returns the exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout_s)

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        self.log_path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def running(self) -> Iterator["Replica"]:
        """Starts the replica; ends it at the end of the block in any case."""
        try:
            yield self.start()
        finally:
            self.end()

    def connections(self) -> int:
        """The number of clients that are connected to it."""
        assert self.process is not None
        open_ones = psutil.Process(self.process.pid).net_connections("tcp")
        return sum(
            one.status == psutil.CONN_ESTABLISHED and one.laddr.port == self.port
            for one in open_ones
        )

    def deserted(self, timeout_s: float = 5) -> bool:
        """True if every client disconnects within the timeout."""
        deadline = time.monotonic() + timeout_s
        while left := self.connections():
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        return left == 0

    def memory_mb(self) -> float:
        """The current resident memory."""
        assert self.process is not None
        return _status_kb(self.process.pid, "VmRSS") / 1024

    def peak_mb(self) -> float:
        """The maximum of resident memory since `forget_peak`."""
        assert self.process is not None
        return _status_kb(self.process.pid, "VmHWM") / 1024

    def forget_peak(self) -> None:
        assert self.process is not None
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def client(self, **more: Any) -> "Client":
        return Client(self.url, **more)


def _status_kb(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise KeyError(name)


def get(url: str, **more: Any) -> httpx.Response:
    """The answer to one GET on its own connection, over plain HTTP."""
    return httpx.get(url, verify=NO_CERTIFICATES, **more)


class Client(httpx.Client):
    """A client like a browser behind the proxy: https, an Origin, a cookie jar."""

    def __init__(self, url: str, host: str = "notes.example.org", **more: Any) -> None:
        headers = {"host": host, "origin": f"https://{host}", "x-forwarded-proto": "https"}
        super().__init__(base_url=url, headers={**headers, **more.pop("headers", {})},
                         timeout=30, verify=NO_CERTIFICATES, **more)  # fmt: skip

    def send(self, request: httpx.Request, **more: Any) -> httpx.Response:
        # httpx does not send Secure cookies on the plain connection, which replaces the proxy's.
        if self.jar and "cookie" not in request.headers:
            request.headers["cookie"] = "; ".join(f"{k}={v}" for k, v in self.jar.items())
        response = super().send(request, **more)
        self.cookies.clear()  # those that are not Secure: the jar alone says who one is
        for line in response.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            if "max-age=0" in line.lower() or value in {"", '""'}:
                self.jar.pop(name, None)
            else:
                self.jar[name] = value
        return response

    @property
    def jar(self) -> dict[str, str]:
        if not hasattr(self, "_jar"):
            self._jar: dict[str, str] = {}
        return self._jar

    def set_up(self) -> "Client":
        response = self.post(
            "/api/v1/setup", json={"email": ADMIN, "name": "Ada", "password": PASSWORD}
        )
        assert response.status_code == 201, response.text
        return self

    def log_in(self, email: str = ADMIN, password: str = PASSWORD) -> "Client":
        response = self.post("/api/v1/session", json={"email": email, "password": password})
        assert response.status_code == 200, response.text
        return self

    def ok(self, method: str, path: str, body: Any = None, status: int | None = None) -> Any:
        """The decoded answer to a request that must succeed."""
        response = self.request(method, path, json=body)
        wanted = response.is_success if status is None else response.status_code == status
        assert wanted, f"{method} {path}: {response.status_code} {response.text}"
        return response.json() if response.content else None

    def problem(self, status: int, method: str, path: str, **more: Any) -> dict[str, Any]:
        """The problem document of a request that must be refused with `status`."""
        response = self.request(method, path, **more)
        assert response.status_code == status, f"{response.status_code} {response.text}"
        assert response.headers["content-type"] == "application/problem+json", response.headers
        document: dict[str, Any] = response.json()
        assert document["status"] == status
        return document
