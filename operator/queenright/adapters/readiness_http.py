"""Ask replicas on ``/readyz``: the real adapter behind ``ports.readiness.ReadinessProbe``.

If a node publishes the replica's port, the request goes there; if only the application's network
reaches it, through a container on that network (``readiness_probe``). Invariant: every target has
an answer or a reason within ``ASK_S`` plus the time that a container takes to start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import anyio

from queenright.adapters.docker.readiness_probe import ReadinessService
from queenright.adapters.http_exchange import NotHttpError, NotSentError, Request, exchange
from queenright.adapters.turns import Turns
from queenright.core.observed import Known, Unknown
from queenright.core.observed.readiness import Readiness, ReadinessTarget, answer

ASK_S = 3.0
PATH = "/readyz"
MOST_BYTES = 4096

Reading = Known[Readiness] | Unknown


class ReadinessHttp:
    def __init__(self, service: ReadinessService, timeout_s: float = ASK_S) -> None:
        self._service = service
        self._timeout_s = timeout_s
        self._turns = Turns()

    async def ask(self, targets: Sequence[ReadinessTarget]) -> Mapping[str, Reading]:
        found: dict[str, Reading] = {}
        within: dict[str, list[ReadinessTarget]] = {}
        for target in targets:
            if target.network:
                within.setdefault(target.network, []).append(target)

        async def straight(target: ReadinessTarget) -> None:
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

    async def keep(self, targets: Sequence[ReadinessTarget]) -> None:
        await self._service.keep({target.network for target in targets if target.network})

    async def _asked(self, target: ReadinessTarget) -> Reading:
        where = f"{target.address}:{target.port}"
        request = Request("GET", target.address, target.port, PATH)
        try:
            async with self._turns.turn(self._timeout_s):
                status, body = await exchange(request, MOST_BYTES, cut_off=True)
            return Known(answer(status, body.decode(errors="replace")))
        except TimeoutError:
            return Unknown(f"{where} did not answer in {self._timeout_s:g} s")
        except (NotSentError, NotHttpError) as error:
            return Unknown(f"{where}: {error}")

    async def aclose(self) -> None:
        await self._service.aclose()
