"""The ``Secrets`` port on the fake store: each secret that was ever made has a value of its own."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from queenright.ports.errors import RejectedError, UnavailableError
from queenright.ports.patroni import Password
from tests.fakes.swarm_store import SwarmStore

READ_S = 0.05


@dataclass
class FakeSecrets:
    """Typed by ``ports.secrets.Secrets``."""

    store: SwarmStore
    is_unavailable: bool = False

    async def read(self, name: str) -> Password:
        await anyio.sleep(READ_S)
        if self.is_unavailable:
            raise UnavailableError(f"secret {name} can't be read: timed out")
        if name not in self.store.secrets:
            raise RejectedError(f"there is no secret {name}")
        return Password(secret_text(self.store, name))

    async def aclose(self) -> None:
        pass


def secret_text(store: SwarmStore, name: str) -> str:
    """The value of a secret; another each time that it is made."""
    return f"value-{store.secret_values[name]}-of-{name}"
