"""A real HAProxy before three stub members, configured as the operator configures it."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from queenright.core.kinds.load import load
from queenright.core.kinds.postgres_cluster.desired.haproxy_cfg import (
    ROUTE_LUA_FILE,
    STATE_FILE,
    Way,
    render_haproxy_cfg,
)
from queenright.core.kinds.postgres_cluster.desired.route_lua import render_route_lua
from queenright.core.kinds.postgres_cluster.patroni.config_keys import ROUTE_KEY
from tests.e2e.stub_members import StubMember
from tests.lab.packages import ensure_programs
from tests.support.ports import free_ports

IMAGE = Path(__file__).resolve().parents[2] / "images/proxy"
DOCUMENT = """\
apiVersion: queenright/v1alpha1
kind: PostgresCluster
metadata: {{name: main}}
spec:
  image: member
  lanSubnet: 127.0.0.0/8
  ports: {{postgresql: {postgresql}, restApi: {rest}}}
  members:
    - {{name: member-1, node: node1, address: 127.0.0.2, failoverPriority: 3}}
    - {{name: member-2, node: node2, address: 127.0.0.3}}
    - {{name: member-3, node: node3, address: 127.0.0.4}}
  proxies:
    image: proxy
    ports: {{primary: {primary}, replicas: {replicas}, statistics: {statistics}}}
    check: {{interval: {interval}}}
