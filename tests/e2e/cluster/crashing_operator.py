"""Operators one after the other, each killed with SIGKILL at an action boundary, until one lives.

Boundary 0 is just before the first action's call to the swarm (its intent is recorded), 1 just
after it (its outcome is not); they take turns. The real wiring, with a decorator around the real
swarm adapter. Each operator is a process of its own, forked from this one, which has imported the
program and nothing else: to import it for each takes longer than all that it does.
"""

from __future__ import annotations

import ctypes
import dataclasses
import itertools
import json
import os
import signal
import sys
from types import FrameType
from typing import Any

import anyio

from queenright.adapters.logging import configure_logging
from queenright.adapters.system_clock import boot_time_s
from queenright.engine.tenure import Tenure
from queenright.settings import read_settings
from queenright.wiring import keep_lease, open_ports, run_loop

WRITES = frozenset(
    {
        "label_node",
        "create_network",
        "remove_network",
        "create_secret",
        "create_config",
        "label_config",
        "remove_config",
        "create_service",
        "update_service",
        "remove_service",
    }
)
PR_SET_PDEATHSIG = 1
KILLED = "killed"
"""The event of the line that is printed when an operator was killed."""


class CrashingSwarm:
    """Passes everything on, and kills its own process at one boundary."""

    def __init__(self, swarm: Any, boundary: int) -> None:
        self._swarm = swarm
        self._boundary = boundary
        self._passed = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._swarm, name)
        return self._crashing(found) if name in WRITES else found

    def _crashing(self, write: Any) -> Any:
        async def call(*arguments: Any) -> None:
            self._pass_boundary()
            await write(*arguments)
            self._pass_boundary()

        return call

    def _pass_boundary(self) -> None:
        if self._passed == self._boundary:
            os.kill(os.getpid(), signal.SIGKILL)
        self._passed += 1


async def main(boundary: int) -> None:
    settings = read_settings(os.environ)
    configure_logging("json", "info")
    tenure = Tenure(boot_time_s)
    async with (
        open_ports(settings, audit=True, may_write=tenure.holds) as ports,
        keep_lease(ports, settings, tenure) as lease,
    ):
        crashing: Any = CrashingSwarm(ports.swarm, boundary)
        await run_loop(dataclasses.replace(ports, swarm=crashing), settings, lease=lease)


def run_apart(boundary: int) -> int:
    """Run an operator in a process of its own, and return its exit code (negative: a signal). A
    SIGTERM to this process is the operator's."""
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # no orphan
        anyio.run(main, boundary)
        sys.stdout.flush()
        os._exit(0)

    def pass_on(number: int, _: FrameType | None) -> None:
        os.kill(child, number)

    signal.signal(signal.SIGTERM, pass_on)
    _, status = os.waitpid(child, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return os.waitstatus_to_exitcode(status)


def run_until_one_lives() -> int:
    """Run operators as long as they are killed; return the exit code of the one that was not."""
    for boundary in itertools.cycle((0, 1)):
        code = run_apart(boundary)
        if code != -signal.SIGKILL:
            return code
        print(json.dumps({"event": KILLED}), flush=True)
    raise AssertionError


if __name__ == "__main__":
    sys.exit(run_until_one_lives())
