"""The members' REST API over HTTP: the real adapter behind ``ports.patroni.Patroni``.

Status requests are sent by the thousand, so each goes over ``http_exchange``; changing requests are
few, and use httpx. Reads never raise: a member without a credible answer in time is Unknown, with
the reason. A changing request is sent once, never again. Invariant: a password is only in the
request itself.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
import httpx

from queenright.adapters.http_exchange import (
    NotHttpError,
    NotSentError,
    Request,
    TooLongError,
    exchange,
)
from queenright.adapters.patroni.decode import (
    decode_history,
    decode_leader_location,
    decode_member,
)
from queenright.adapters.patroni.errors import (
    MAY_BE_APPLIED,
    MAY_BEGIN_ANEW,
    MAY_HAPPEN,
    MAY_RESTART,
    OK,
    differing,
    move_outcome,
    patch_outcome,
    readable,
    refusal_error,
    reinitialize_outcome,
    restart_outcome,
)
from queenright.adapters.patroni.leader_probe import LeaderProbe
from queenright.adapters.patroni.raft_status import raft_status
from queenright.adapters.turns import Turns
from queenright.core.kinds.postgres_cluster.desired.patroni_yml import REST_API_USER
from queenright.core.observed import Known, MemberStatus, RaftStatus, TimelineEnd, Unknown
from queenright.ports.errors import ConflictError, UnavailableError
from queenright.ports.secrets import Password

NOT_CREDIBLE = (NotSentError, NotHttpError, TimeoutError, ValueError, RecursionError)
"""No answer, or one that is not Patroni's, because anything may listen on the port."""
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL)
MOST_BYTES = 1 << 20
PROBE_S = 1.0
"""The longest wait for a leader's answer to the watcher."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Time limits for the answers to changing requests, in seconds.

    ``patch_s``: without quorum Patroni tries for ``retry_timeout`` (10 s), and refuses. ``move_s``:
    Patroni answers when the leader has changed, or, after 20 s at the default ``loop_wait``, that
    it does not know. ``restart_s``: a shutdown waits for a checkpoint.
    """

    patch_s: float = 5.0
    move_s: float = 20.0
    restart_s: float = 60.0


PATIENCE = Patience()


