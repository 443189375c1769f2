"""The server of a drill: PostgreSQL on restored data, for as long as the drill looks at it.

It has a configuration of its own in a directory that nobody else may enter, where its socket is
too, so that no password is needed. Invariant: it listens on no TCP port, archives nothing, and
starts no worker that would connect elsewhere.
"""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .base_backup import SUPERUSER

LOOKS_S = 0.5
ENDS_S = 60.0
MOST_DAMAGE = 300
_SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "archive_mode": "off",
    "recovery_target_timeline": "latest",
    "hot_standby": "off",
    "wal_level": "logical",
    "max_logical_replication_workers": "0",
    "max_parallel_workers": "0",
    "max_wal_senders": "0",
    "autovacuum": "off",
    "fsync": "off",
    "full_page_writes": "off",
    "shared_preload_libraries": "",
    "logging_collector": "off",
    "lc_messages": "C",
}
"""`wal_level` lets the server begin with logical slots. A subscription's worker would connect to
its publisher, so there are none; nor is there a server on these data after the drill."""
_OPTIONS = " ".join(
    f"-c {name}={value}"
    for name, value in {
        "default_transaction_read_only": "off",
        "statement_timeout": "0",
        "lock_timeout": "0",
        "search_path": "pg_catalog",
        "session_preload_libraries": "",
    }.items()
)
"""They go before what roles and databases of the restored server set for their sessions."""
_KEPT = {
    "max_prepared_xacts": "max_prepared_transactions",
    "max_locks_per_xact": "max_locks_per_transaction",
    "max_connections": "max_connections",
}
"""Words of `pg_controldata` -> parameters without whose values a recovery may end."""
_WAL = re.compile(r"^(WAL \S+): is not restored: (.+)$", re.MULTILINE)
_FATAL = re.compile(r"(?:FATAL|PANIC): +(.+)$", re.MULTILINE)
_NOT_YET = (
    "the database system is starting up",
    "the database system is not accepting connections",
)
"""The server's answers to whoever asks before it has recovered."""


class DrillServerError(Exception):
    """The server did not come up, or did not answer; the message is one line."""


@dataclass
class DrillServer:
    """PostgreSQL on `data`; `programs` is its directory, None where the path has it."""

    data: Path
    scratch: Path
    programs: Path | None
    restore_command: str
    process: "subprocess.Popen[bytes] | None" = field(default=None)

    @property
    def home(self) -> Path:
        """The directory of its socket, its configuration and its log."""
        return self.scratch / "drill"

    @property
    def log(self) -> str:
        return (self.home / "log").read_text(encoding="utf-8", errors="replace")

    @contextmanager
    def recovered(self) -> Iterator[None]:
        """Start the server, wait until it has replayed all WAL, and end it afterwards."""
        self.home.mkdir(mode=0o700)
        (self.home / "hba").write_text(f"local all {SUPERUSER} trust\n", encoding="utf-8")
        (self.home / "ident").touch()
        (self.home / "conf").write_text(self._configuration(), encoding="utf-8")
        line = [self._program("postgres"), "-D", str(self.data)]
        line.append(f"-cconfig_file={self.home / 'conf'}")
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                line,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.home,
                start_new_session=True,
            )
        try:
            self._await()
            yield
        finally:
            self._end()

    def _configuration(self) -> str:
        own = {
            "unix_socket_directories": str(self.home),
            "hba_file": str(self.home / "hba"),
            "ident_file": str(self.home / "ident"),
            "restore_command": self.restore_command,
        }
        found = {**_SETTINGS, **own, **self._kept()}
        quoted = {name: text.replace("'", "''") for name, text in found.items()}
        return "".join(f"{name} = '{text}'\n" for name, text in quoted.items())

    def _kept(self) -> dict[str, str]:
        """Return the parameters' values in the control file."""
        told = self._run("pg_controldata", str(self.data))
        if told.returncode != 0:
            raise DrillServerError(f"what was restored is no data directory ({_line(told.stderr)})")
        values = re.findall(r"^(\w+) setting: +([0-9]+)$", told.stdout, re.MULTILINE)
        return {_KEPT[word]: number for word, number in values if word in _KEPT}

    def _await(self) -> None:
        while self._run("pg_isready", "-q", "-h", str(self.home)).returncode != 0:
            if self.process is None or self.process.poll() is not None:
                raise DrillServerError(self.why_ended())
            time.sleep(LOOKS_S)

    def why_ended(self) -> str:
        """Return why the server ended in the middle, out of its log."""
        log = self.log
        if "signal 9" in log or (self.process and self.process.returncode == -signal.SIGKILL):
            return (
                "the kernel killed PostgreSQL, most likely for its memory; raise "
                "spec.backup.drill.memory"
            )
        if told := _WAL.findall(log):
            name, why = told[-1]
            return f"{name} is not restored: {why}"
        if fatal := [why for why in _FATAL.findall(log) if why not in _NOT_YET]:
            return f"PostgreSQL did not recover: {fatal[0]}"
        return f"PostgreSQL did not recover: {_line(log) or 'it gave no reason'}"

    def row(self, statement: str, database: str = "postgres") -> list[str]:
        """Return the fields of a statement's one row; DrillServerError."""
        return self._ask(statement, database).rstrip("\n").split("\t")

    def has(self, database: str) -> bool:
        """Return True if there is a database of this name."""
        known = self._ask("SELECT datname FROM pg_catalog.pg_database", "postgres")
        return database in known.splitlines()

    def _ask(self, statement: str, database: str) -> str:
        told = self._run("psql", "-XAtq", "-F\t", *self._reach, "-d", database, "-c", statement)
        if told.returncode != 0:
            if self.process is not None and self.process.poll() is not None:
                raise DrillServerError(self.why_ended())
            raise DrillServerError(f"database {database} does not answer ({_line(told.stderr)})")
        return told.stdout

    def damage(self) -> str:
        """Return the first damage that `pg_amcheck` finds; empty where there is none."""
        told = self._run("pg_amcheck", "--all", "--install-missing", *self._reach)
        if told.returncode == 0:
            return ""
        if self.process is not None and self.process.poll() is not None:
            raise DrillServerError(self.why_ended())
        text = " ".join((told.stdout.strip() or told.stderr.strip()).split())
        if told.returncode != 2:
            raise DrillServerError(f"pg_amcheck could not check ({_line(told.stderr)})")
        return text[:MOST_DAMAGE]

    @property
    def _reach(self) -> tuple[str, ...]:
        return "-h", str(self.home), "-U", SUPERUSER, "--no-password"

    def _program(self, name: str) -> str:
        return str(self.programs / name) if self.programs is not None else name

    def _run(self, name: str, *words: str) -> "subprocess.CompletedProcess[str]":
        kept = {key: text for key, text in os.environ.items() if not key.startswith("PG")}
        return subprocess.run(
            [self._program(name), *words],
            env={**kept, "LC_ALL": "C", "PGOPTIONS": _OPTIONS},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )

    def _end(self) -> None:
        """End the server at once: nobody needs its data any more."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGQUIT)
        try:
            self.process.wait(ENDS_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def _line(text: str) -> str:
    """Return the last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
