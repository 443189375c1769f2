"""Password hashes (argon2id). Invariant: a login costs the same whether the person exists or not.

19 MiB a hash and at most two at once: logins can neither fill the memory nor the processors.
"""

import asyncio

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

MEMORY_KIB = 19_456
MIN_CHARACTERS, MAX_CHARACTERS = 10, 1000


class Passwords:
    """Hashes and verifies, beside the event loop."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=2, memory_cost=MEMORY_KIB, parallelism=1)
        self._two = asyncio.Semaphore(2)
        self._nobody: str | None = None

    async def hash(self, password: str) -> str:
        async with self._two:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def matches(self, password: str, stored: str | None) -> bool:
        """Whether `password` is the one of `stored`; a hash of nobody's is tried for None."""
        if self._nobody is None:
            self._nobody = await self.hash("nobody has this password")
        async with self._two:
            same = await asyncio.to_thread(self._verify, stored or self._nobody, password)
        return same and stored is not None

    def _verify(self, stored: str, password: str) -> bool:
        try:
            return self._hasher.verify(stored, password)
        except (VerificationError, InvalidHashError):
            return False
