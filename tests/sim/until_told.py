"""Live through a scene only until a judge has said what it is there to say.

An operator with a broken rule is caught at one moment; what it does afterwards is asked by nobody,
and its passes cost as much as any others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

import anyio

LOOKS_EVERY_S = 1.0


async def until_told(
    words: str, told: Callable[[], Iterable[str]], living: Callable[[], Awaitable[None]]
) -> None:
    """Live to the end, or until one of the texts has the words."""

    async def listen() -> None:
        while not any(words in text for text in told()):  # noqa: ASYNC110  # virtual time
            await anyio.sleep(LOOKS_EVERY_S)
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        await living()
        group.cancel_scope.cancel()
