"""The ``Secrets`` port on the fake store: each secret that was ever made has a value of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio

from queenright.core.postgres.scram import is_password_of
from queenright.ports.errors import RejectedError, UnavailableError
from queenright.ports.secrets import Password
from tests.fakes.swarm_store import SwarmStore

READ_S = 0.05


@dataclass
class FakeSecrets:
    """Typed by ``ports.secrets.Secrets``."""

    store: SwarmStore
    is_unavailable: bool = False
    verdicts: dict[tuple[str, str], bool] = field(default_factory=dict)

    async def read(self, name: str, secret_id: str = "") -> Password:
        await anyio.sleep(READ_S)
        if self.is_unavailable:
            raise UnavailableError(f"secret {name} can't be read: timed out")
        if name not in self.store.secrets:
            raise RejectedError(f"there is no secret {name}")
        return Password(secret_text(self.store, name))

    async def read_once(self, name: str) -> Password:
        return await self.read(name)

    async def matches(self, name: str, secret_id: str, verifier: Password) -> bool:
        key = (secret_id, verifier.value)
        if key not in self.verdicts:
            password = await self.read_once(name)
            self.verdicts[key] = is_password_of(verifier.value, password.value)
        return self.verdicts[key]

    async def aclose(self) -> None:
        pass


def secret_text(store: SwarmStore, name: str) -> str:
    """The value of a secret; another each time that it is made."""
    if name in store.secret_texts:
        return store.secret_texts[name]
    return f"value-{store.secret_values[name]}-of-{name}"
