"""Values of swarm secrets, which swarm gives to containers alone."""

from __future__ import annotations

from typing import Protocol

from queenright.ports.patroni import Password


class Secrets(Protocol):
    """Reads the value of a secret, when something has to be done with it."""

    async def read(self, name: str) -> Password:
        """The secret's value without surrounding whitespace (spec: database-cluster §2.3).

        Raises UnavailableError when it can't be read now, RejectedError when there is none.
        """
        ...

    async def aclose(self) -> None: ...
