"""`python -m tests.probed`: a replica that measures how long its event loop is busy.

`GET /probe` answers with the figures since the last `DELETE /probe`, in milliseconds: `late`, the
delay of wake-ups every 5 ms; `work`, the processor time of the loop's thread between two of them,
which does not include other work of the machine.

PROBED_TURN_S replaces the seconds that a request waits for a worker before it is a 503.
"""

import asyncio
import json
import os
import sys
import time
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from notes import log
from notes.config import load
from notes.server import serve
from notes.workers import pool

EVERY_S = 0.005


class Probe:
    """An ASGI application that wraps the replica's."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner
        self._late = list[float]()
        self._work = list[float]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            watching = asyncio.create_task(self._watch())
            try:
                await self._inner(scope, receive, send)
            finally:
                watching.cancel()
            return
        if scope["type"] == "http" and scope["path"] == "/probe":
            await self._answer(scope, send)
            return
        await self._inner(scope, receive, send)

    async def _watch(self) -> None:
        while True:
            begun, used = time.perf_counter(), time.thread_time()
            await asyncio.sleep(EVERY_S)
            self._late.append(1000 * (time.perf_counter() - begun - EVERY_S))
            self._work.append(1000 * (time.thread_time() - used))

    async def _answer(self, scope: Scope, send: Send) -> None:
        if scope["method"] == "DELETE":
            self._late.clear()
            self._work.clear()
        body = json.dumps({"late": _figures(self._late), "work": _figures(self._work)}).encode()
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _figures(values: list[float]) -> dict[str, float]:
    ordered = sorted(values) or [0.0]
    last = len(ordered) - 1
    return {
        "count": len(values),
        "p50": ordered[last // 2],
        "p99": ordered[int(last * 0.99)],
        "max": ordered[-1],
    }


if __name__ == "__main__":
    log.configure()
    pool.TURN_S = float(os.environ.get("PROBED_TURN_S", pool.TURN_S))
    sys.exit(serve(load(os.environ), Probe))
