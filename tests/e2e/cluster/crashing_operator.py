"""The operator, killed with SIGKILL at its n-th action boundary: ``crashing_operator.py N``.

Boundary 2k is just before the k-th action's call to the swarm (its intent is recorded), 2k+1 just
after it (its outcome is not). The real wiring, with a decorator around the real swarm adapter.
"""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
from typing import Any

import anyio

from queenright.adapters.logging import configure_logging
from queenright.adapters.system_clock import boot_time_s
from queenright.engine.lease import Tenure
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


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]))
