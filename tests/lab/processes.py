"""Decides whether a recorded process is still the one that we started, and only then signals it.

A pid alone proves nothing: pids are used again, and a machine boots again. A record therefore
holds the start time and the boot as well, and a signal goes through a pidfd that was opened
before the start time was compared. No process is ever looked up by name.
"""

import contextlib
import json
import os
import select
import signal
from dataclasses import asdict, dataclass
from pathlib import Path

_STATE, _START_TICKS = 0, 19  # fields of /proc/PID/stat, counted after the command's name
_DEAD_STATES = "ZX"


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """One process, distinguished from any later one with the same pid."""

    pid: int
    start_ticks: int
    boot_id: str

    @classmethod
    def of(cls, pid: int) -> "ProcessRecord | None":
        """The record of a running process, None when there is none with this pid."""
        ticks = _start_ticks(pid)
        return None if ticks is None else cls(pid, ticks, _boot_id())

    @classmethod
    def read(cls, path: Path) -> "ProcessRecord | None":
        """The record in a pid file, None when there is none or it cannot be read."""
        try:
            raw = json.loads(path.read_text())
            return cls(int(raw["pid"]), int(raw["start_ticks"]), str(raw["boot_id"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self)))

    def is_running(self) -> bool:
        _reap(self.pid)
        return self.boot_id == _boot_id() and _start_ticks(self.pid) == self.start_ticks

    def signal(self, number: signal.Signals) -> bool:
        """Send a signal to this very process; False when it is gone."""
        if self.boot_id != _boot_id():
            return False
        try:
            descriptor = os.pidfd_open(self.pid)
        except OSError:
            return False
        try:
            if _start_ticks(self.pid) != self.start_ticks:
                return False
            signal.pidfd_send_signal(descriptor, number)
        except ProcessLookupError:
            return False
        else:
            return True
        finally:
            os.close(descriptor)

    def wait(self, timeout_s: float) -> bool:
        """Wait until the process has ended; False when it still runs after `timeout_s`."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except OSError:
            return True
        try:
            if not self.is_running():
                return True
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            ended = bool(poll.poll(timeout_s * 1000))
        finally:
            os.close(descriptor)
        _reap(self.pid)
        return ended


def end(path: Path, grace_s: float) -> None:
    """End the process of a pid file, if it is still the one recorded, and remove the file."""
    record = ProcessRecord.read(path)
    if record is not None and record.is_running():
        record.signal(signal.SIGTERM)
        if not record.wait(grace_s):
            record.signal(signal.SIGKILL)
            record.wait(grace_s)
    path.unlink(missing_ok=True)


def children(pid: int) -> list[int]:
    """Direct children of a process."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == pid:
                    found.append(int(entry.name))
    return found


def _start_ticks(pid: int) -> int | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[_STATE] in _DEAD_STATES else int(fields[_START_TICKS])


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _reap(pid: int) -> None:
    """Collect the process if it is a dead child of ours; it would stay a zombie otherwise."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
