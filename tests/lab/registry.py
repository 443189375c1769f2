"""The lab's image registry: Debian's docker-registry on the host's LAN address.

What is pushed here survives ``lab-down``; only ``lab-purge`` removes it.
"""

import contextlib
import fcntl
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.lab import network, packages, processes
from tests.lab.preflight import check_machine
from tests.lab.processes import ProcessRecord
from tests.lab.settings import REGISTRY_PORT, LabError, LabSettings

_START_TIMEOUT_S = 10.0
_STOP_GRACE_S = 5.0


def ensure_registry(settings: LabSettings | None = None) -> str:
    """Bring up the LAN and the registry unless they run; returns `host:port` of the registry."""
    settings = settings or LabSettings.from_environment()
    packages.ensure_programs()
    check_machine()
    with exclusively(settings):
        prepare_directory(settings)
        return start(settings)


def prepare_directory(settings: LabSettings) -> None:
    """Claim LAB_DIR for this lab; LabError when it holds another."""
    conflict = settings.conflict()
    if conflict:
        raise LabError(conflict)
    settings.remember()


def start(settings: LabSettings) -> str:
    """Start the registry, for a caller that holds the lock."""
    network.ensure_lan(settings)
    pid_file = _pid_file(settings)
    record = ProcessRecord.read(pid_file)
    if record is not None and record.is_running() and _answers(settings):
        return settings.registry
    processes.end(pid_file, _STOP_GRACE_S)
    directory = settings.directory / "registry"
    directory.mkdir(parents=True, exist_ok=True)
    config = settings.directory / "registry.json"  # JSON is YAML, which the registry reads
    config.write_text(json.dumps(_config(settings, directory), indent=1))
    log = settings.directory / "registry.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["docker-registry", "serve", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    record = ProcessRecord.of(process.pid)
    if record is not None:
        record.write(pid_file)
    deadline = time.monotonic() + _START_TIMEOUT_S
    while not _answers(settings):
        if process.poll() is not None or time.monotonic() > deadline:
            raise LabError(f"the registry did not start; {log} says:\n{log.read_text()[-2000:]}")
        time.sleep(0.02)
    return settings.registry


def stop(settings: LabSettings) -> None:
    processes.end(_pid_file(settings), _STOP_GRACE_S)


def is_running(settings: LabSettings) -> bool:
    record = ProcessRecord.read(_pid_file(settings))
    return record is not None and record.is_running()


@contextlib.contextmanager
def exclusively(settings: LabSettings) -> Iterator[None]:
    """Hold the lab's lock: one command at a time changes a lab; the next one waits."""
    settings.directory.mkdir(parents=True, exist_ok=True)
    with (settings.directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _pid_file(settings: LabSettings) -> Path:
    return settings.pid_directory / "registry.json"


def _answers(settings: LabSettings) -> bool:
    try:
        socket.create_connection((settings.gateway, REGISTRY_PORT), timeout=1).close()
    except OSError:
        return False
    return True


def _config(settings: LabSettings, storage: Path) -> dict[str, object]:
    return {
        "version": "0.1",
        "log": {"level": "warn", "accesslog": {"disabled": True}},
        "storage": {
            "filesystem": {"rootdirectory": str(storage)},
            "delete": {"enabled": True},
        },
        "http": {"addr": settings.registry},
    }
