"""Runs Swift's servers until the container is stopped: the stores, the S3 server, the upkeep.

Three processes and this one, which ends all of them when one ends or a signal comes: what is stored
is on the disk before it is confirmed. The stores share a process, each of which would take 60 MB.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from .files import DEVICE, STORES, write_files
from .settings import DATA, SECRETS, Settings, SettingsError, check_volume, read_settings

STARTS_S = 90.0
ENDS_S = 10.0


def main() -> NoReturn:
    """The image's entry point."""
    sys.exit(run(os.environ, SECRETS, DATA))


def run(environ: Mapping[str, str], secrets: Path, data: Path) -> int:
    """Serve, and return the exit status: 1 with one FATAL line for what is wrong, 0 after a
    signal."""
    os.umask(0o077)
    try:
        settings = read_settings(environ, secrets, data)
        check_volume(settings.data)
    except SettingsError as error:
        print(f"FATAL: {error}", file=sys.stderr)
        return 1
    (settings.data / DEVICE).mkdir(exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="swift-"))
    write_files(settings, home)
    return serve(settings, home)


def serve(settings: Settings, home: Path) -> int:
    """Run the processes, and return the exit status when they have ended."""
    running: list[subprocess.Popen[bytes]] = []

    def stop(_number: int, _frame: FrameType | None) -> None:
        end(running)
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    begin(running, "stores", str(home))
    certificate = [str(settings.certificate)] if settings.certificate else []
    if not answers(running, STORES.values()):
        return ended(running, "the stores have not begun to listen")
    begin(
        running,
        "proxy",
        str(home),
        settings.bucket,
        settings.account,
        str(settings.port),
        *certificate,
    )
    if not answers(running, [settings.port]):
        return ended(running, "the S3 server has not begun to listen")
    begin(running, "upkeep", str(home))
    print(f"bucket {settings.bucket} is served at port {settings.port}", flush=True)
    while all(one.poll() is None for one in running):
        time.sleep(0.5)
    return ended(running, "a process of the server has ended")


def begin(running: list["subprocess.Popen[bytes]"], *words: str) -> None:
    line = [sys.executable, "-m", "queenright_repository.swift", *words]
    running.append(subprocess.Popen(line, stdin=subprocess.DEVNULL))


def answers(running: Sequence["subprocess.Popen[bytes]"], ports: Sequence[int]) -> bool:
    """Wait for the ports, and return True if all are listened at."""
    deadline = time.monotonic() + STARTS_S
    waiting = [*ports]
    while waiting and time.monotonic() < deadline and all(one.poll() is None for one in running):
        try:
            socket.create_connection(("127.0.0.1", waiting[0]), 2).close()
            waiting.pop(0)
        except OSError:
            time.sleep(0.1)
    return not waiting


def ended(running: Sequence["subprocess.Popen[bytes]"], why: str) -> int:
    print(f"FATAL: {why}", file=sys.stderr, flush=True)
    end(running)
    return 1


def end(running: Sequence["subprocess.Popen[bytes]"]) -> None:
    """End the processes, the S3 server before the stores."""
    for one in reversed(running):
        one.terminate()
    for one in running:
        try:
            one.wait(ENDS_S)
        except subprocess.TimeoutExpired:
            one.kill()
