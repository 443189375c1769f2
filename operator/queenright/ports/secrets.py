"""Values of swarm secrets, which swarm gives to containers alone."""

from __future__ import annotations

from typing import Protocol

from queenright.ports.patroni import Password


class Secrets(Protocol):
    """Reads the value of a secret, when something has to be done with it."""

    async def read(self, name: str, secret_id: str = "") -> Password:
        """The secret's value without surrounding whitespace (spec: database-cluster §2.3). With the
        id that was just observed, a value that is held already costs no call.

        Raises UnavailableError when it can't be read now, RejectedError when there is none, and
        LookOnlyError where reading it takes more than a look may do.
        """
        ...

    async def read_once(self, name: str) -> Password:
        """The same, and nothing of the value is kept."""
        ...

    async def matches(self, name: str, secret_id: str, verifier: Password) -> bool:
        """Whether a SCRAM verifier was made of the secret's value. ``secret_id`` is swarm's own of
        it: only the answer is remembered, for this id and verifier. Errors as above."""
        ...

    async def aclose(self) -> None: ...
