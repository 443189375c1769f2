"""The members' REST API over HTTP: the real adapter behind ``ports.patroni.Patroni``.

Reads never raise: a member that does not answer credibly in time is Unknown, with the reason. A
verb is sent once, and never again. Invariant: no password leaves but in the request itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import httpx

from queenright.adapters.patroni_decode import decode_history, decode_member
from queenright.adapters.patroni_verbs import (
    MAY_BE_APPLIED,
    MAY_HAPPEN,
    MAY_RESTART,
    OK,
    differing,
    move_outcome,
    patch_outcome,
    readable,
    refusal,
    restart_outcome,
)
from queenright.adapters.raft_status import raft_status
from queenright.core.observed import Known, LeaderChange, MemberStatus, RaftStatus, Unknown
from queenright.core.render.patroni_yml import REST_API_USER
from queenright.ports.errors import ConflictError, UnavailableError
from queenright.ports.patroni import Password

NOT_CREDIBLE = (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError, RecursionError)
"""No answer, or one that is not Patroni's: anything may listen on the port."""
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL)
MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a verb's answer is waited for, in seconds.

    ``patch_s``: without quorum Patroni tries for ``retry_timeout`` (10 s), and refuses. ``move_s``:
    Patroni answers when the move is done, or after 20 s at the default ``loop_wait`` that it does
    not know either. ``restart_s``: a shutdown waits for a checkpoint.
    """

    patch_s: float = 5.0
    move_s: float = 20.0
    restart_s: float = 60.0


PATIENCE = Patience()


class PatroniHttp:
    def __init__(self, timeout_s: float, patience: Patience = PATIENCE) -> None:
        limits = httpx.Limits(max_connections=64, max_keepalive_connections=0)
        self._client = httpx.AsyncClient(
            timeout=timeout_s,
            limits=limits,
            trust_env=False,
            headers={"Accept-Encoding": "identity"},
        )
        self._timeout_s = timeout_s
        self._patience = patience

    async def status(self, address: str, port: int) -> Known[MemberStatus] | Unknown:
        url = f"http://{address}:{port}"
        lock: list[bool] = []
        why = ""
        try:
            with anyio.fail_after(self._timeout_s):
                async with anyio.create_task_group() as group:
                    group.start_soon(self._holds_lock, url, lock)
                    _, body = await self._ask("GET", f"{url}/patroni")
            return Known(decode_member(json.loads(body), holds_lock=lock[0]))
        except* NOT_CREDIBLE as failures:
            why = describe(failures)
        return Unknown(f"{url}: {why}")

    async def _holds_lock(self, url: str, found: list[bool]) -> None:
        status, _ = await self._ask("OPTIONS", f"{url}/primary")
        found.append(status == OK)

    async def settings(self, address: str, port: int) -> Known[Mapping[str, Any]] | Unknown:
        url = f"http://{address}:{port}/config"
        try:
            with anyio.fail_after(self._timeout_s):
                status, body = await self._ask("GET", url)
            answer = json.loads(body) if status == OK else None
        except NOT_CREDIBLE as error:
            return Unknown(f"{url}: {describe(error)}")
        return Known(answer) if isinstance(answer, dict) else Unknown(f"{url}: no settings yet")

    async def history(self, address: str, port: int) -> Known[Sequence[LeaderChange]] | Unknown:
        url = f"http://{address}:{port}/history"
        try:
            with anyio.fail_after(self._timeout_s):
                status, body = await self._ask("GET", url)
            if status != OK:
                return Unknown(f"{url}: answered {status}")
            return Known(decode_history(json.loads(body)))
        except NOT_CREDIBLE as error:
            return Unknown(f"{url}: {describe(error)}")

    async def raft(self, address: str, port: int) -> Known[RaftStatus] | Unknown:
        return await raft_status(address, port, self._timeout_s)

    async def patch_settings(
        self,
        address: str,
        port: int,
        patch: Mapping[str, Any],
        expected: Mapping[str, Any],
        password: Password | None,
    ) -> None:
        found = await self.settings(address, port)
        if isinstance(found, Unknown):
            raise UnavailableError(f"{found.why}; nothing was changed")
        if paths := differing(expected, found.value):
            raise ConflictError(f"the settings are not as observed: {', '.join(paths)}")
        url = f"http://{address}:{port}/config"
        status, text = await self._tell(
            "PATCH",
            url,
            patch,
            password,
            timeout_s=self._patience.patch_s,
            otherwise=MAY_BE_APPLIED,
        )
        if error := patch_outcome(f"PATCH {url}", status, text):
            raise error

    async def switch_over(
        self, address: str, port: int, leader: str, candidate: str, password: Password | None
    ) -> None:
        await self._move(
            f"http://{address}:{port}/switchover",
            {"leader": leader, "candidate": candidate},
            password,
        )

    async def fail_over(
        self, address: str, port: int, candidate: str, password: Password | None
    ) -> None:
        await self._move(f"http://{address}:{port}/failover", {"candidate": candidate}, password)

    async def _move(self, url: str, body: Mapping[str, Any], password: Password | None) -> None:
        limit_s = self._patience.move_s
        status, text = await self._tell(
            "POST", url, body, password, timeout_s=limit_s, otherwise=MAY_HAPPEN
        )
        if error := move_outcome(f"POST {url}", status, text):
            raise error

    async def restart(self, address: str, port: int, password: Password | None) -> None:
        url = f"http://{address}:{port}/restart"
        body = {"restart_pending": True}
        limit_s = self._patience.restart_s
        status, text = await self._tell(
            "POST", url, body, password, timeout_s=limit_s, otherwise=MAY_RESTART
        )
        if error := restart_outcome(f"POST {url}", status, text):
            raise error

    async def _tell(
        self,
        method: str,
        url: str,
        body: Mapping[str, Any],
        password: Password | None,
        *,
        timeout_s: float,
        otherwise: str,
    ) -> tuple[int, str]:
        """A verb's status and Patroni's words; UnavailableError where nobody answers in time."""
        verb = f"{method} {url}"
        try:
            with anyio.fail_after(timeout_s):
                status, answer = await self._ask(method, url, body, password, timeout_s)
        except NOT_SENT as error:
            raise UnavailableError(f"{verb}: {describe(error)}; nothing was asked") from None
        except NOT_CREDIBLE as error:
            raise UnavailableError(f"{verb}: {describe(error)}; {otherwise}") from None
        if refused := refusal(verb, status, has_password=password is not None):
            raise refused
        words = readable(answer)
        # What listens there may echo anything.
        return status, words.replace(password.value, str(password)) if password else words

    async def _ask(
        self,
        method: str,
        url: str,
        body: Mapping[str, Any] | None = None,
        password: Password | None = None,
        timeout_s: float | None = None,
    ) -> tuple[int, bytes]:
        """One request; ValueError for an answer that is longer than Patroni's can be."""
        async with self._client.stream(
            method,
            url,
            json=body,
            auth=httpx.BasicAuth(REST_API_USER, password.value) if password else None,
            timeout=httpx.Timeout(timeout_s or self._timeout_s, connect=self._timeout_s),
        ) as answer:
            found = bytearray()
            async for chunk in answer.aiter_raw():
                found += chunk
                if len(found) > MOST_BYTES:
                    raise ValueError("not Patroni's answer: it does not end")
            return answer.status_code, bytes(found)

    async def aclose(self) -> None:
        await self._client.aclose()


def describe(failure: BaseException) -> str:
    first = failure
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return str(first) or type(first).__name__