class PatroniHttp:
    """The REST API over HTTP. Status requests have turns, independent of other instances'; changing
    requests need none. ``timeout_s`` limits a status request from its turn on."""

    def __init__(self, timeout_s: float, patience: Patience = PATIENCE) -> None:
        self._turns = Turns()
        self._probes = anyio.CapacityLimiter(1)
        self._timeout_s = timeout_s
        self._patience = patience
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=timeout_s),
            limits=httpx.Limits(max_keepalive_connections=0),
            trust_env=False,
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),  # all is plain HTTP: read no CAs
            headers={"Accept-Encoding": "identity"},
        )

    async def status(self, address: str, port: int) -> Known[MemberStatus] | Unknown:
        url = f"http://{address}:{port}"
        lock: list[bool] = []
        why = ""
        try:
            async with self._turns.turn(self._timeout_s), anyio.create_task_group() as group:
                group.start_soon(self._holds_lock, address, port, lock)
                _, body = await self._ask("GET", address, port, "/patroni")
            return Known(decode_member(json.loads(body), holds_lock=lock[0]))
        except* NOT_CREDIBLE as failures:
            why = describe(failures)
        return Unknown(f"{url}: {why}")

    async def _holds_lock(self, address: str, port: int, found: list[bool]) -> None:
        status, _ = await self._ask("OPTIONS", address, port, "/primary")
        found.append(status == OK)

    async def leading(self, members: Sequence[tuple[str, int]]) -> frozenset[tuple[str, int]]:
        probe = LeaderProbe(min(self._timeout_s, PROBE_S))
        return await anyio.to_thread.run_sync(
            probe.round, members, abandon_on_cancel=True, limiter=self._probes
        )

    async def settings(self, address: str, port: int) -> Known[Mapping[str, Any]] | Unknown:
        url = f"http://{address}:{port}/config"
        try:
            async with self._turns.turn(self._timeout_s):
                status, body = await self._ask("GET", address, port, "/config")
            answer = json.loads(body) if status == OK else None
        except NOT_CREDIBLE as error:
            return Unknown(f"{url}: {describe(error)}")
        return Known(answer) if isinstance(answer, dict) else Unknown(f"{url}: no settings yet")

    async def history(self, address: str, port: int) -> Known[Sequence[TimelineEnd]] | Unknown:
        url = f"http://{address}:{port}/history"
        try:
            async with self._turns.turn(self._timeout_s):
                status, body = await self._ask("GET", address, port, "/history")
            if status != OK:
                return Unknown(f"{url}: HTTP status {status}")
            return Known(decode_history(json.loads(body)))
        except NOT_CREDIBLE as error:
            return Unknown(f"{url}: {describe(error)}")

    async def leader_location(self, address: str, port: int) -> Known[int] | Unknown:
        url = f"http://{address}:{port}/cluster"
        try:
            async with self._turns.turn(self._timeout_s):
                status, body = await self._ask("GET", address, port, "/cluster")
            if status != OK:
                return Unknown(f"{url}: HTTP status {status}")
            return Known(decode_leader_location(json.loads(body)))
        except NOT_CREDIBLE as error:
            return Unknown(f"{url}: {describe(error)}")

    async def raft(self, address: str, port: int) -> Known[RaftStatus] | Unknown:
        async with self._turns.turn():
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
            raise ConflictError(f"the settings have changed since: {', '.join(paths)}")
        asked = Request("PATCH", address, port, "/config", patch)
        limit_s = self._patience.patch_s
        status, text = await self._tell(asked, password, limit_s, otherwise=MAY_BE_APPLIED)
        if error := patch_outcome(verb_of(asked), status, text):
            raise error

    async def switch_over(
        self, address: str, port: int, leader: str, candidate: str, password: Password | None
    ) -> None:
        body = {"leader": leader, "candidate": candidate}
        await self._move(Request("POST", address, port, "/switchover", body), password)

    async def fail_over(
        self, address: str, port: int, candidate: str, password: Password | None
    ) -> None:
        body = {"candidate": candidate}
        await self._move(Request("POST", address, port, "/failover", body), password)

    async def _move(self, asked: Request, password: Password | None) -> None:
        limit_s = self._patience.move_s
        status, text = await self._tell(asked, password, limit_s, otherwise=MAY_HAPPEN)
        if error := move_outcome(verb_of(asked), status, text):
            raise error

    async def restart(self, address: str, port: int, password: Password | None) -> None:
        body = {"restart_pending": True}
        asked = Request("POST", address, port, "/restart", body)
        limit_s = self._patience.restart_s
        status, text = await self._tell(asked, password, limit_s, otherwise=MAY_RESTART)
        if error := restart_outcome(verb_of(asked), status, text):
            raise error

    async def reinitialize(self, address: str, port: int, password: Password | None) -> None:
        asked = Request("POST", address, port, "/reinitialize", {"force": True})
        limit_s = self._patience.patch_s
        status, text = await self._tell(asked, password, limit_s, otherwise=MAY_BEGIN_ANEW)
        if error := reinitialize_outcome(verb_of(asked), status, text):
            raise error

    async def _tell(
        self, asked: Request, password: Password | None, limit_s: float, *, otherwise: str
    ) -> tuple[int, str]:
        """Return the status and Patroni's text; UnavailableError if there is no answer in time."""
        verb = verb_of(asked)
        try:
            with anyio.fail_after(limit_s):
                status, answer = await self._send(asked, password)
        except NotSentError as error:
            raise UnavailableError(f"{verb}: {describe(error)}; nothing was sent") from None
        except NOT_CREDIBLE as error:
            raise UnavailableError(f"{verb}: {describe(error)}; {otherwise}") from None
        if refused := refusal_error(verb, status, has_password=password is not None):
            raise refused
        words = readable(answer)
        # The process that listens there may echo anything.
        return status, words.replace(password.value, str(password)) if password else words

    async def _ask(self, method: str, address: str, port: int, path: str) -> tuple[int, bytes]:
        return await self._exchange(Request(method, address, port, path))

    async def _send(self, verb: Request, password: Password | None) -> tuple[int, bytes]:
        """Send one changing request, by a full client; the answer's length is limited."""
        auth = httpx.BasicAuth(REST_API_USER, password.value) if password else None
        try:
            async with self._client.stream(
                verb.method, url_of(verb), json=verb.body, auth=auth
            ) as answer:
                found = bytearray()
                async for chunk in answer.aiter_raw():
                    found += chunk
                    if len(found) > MOST_BYTES:
                        raise TooLongError("the answer does not end")
                return answer.status_code, bytes(found)
        except NOT_SENT as error:
            raise NotSentError(describe(error)) from None
        except httpx.HTTPError as error:
            raise NotHttpError(describe(error)) from None

    async def _exchange(self, request: Request) -> tuple[int, bytes]:
        """Send one status request; NotHttpError for an answer longer than Patroni's can be."""
        return await exchange(request, MOST_BYTES, connect_s=self._timeout_s)

    async def aclose(self) -> None:
        await self._client.aclose()


def url_of(request: Request) -> str:
    return f"http://{request.address}:{request.port}{request.path}"


def verb_of(request: Request) -> str:
    return f"{request.method} {url_of(request)}"


def describe(failure: BaseException) -> str:
    first = failure
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return str(first) or type(first).__name__
