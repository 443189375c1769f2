"""A password that a person gives, under a name that no swarm secret has.

It stands beside the swarm's secrets for one command, so that what is done with it is done as with
any other.
"""

from __future__ import annotations

from dataclasses import dataclass

from queenright.engine.world import Ports
from queenright.ports.patroni import Password

GIVEN = "(the command's)"


@dataclass(frozen=True, slots=True)
class GivenPassword:
    """Typed by ``ports.secrets.Secrets``: the swarm's secrets, and this one."""

    ports: Ports
    password: Password

    async def read(self, name: str, secret_id: str = "") -> Password:
        return self.password if name == GIVEN else await self.ports.secrets.read(name, secret_id)

    async def read_once(self, name: str) -> Password:
        return self.password if name == GIVEN else await self.ports.secrets.read_once(name)

    async def matches(self, name: str, secret_id: str, verifier: Password) -> bool:
        return await self.ports.secrets.matches(name, secret_id, verifier)

    async def aclose(self) -> None:
        """The swarm's own are closed by whoever opened them."""
