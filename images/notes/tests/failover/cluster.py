"""A primary and its synchronous standby behind HAProxy, which checks their roles over HTTP.

The proxy's timings are the database cluster's (spec: database-cluster, proxy settings: check every
3 s, down after 3, up after 2, sessions of a server that is down are shut). Invariant: never more
than one role endpoint says primary.
"""

import contextlib
import http.server
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg

from tests.postgres import Postgres, free_port

_SETTINGS = {
    "wal_level": "replica",
    "hot_standby": "on",
    "synchronous_commit": "on",
    "wal_keep_size": "256MB",
    "wal_log_hints": "on",
}
_PROXY = """global
    maxconn 500
defaults
    mode tcp
    timeout connect 5s
    timeout client 30m
    timeout server 30m
    timeout check 3s
listen primary
    bind 127.0.0.1:{port}
    option httpchk GET /primary
    http-check expect status 200
    default-server inter 3s fall 3 rise 2 on-marked-down shutdown-sessions
{servers}
"""


class RoleEndpoint:
    """Answers 200 while its server is the primary, as an agent on the server would."""

    def __init__(self, cluster: "Cluster", server: Postgres) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200 if cluster.leads(server) else 503)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._httpd.server_address[1]
        threading.Thread(target=self._httpd.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._httpd.shutdown()
        self._httpd.server_close()


class Cluster:
    """Two servers; `leader` takes writes, `follower` has all acknowledged transactions."""

    def __init__(self, major: int = 16) -> None:
        self.leader = Postgres(major, settings=dict(_SETTINGS), durable=True)
        self.follower = Postgres(major, settings=dict(_SETTINGS), durable=True)
        self.port = free_port()
        self._servers = (self.leader, self.follower)

    @contextlib.contextmanager
    def serving(self) -> Iterator["Cluster"]:
        """Starts both servers and the proxy; stops them at the end of the block in any case."""
        with contextlib.ExitStack() as stack:
            for server in self._servers:
                stack.callback(server.remove)
            self.leader.create()
            self._join(self.follower)
            endpoints = [RoleEndpoint(self, server) for server in self._servers]
            for endpoint in endpoints:
                stack.callback(endpoint.close)
            stack.enter_context(self._proxy(endpoints))
            yield self

    def leads(self, server: Postgres) -> bool:
        """True if `server` is the agreed leader and accepts writes."""
        if server is not self.leader:
            return False
        with contextlib.suppress(psycopg.Error):
            conn = psycopg.connect(server.url("postgres"), connect_timeout=2, autocommit=True)
            with conn:
                return conn.execute("SELECT NOT pg_is_in_recovery()").fetchone() == (True,)
        return False

    def proxied(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def direct(self, database: str) -> str:
        """A URL with both servers: the client library uses the one that accepts writes."""
        ports = sorted((self.leader.port, self.follower.port))
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        return f"postgresql://postgres@{hosts}/{database}?target_session_attrs=read-write"

    def switch_over(self) -> None:
        """Switches over as planned: the leader stops and returns as a standby on its address."""
        old = self.leader
        old.tool("pg_ctl", "-D", str(old.data), "-m", "fast", "-w", "stop")
        old.process = None
        self._promote()
        (old.data / "standby.signal").touch()
        self._start_following(old)

    def cut_power(self) -> None:
        """Kills the leader at once, and rebuilds it as a standby after the other was promoted."""
        old = self.leader
        self.cut_power_without_rebuilding()
        self._rebuild(old)

    def cut_power_without_rebuilding(self) -> None:
        """Kills the leader at once, and does not rebuild it."""
        self.leader.kill()
        self._promote()

    def freeze(self, seconds: float) -> None:
        """Stops the leader with its connections open; later it is fenced permanently."""
        old = self.leader
        _signal_all(old, signal.SIGSTOP)
        try:
            self._promote()
            time.sleep(seconds)
        finally:
            _signal_all(old, signal.SIGKILL)
        assert old.process is not None
        old.process.wait(10)
        old.process = None
        self._rebuild(old)

    def _promote(self) -> None:
        self.leader, self.follower = self.follower, self.leader
        self.leader.tool("pg_ctl", "-D", str(self.leader.data), "-w", "promote")

    def _rebuild(self, server: Postgres) -> None:
        shutil.rmtree(server.data)
        self._join(server)

    def _join(self, server: Postgres) -> None:
        server.tool(
            "pg_basebackup", "-h", "127.0.0.1", "-p", str(self.leader.port), "-U", "postgres",
            "-D", str(server.data), "-X", "stream", "-R", "--checkpoint=fast",
        )  # fmt: skip
        self._start_following(server)

    def _start_following(self, server: Postgres) -> None:
        # The follower has no synchronous standby: promoted, it must not wait for the lost server.
        conninfo = f"host=127.0.0.1 port={self.leader.port} user=postgres"
        with (server.data / "postgresql.auto.conf").open("a") as conf:
            conf.write(f"synchronous_standby_names = ''\nprimary_conninfo = '{conninfo}'\n")
        server.start()
        self.leader.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.leader.sql("SELECT pg_reload_conf()")
        deadline = time.monotonic() + 30
        query = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        while self.leader.sql(query) != [(1,)]:
            assert time.monotonic() < deadline, "the follower does not follow"
            time.sleep(0.05)

    @contextlib.contextmanager
    def _proxy(self, endpoints: list[RoleEndpoint]) -> Iterator[None]:
        lines = "\n".join(
            f"    server s{n} 127.0.0.1:{server.port} maxconn 200 check port {endpoint.port}"
            for n, (server, endpoint) in enumerate(zip(self._servers, endpoints, strict=True))
        )
        with tempfile.NamedTemporaryFile("w", prefix="notes-haproxy-", suffix=".cfg") as config:
            config.write(_PROXY.format(port=self.port, servers=lines))
            config.flush()
            running = subprocess.Popen(
                ["haproxy", "-db", "-f", config.name],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                self._await_primary()
                yield
            finally:
                running.terminate()
                running.wait(10)

    def _await_primary(self) -> None:
        deadline = time.monotonic() + 20
        while True:
            try:
                psycopg.connect(self.proxied("postgres"), connect_timeout=2).close()
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, "the proxy finds no primary"
                time.sleep(0.1)
            else:
                return


def _signal_all(server: Postgres, number: int) -> None:
    """Sends a signal to a server and all its backends."""
    assert server.process is not None
    top = server.process.pid
    children = Path(f"/proc/{top}/task/{top}/children").read_text().split()
    # The parent first: it must not see its children stop, or start new ones.
    for pid in (top, *map(int, children)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
