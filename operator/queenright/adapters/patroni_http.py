"""The members' REST API over HTTP: the real adapter behind ``ports.patroni.Patroni``.

Only GET; a member that does not answer credibly in time is Unknown, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import httpx

from queenright.core.observed import Known, MemberStatus, Unknown

OK = 200
NOT_CREDIBLE = (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError, RecursionError)
"""No answer, or one that is not Patroni's: anything may listen on the port."""


class PatroniHttp:
    def __init__(self, timeout_s: float) -> None:
        limits = httpx.Limits(max_connections=64, max_keepalive_connections=0)
        self._client = httpx.AsyncClient(timeout=timeout_s, limits=limits, trust_env=False)
        self._timeout_s = timeout_s

    async def status(self, address: str, port: int) -> Known[MemberStatus] | Unknown:
        url = f"http://{address}:{port}"
        lock: list[bool] = []
        why = ""
        try:
            with anyio.fail_after(self._timeout_s):
                async with anyio.create_task_group() as group:
                    group.start_soon(self._holds_lock, url, lock)
                    answer = await self._client.get(f"{url}/patroni")
            return Known(decode_member(answer.json(), holds_lock=lock[0]))
        except* NOT_CREDIBLE as failures:
            why = describe(failures)
        return Unknown(f"{url}: {why}")

    async def _holds_lock(self, url: str, found: list[bool]) -> None:
        answer = await self._client.request("OPTIONS", f"{url}/primary")
        found.append(answer.status_code == OK)

    async def settings(self, address: str, port: int) -> Known[Mapping[str, Any]] | Unknown:
        url = f"http://{address}:{port}/config"
        try:
            with anyio.fail_after(self._timeout_s):
                answer = (await self._client.get(url)).raise_for_status().json()
        except NOT_CREDIBLE as error:
            return Unknown(f"{url}: {describe(error)}")
        return Known(answer) if isinstance(answer, dict) else Unknown(f"{url}: no settings yet")

    async def aclose(self) -> None:
        await self._client.aclose()


def describe(failure: BaseException) -> str:
    first = failure
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return str(first) or type(first).__name__


def decode_member(raw: object, *, holds_lock: bool) -> MemberStatus:
    """``/patroni``'s body; raises ValueError when it is something else."""
    status = mapping("the answer", raw)
    patroni = mapping("patroni", status.get("patroni"))
    timeline, server_version = status.get("timeline"), status.get("server_version")
    return MemberStatus(
        state=text("state", status.get("state")),
        role=text("role", status.get("role")),
        timeline=timeline if isinstance(timeline, int) else None,
        replication_state=text("replication_state", status.get("replication_state") or ""),
        holds_lock=holds_lock,
        location=location_of(mapping("xlog", status.get("xlog"))),
        paused=bool(status.get("pause", False)),
        pending_restart=bool(status.get("pending_restart", False)),
        cluster_unlocked=bool(status.get("cluster_unlocked", False)),
        version=str(patroni.get("version", "")),
        server_version=server_version if isinstance(server_version, int) else 0,
        tags=mapping("tags", status.get("tags")),
    )


def mapping(what: str, found: object) -> dict[str, Any]:
    """A part that is a mapping, or left out."""
    if found is None and what != "the answer":
        return {}
    if not isinstance(found, dict):
        raise ValueError(f"not Patroni's answer: {what} is no mapping")  # noqa: TRY004  # one error for all that is not credible
    return found


def text(what: str, found: object) -> str:
    if not isinstance(found, str):
        raise ValueError(f"not Patroni's answer: {what} is no text")  # noqa: TRY004  # as above
    return found


def location_of(xlog: dict[str, Any]) -> int | None:
    """A leader's WAL position, or the furthest that a replica has received or replayed."""
    found = [
        value
        for name in ("location", "received_location", "replayed_location")
        if isinstance(value := xlog.get(name), int)
    ]
    return max(found, default=None)
