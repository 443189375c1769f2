"""Live through a scene only until a judge has said what it is there to say.

An operator with a broken rule is caught at one moment; what it does afterwards is asked by nobody,
and its passes cost as much as any others.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable

import anyio

LOOKS_EVERY_S = 1.0


async def until_judged(
    words: str,
    told: Callable[[], Iterable[str]],
    living: Callable[[], Awaitable[None]],
    until_s: float = math.inf,
) -> float:
    """Live to the end, until one of the texts has the words, or until this moment of the loop's
    time. Return the moment at which the scene was left, infinity at its end."""
    left_s = math.inf

    async def listen() -> None:
        nonlocal left_s
        while not (anyio.current_time() >= until_s or any(words in text for text in told())):  # noqa: ASYNC110
            await anyio.sleep(LOOKS_EVERY_S)  # virtual time
        left_s = anyio.current_time()
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        await living()
        group.cancel_scope.cancel()
    return left_s