"""


class Proxy:
    """HAProxy with three members; ``member-1`` is up when it starts, unless ``unchecked``. In the
    middle of a ``change`` of the port of PostgreSQL only the first still listens on the old one."""

    def __init__(self, directory: Path, interval: str = "3s", *, change: bool = False) -> None:
        self.directory = directory
        self.ports = dict(
            zip(
                ("postgresql", "rest", "primary", "replicas", "statistics"),
                free_ports(5),
                strict=True,
            )
        )
        document = load({"c.yaml": DOCUMENT.format(**self.ports, interval=interval)}).documents[0]
        cluster = document.resource
        way = Way(self.ports["postgresql"], self.ports["rest"])
        moved = {**self.ports, "postgresql": free_ports(1)[0]} if change else self.ports
        self.ways = sorted({way, Way(moved["postgresql"], moved["rest"])})
        self.members = [
            StubMember(member.name, str(member.address), moved if index else self.ports)
            for index, member in enumerate(cluster.spec.members)
        ]
        self.log = ""
        self._process: subprocess.Popen[str] | None = None
        self._config, self._state = directory / "haproxy.cfg", directory / "haproxy.state"
        script = directory / "queenright.lua"
        script.write_text(render_route_lua(cluster, has_several_ways=change))
        addresses = {m.name: m.address for m in self.members}
        text = render_haproxy_cfg(cluster, addresses, self.ways)
        text = text.replace(ROUTE_LUA_FILE, str(script)).replace(STATE_FILE, str(self._state))
        self._config.write_text(text)

    def start(self, *, unchecked: bool = False) -> None:
        """Start with the entry point's own state file when ``unchecked``: all servers down."""
        if unchecked:
            files = (IMAGE / "proxy-entrypoint", self._config, self._state, IMAGE)
            command = ["sh", *map(str, files)]
        else:
            self._state.write_text(self._first_is_up())
            command = [str(shutil.which("haproxy")), "-db", "-f", str(self._config)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        threading.Thread(target=self._read, args=(self._process,), daemon=True).start()
        eventually(lambda: self.up() is not None, 20)

    def _first_is_up(self) -> str:
        """The state file in which the way to ``member-1`` is up, and no other server."""
        listener = self._config.read_text().partition("listen primary")[2].partition("listen ")[0]
        servers = [line.split() for line in listener.splitlines() if " server " in line]
        lines = ["1\n# be_id be_name srv_id srv_name ...\n"]
        for number, (_, name, where, *_) in enumerate(servers, start=1):
            address, _, port = where.partition(":")
            first = self.members[0]
            is_up = (address, int(port)) == (first.address, first.ports["postgresql"])
            state, health = (2, 4) if is_up else (0, 0)
            lines.append(
                f"2 primary {number} {name} {address} {state} 0 1 1 0 1 0 {health} 6 0 0 0"
            )
            lines.append(f" - {port} -\n")
        return "".join(lines)

    def signal(self) -> None:
        """Send the signal by which a container is stopped."""
        assert self._process
        self._process.send_signal(signal.SIGTERM)

    def stop(self) -> int | None:
        """Stop it unless it is stopped already; returns the exit status."""
        if self._process is None:
            return None
        if self._process.poll() is None:
            self.signal()
        status, self._process = self._process.wait(20), None
        return status

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        for line in process.stdout:
            self.log += line

    def said(self, words: str) -> list[str]:
        """The lines of the log with those words: HAProxy 2.6 writes a script's to both outputs."""
        lines = self.log.splitlines()
        return [line for line in lines if words in line and not line.startswith("[")]

    def publish(self, hint: str | None) -> None:
        """The operator's hint, as every member shows it."""
        for member in self.members:
            member.config = json.dumps({"ttl": 30, **({ROUTE_KEY: hint} if hint else {})})

    def hint(self, hint: str) -> None:
        """Publish it, and wait until the proxy has said that it knows it."""
        self.publish(hint)
        eventually(lambda: f"hint: {hint}" in self.log, 10)

    def up(self) -> list[str] | None:
        """The members that are up on the read-write port; None when HAProxy does not answer."""
        url = f"http://127.0.0.1:{self.ports['statistics']}/;csv"
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                rows = list(csv.DictReader(io.StringIO(answer.read().decode().lstrip("# "))))
        except OSError:
            return None
        return [
            row["svname"].partition(".")[0]
            for row in rows
            if row["pxname"] == "primary"
            and row["svname"].startswith("member-")
            and row["status"].startswith("UP")
        ]

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.ports["primary"]), timeout=2)

    def reached(self) -> str:
        """The name of the member that a new client gets, empty when it gets none."""
        try:
            with self.connect() as client:
                return client.recv(64).decode()
        except OSError:
            return ""

    @contextmanager
    def watched(self) -> Iterator[list[list[str]]]:
        """The different lists of servers that were up, in their order."""
        seen: list[list[str]] = []
        ended = threading.Event()

        def watch() -> None:
            while not ended.is_set():
                now = self.up()
                if now is not None and seen[-1:] != [now]:
                    seen.append(now)
                time.sleep(0.005)

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield seen
        finally:
            ended.set()
            watcher.join()


Started = Callable[..., Proxy]
AT_ONCE_S = 0.3
"""Most that a proxy may take for what it does at once."""
AT_FIRST = -10


@contextmanager
def proxies(directory: Path, *, change: bool) -> Iterator[Started]:
    """Yield a function that starts proxies whose ``member-1`` leads, with the contract's checks
    unless others are given; they are stopped at the end."""
    ensure_programs({"haproxy": "haproxy"})
    made: list[Proxy] = []

    def start(interval: str = "3s") -> Proxy:
        proxy = Proxy(directory, interval, change=change)
        made.append(proxy)
        for member in proxy.members:
            member.start()
        proxy.members[0].lead()
        proxy.start()
        assert proxy.up() == ["member-1"]
        return proxy

    yield start
    for proxy in made:
        proxy.stop()
        for member in proxy.members:
            member.stop()


@contextmanager
def promptly() -> Iterator[None]:
    """Give this process priority: tenths of a second are the subject here, so the stubs and HAProxy
    come before what other tests do on this machine. Threads and programs inherit it."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, AT_FIRST)
    yield
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, before)


def eventually(condition: Callable[[], object], timeout_s: float) -> float:
    """Seconds until the condition held; AssertionError after ``timeout_s``."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < timeout_s, f"not within {timeout_s} s"
        time.sleep(0.005)
    return time.monotonic() - began
