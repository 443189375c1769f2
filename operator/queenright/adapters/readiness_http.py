"""Asks replicas on ``/readyz``: the real adapter behind ``ports.readiness.ReadinessProbe``.

Where a node publishes the replica's port, straight; where only the application's own network
reaches it, through a container on that network (``readiness_service``). Invariant: whatever
happens, every target has an answer or a reason within ``ASK_S`` and the time that a container
takes to start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import anyio
import httpx

from queenright.adapters.readiness_service import ReadinessService
from queenright.core.app.readiness import Readiness, Target, answer
from queenright.core.observed import Known, Unknown

ASK_S = 3.0
PATH = "/readyz"
MOST_BYTES = 4096

Reading = Known[Readiness] | Unknown


class ReadinessHttp:
    def __init__(self, service: ReadinessService, timeout_s: float = ASK_S) -> None:
        self._service = service
        self._timeout_s = timeout_s
        self._client = httpx.AsyncClient(timeout=timeout_s, trust_env=False, follow_redirects=False)

    async def ask(self, targets: Sequence[Target]) -> Mapping[str, Reading]:
        found: dict[str, Reading] = {}
        within: dict[str, list[Target]] = {}
        for target in targets:
            if target.network:
                within.setdefault(target.network, []).append(target)

        async def straight(target: Target) -> None:
            found[target.task_id] = await self._asked(target)

        async def through(network: str) -> None:
            found.update(await self._service.ask(network, within[network]))

        async with anyio.create_task_group() as group:
            for target in targets:
                if not target.network:
                    group.start_soon(straight, target)
            for network in within:
                group.start_soon(through, network)
        return found

    async def keep(self, targets: Sequence[Target]) -> None:
        await self._service.keep({target.network for target in targets if target.network})

    async def _asked(self, target: Target) -> Reading:
        url = httpx.URL(scheme="http", host=target.address, port=target.port, path=PATH)
        try:
            with anyio.fail_after(self._timeout_s):
                async with self._client.stream("GET", url) as response:
                    body = b""
                    async for part in response.aiter_bytes():
                        body += part
                        if len(body) >= MOST_BYTES:
                            break
                    return Known(answer(response.status_code, body.decode(errors="replace")))
        except TimeoutError:
            return Unknown(f"{url.host}:{url.port} did not answer in {self._timeout_s:g} s")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return Unknown(f"{url.host}:{url.port}: {str(error) or type(error).__name__}")

    async def aclose(self) -> None:
        await self._client.aclose()
        await self._service.aclose()
