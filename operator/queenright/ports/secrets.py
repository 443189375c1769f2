"""The port for values of swarm secrets, which swarm gives to containers alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Password:
    """A secret's value; its text form hides it."""

    value: str = field(repr=False)

    def __str__(self) -> str:
        return "<password>"


class Secrets(Protocol):
    """Reads the value of a secret where the operator has to use it."""

    async def read(self, name: str, secret_id: str = "") -> Password:
        """Return the secret's value without surrounding whitespace (spec: database-cluster §2.3).
        With the id that was just observed, a value in memory costs no call.

        Raises UnavailableError when it can't be read now, RejectedError when there is none, and
        LookOnlyError if a read-only command would have to start a service for it.
        """
        ...

    async def read_once(self, name: str) -> Password:
        """Return the value as ``read`` does, and keep nothing of it."""
        ...

    async def matches(self, name: str, secret_id: str, verifier: Password) -> bool:
        """Return True if a SCRAM verifier was made from the secret's value. ``secret_id`` is
        swarm's id of it; only the answer is kept, for this id and verifier. Errors as above."""
        ...

    async def aclose(self) -> None: ...
