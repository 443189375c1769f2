"""Compare roles' passwords with their secrets, within a pass's time for it.

Invariant: the comparisons of a pass, of all clusters together, run one after the other, and none
begins once ``JUDGE_S`` are spent: the others are "not yet", and the next pass goes on with them,
because results are remembered.
"""

from __future__ import annotations

import dataclasses

import anyio

from queenright.core.observed import Live
from queenright.core.postgres.catalog import Role
from queenright.core.swarm.objects import Secret
from queenright.ports.errors import LookOnlyError, PortError
from queenright.ports.secrets import Password, Secrets

JUDGE_S = 2.0
"""The time for comparisons; a first one takes a second or two if its secret is not mounted."""


class Judging:
    """The comparisons of one pass."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._lock = anyio.Lock()
        self._spent_s = 0.0

    async def judged(self, role: Role, secret: Live[Secret], verifier: Password) -> Role:
        """Return the role with the result of its comparison, or the reason for none."""
        async with self._lock:
            if self._spent_s >= JUDGE_S:
                return dataclasses.replace(role, verifier="not yet")
            began = anyio.current_time()
            try:
                is_same = await self._secrets.matches(secret.value.name, secret.id, verifier)
            except LookOnlyError as error:
                return dataclasses.replace(role, verifier="not here", why_unread=str(error))
            except PortError as error:
                return dataclasses.replace(role, verifier="not known", why_unread=str(error))
            finally:
                self._spent_s += anyio.current_time() - began
        return dataclasses.replace(role, verifier="as desired" if is_same else "another")
