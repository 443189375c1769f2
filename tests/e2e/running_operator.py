"""The operator as a process on this machine, against the lab's manager; and what its log says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.lab.lab import Lab
from tests.support.asking import pause_s

Record = dict[str, Any]
QUICK_RESYNC_S = 2.0
"""No event reports that a task has become healthy: at the usual 15 s each deployment and rollout
would be found complete some seconds late. Not for tests of what the operator does at an event."""
PASSES = ("pass", "part")
"""Events of the log that end a pass over all documents, or over some."""
ROOT = Path(__file__).resolve().parents[2]


class RunningOperator:
    """`queenright run` with its own manifests and state directories.

    ``command`` replaces the program, for an operator that is made to crash. With ``resync_s`` it
    looks at everything that often; None is its own interval.
    """

    def __init__(
        self,
        lab: Lab,
        directory: Path,
        command: Sequence[str] = (),
        *,
        resync_s: float | None = None,
    ) -> None:
        self.manifests = directory / "manifests"
        self.state = directory / "state"
        self.manifests.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            **lab.manager.client_environment(),
            "QUEENRIGHT_MANIFESTS": str(self.manifests),
            "QUEENRIGHT_STATE_DIR": str(self.state),
            "QUEENRIGHT_LOG_FORMAT": "json",
        }
        if resync_s is not None:
            self.environment["QUEENRIGHT_RESYNC_INTERVAL"] = f"{resync_s:g}s"
        self.records: list[Record] = []
        self.lines: list[str] = []
        self._command = list(command) or [sys.executable, "-m", "queenright", "run"]
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None

    def write(self, text: str, name: str = "cluster.yaml") -> None:
        """Replace a manifest whole, as editors do."""
        fresh = self.manifests / f".{name}.new"
        fresh.write_text(text)
        fresh.replace(self.manifests / name)

    def start(self) -> RunningOperator:
        self._process = subprocess.Popen(
            self._command,
            env=self.environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()
        return self

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        for line in process.stdout:
            self.lines.append(line)
            try:
                record = json.loads(line)
            except ValueError:
                continue
            self.records.append({**record, "seen_at": time.monotonic()})

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def wait(self, timeout_s: float = 60) -> int:
        """The exit code of a process that ends by itself (negative: a signal)."""
        assert self._process
        assert self._reader
        code = self._process.wait(timeout_s)
        self._reader.join(timeout_s)
        return code

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it and give its exit code (negative: a signal)."""
        assert self._process
        if self.is_running():
            self._process.send_signal(number)
        return self.wait()

    def command(
        self, *words: str, given: str = "", timeout_s: float = 180
    ) -> subprocess.CompletedProcess[str]:
        """Run another command of the program beside it, as a person does without a terminal."""
        return subprocess.run(
            [sys.executable, "-m", "queenright", *words],
            env=self.environment,
            cwd=ROOT,
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
        )

    def __enter__(self) -> RunningOperator:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGKILL)

    # -- what the log says -------------------------------------------------------------------

    def passes(self) -> Iterator[Record]:
        return (record for record in list(self.records) if record.get("event") == "pass")

    def audit(self, phase: str = "") -> list[Record]:
        """Audit records, or those of one phase (``intent``, ``outcome``, …)."""
        found = [record for record in list(self.records) if record.get("event") == "audit"]
        return [record for record in found if not phase or record.get("phase") == phase]

    def done(self, since: int) -> list[str]:
        """The keys of the actions that were done after the first ``since`` outcomes."""
        found = self.audit("outcome")[since:]
        return [record["action"]["key"] for record in found if record["outcome"] == "done"]

    def actions(self) -> list[Record]:
        """Audit records but those of holds: the end of one is recorded a minute later."""
        return [record for record in self.audit() if record.get("phase") != "held"]

    def wait_for(self, condition: Callable[[], object], what: str, timeout_s: float = 60) -> float:
        """Seconds until the condition holds; AssertionError with the log's end when it does not."""
        began = time.monotonic()
        while not condition():
            waited_s = time.monotonic() - began
            if waited_s > timeout_s:
                tail = "".join(self.lines[-25:])
                raise AssertionError(f"waited {timeout_s:.0f} s for {what}; the log ends:\n{tail}")
            if self._process is not None and not self.is_running():
                raise AssertionError(f"the operator ended:\n{''.join(self.lines[-25:])}")
            time.sleep(pause_s(waited_s, 0.05))
        return time.monotonic() - began

    def wait_converged(self, timeout_s: float = 240, since: int = 0) -> float:
        """Wait until a pass after the first ``since`` passes finds everything as desired.

        A first deployment takes some thirty seconds on an idle machine, and several times that on
        two shared cores with another lab beside it.
        """
        return self.wait_for(
            lambda: any(found["converged"] for found in list(self.passes())[since:]),
            "a converged pass",
            timeout_s,
        )

    def edit(self, text: str, timeout_s: float = 60) -> int:
        """Replace the manifest, and wait until a pass has begun with it; returns the number of the
        log's records before that pass. One that began before the operator had read the file may end
        after the file was written."""
        changed = text != (self.manifests / "cluster.yaml").read_text()
        since = len(list(self.records))
        self.write(text)

        def begun() -> list[int]:
            told = enumerate(list(self.records)[since:], since)
            return [k for k, r in told if r.get("event") in PASSES and r.get("trigger") == "file"]

        if not changed:
            return since
        self.wait_for(begun, "a pass over the new file", timeout_s)
        return begun()[0]

    def carry_out(self, text: str, timeout_s: float = 240) -> float:
        """Replace the manifest, and wait until a pass over the new one finds everything as desired.
        Returns seconds."""
        began, since = time.monotonic(), self.edit(text, timeout_s)

        def is_carried_out() -> bool:
            told = [r for r in list(self.records)[since:] if r.get("event") in PASSES]
            return any(record.get("converged") for record in told)

        self.wait_for(is_carried_out, "a converged pass over the new file", timeout_s)
        return time.monotonic() - began

    def holds(self) -> dict[str, str]:
        """The holds of the last pass."""
        last = list(self.passes())
        return dict(last[-1].get("holds", {})) if last else {}
