"""Counts the bytes that a replica holds for its clients, so that slow ones do not fill its memory.

One budget for all of them: nobody knows which client will be slow. Invariant: all bytes that are
taken are given back, also where the client is gone.
"""

from dataclasses import dataclass

from starlette.requests import Request

from notes.http.problems import Problem, unavailable

ANONYMOUS_BYTES = 64 * 1024  # a body of somebody who is not signed in: a password, a name
FREE_BYTES = 1024 * 1024  # of each other body: only what is above counts
BODIES_BYTES = 96 * 1024 * 1024
DOWNLOADS_BYTES = 64 * 1024 * 1024


@dataclass
class Buffers:
    """The bytes that are left to be held."""

    left: int

    def has(self, count: int) -> bool:
        """True if that many bytes are left."""
        return count <= self.left

    def take(self, count: int) -> bool:
        """Takes that many bytes if they are left."""
        if not self.has(count):
            return False
        self.left -= count
        return True

    def give(self, count: int) -> None:
        """Gives back what was taken."""
        self.left += count


BODIES = Buffers(BODIES_BYTES)
DOWNLOADS = Buffers(DOWNLOADS_BYTES)


class Body:
    """The body of a request in memory, for as long as a `with` block lasts."""

    def __init__(self, request: Request, most: int, *, known: bool) -> None:
        """`most` is the number of bytes that it may have, `known` whether somebody is signed in."""
        self._request, self.most = request, most if known else min(most, ANONYMOUS_BYTES)
        self._taken = 0

    def __enter__(self) -> "Body":
        return self

    def __exit__(self, *_: object) -> None:
        BODIES.give(self._taken)

    async def read(self, too_long: Problem) -> bytearray:
        """Returns the body. Raises `too_long`, or a 503 where the bodies of all requests together
        have too many bytes."""
        content = bytearray()
        async for part in self._request.stream():
            content += part
            if len(content) > self.most:
                raise too_long
            if len(content) > FREE_BYTES:
                if not BODIES.take(len(part)):
                    raise unavailable("The server is busy; try again in a moment.")
                self._taken += len(part)
        return content
