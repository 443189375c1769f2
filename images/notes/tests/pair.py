"""Two PostgreSQL servers, one following the other, behind HAProxy: what a failover is tried on."""

import contextlib
import subprocess
import tempfile
import time

import psycopg

from tests.postgres import Postgres, free_port

# Synchronous: what was acknowledged is on both servers.
_PRIMARY = {
    "wal_level": "replica",
    "max_wal_senders": "10",
    "hot_standby": "on",
    "synchronous_commit": "remote_apply",
    "wal_keep_size": "512MB",
}


class Pair:
    """`primary` serves until `fail_over`; clients connect to `url` and never learn of it."""

    def __init__(self, major: int = 16) -> None:
        self.primary = Postgres(major, settings=dict(_PRIMARY), durable=True).create()
        self.standby = Postgres(major, settings={**_PRIMARY, "synchronous_standby_names": ""})
        self.standby.durable = True
        self._follow()
        self.port = free_port()
        self._proxy: subprocess.Popen[bytes] | None = None
        self._config = tempfile.NamedTemporaryFile("w", suffix=".cfg")  # noqa: SIM115 - removed in remove()
        self._start_proxy()

    def _follow(self) -> None:
        primary, standby = self.primary, self.standby
        standby.tool(
            "pg_basebackup", "-h", "127.0.0.1", "-p", str(primary.port), "-U", "postgres",
            "-D", str(standby.data), "-R", "-X", "stream", "--checkpoint=fast",
        )  # fmt: skip
        standby.start()
        primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        primary.sql("SELECT pg_reload_conf()")
        deadline = time.monotonic() + 20
        query = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        while primary.sql(query) != [(1,)]:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def _start_proxy(self) -> None:
        """TCP to whichever server accepts writes, as the cluster's proxies do it by REST checks.

        Without an agent to ask, the check is a login: only the standby's promotion makes `url`
        work again, since connections ask for a server that can be written to.
        """
        self._config.write(
            f"""defaults
    mode tcp
    timeout connect 2s
    timeout client 1h
    timeout server 1h
listen db
    bind 127.0.0.1:{self.port}
    option redispatch
    default-server inter 300ms fall 2 rise 1 on-marked-down shutdown-sessions
    server a 127.0.0.1:{self.primary.port} check
    server b 127.0.0.1:{self.standby.port} check backup
"""
        )
        self._config.flush()
        self._proxy = subprocess.Popen(
            ["haproxy", "-db", "-f", self._config.name],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 10
        while True:
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.url("postgres"), connect_timeout=2).close()
                return
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def fail_over(self, pause_s: float = 1.0) -> None:
        """The primary dies as in a power cut; a moment later the standby is promoted."""
        self.primary.kill()
        time.sleep(pause_s)
        self.standby.tool("pg_ctl", "-D", str(self.standby.data), "-w", "promote")

    def remove(self) -> None:
        if self._proxy is not None:
            self._proxy.terminate()
            self._proxy.wait(10)
        self._config.close()
        self.standby.remove()
        self.primary.remove()
