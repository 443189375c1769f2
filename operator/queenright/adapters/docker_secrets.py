"""Values of swarm secrets: the real adapter behind ``ports.secrets.Secrets``."""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.to_thread

from queenright.adapters.mounted_secrets import mounted_secret
from queenright.ports.errors import UnavailableError
from queenright.ports.patroni import Password

CONCURRENT_READS = 2


class DockerSecrets:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._limiter = anyio.CapacityLimiter(CONCURRENT_READS)

    async def read(self, name: str) -> Password:
        found = await anyio.to_thread.run_sync(
            mounted_secret, self._directory, name, limiter=self._limiter
        )
        if found is None:
            raise UnavailableError(
                f"secret {name} is not at {self._directory / name}: mount it into the operator's "
                "service"
            )
        return found

    async def aclose(self) -> None: ...
