"""Password hashes (argon2id). Invariant: a login costs the same whether the account exists or not.

A hash needs 19 MiB, and at most two run at once: logins can exhaust neither memory nor processors.
They have their own threads, so that no other work can block signing in.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

MEMORY_KIB = 19_456
MIN_CHARACTERS, MAX_CHARACTERS = 10, 1000


class Passwords:
    """Hashes and verifies passwords in threads, outside the event loop."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=2, memory_cost=MEMORY_KIB, parallelism=1)
        self._two = ThreadPoolExecutor(2, "password")
        self._nobody: str | None = None

    async def hash(self, password: str) -> str:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._two, self._hasher.hash, password)

    async def matches(self, password: str, stored: str | None) -> bool:
        """True if `password` matches `stored`; False for None, after verifying a dummy hash."""
        if self._nobody is None:
            self._nobody = await self.hash("nobody has this password")
        loop = asyncio.get_running_loop()
        same = await loop.run_in_executor(self._two, self._verify, stored or self._nobody, password)
        return same and stored is not None

    def close(self) -> None:
        """Ends the threads after the hashes that they are computing."""
        self._two.shutdown(wait=False, cancel_futures=True)

    def _verify(self, stored: str, password: str) -> bool:
        try:
            return self._hasher.verify(stored, password)
        except (VerificationError, InvalidHashError):
            return False
