"""The port for what is shown over HTTP: ready answers, and the news that they changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Page:
    """An answer: its status, its media type, and its bytes."""

    status: int
    media_type: str
    body: bytes


class Pages(Protocol):
    """All that is to be seen. It can be read only: there is no call that changes anything."""

    async def page(self, target: str) -> Page:
        """Return the answer to a request's target (path and query), whatever it is."""
        ...

    async def changed(self, version: int) -> int:
        """Wait until something was shown after ``version``; return the version by then."""
        ...
