"""A password from a person, under a name that no swarm secret has.

It is available beside the swarm's secrets for one command, so that actions use it like any other.

"""

from __future__ import annotations

from dataclasses import dataclass

from queenright.ports import Ports
from queenright.ports.secrets import Password

GIVEN = "(the command's)"


@dataclass(frozen=True, slots=True)
class GivenPassword:
    """The swarm's secrets, and this one (port: ``ports.secrets.Secrets``)."""

    ports: Ports
    password: Password

    async def read(self, name: str, secret_id: str = "") -> Password:
        return self.password if name == GIVEN else await self.ports.secrets.read(name, secret_id)

    async def read_once(self, name: str) -> Password:
        return self.password if name == GIVEN else await self.ports.secrets.read_once(name)

    async def matches(self, name: str, secret_id: str, verifier: Password) -> bool:
        return await self.ports.secrets.matches(name, secret_id, verifier)

    async def aclose(self) -> None:
        """Do nothing: the swarm's secrets are closed where they were opened."""
