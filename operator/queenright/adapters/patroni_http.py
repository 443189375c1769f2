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
        except* (httpx.HTTPError, TimeoutError, ValueError, KeyError, TypeError) as failures:
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
        except (httpx.HTTPError, TimeoutError, ValueError) as error:
            return Unknown(f"{url}: {error}")
        return Known(answer) if isinstance(answer, dict) else Unknown(f"{url}: no settings yet")

    async def aclose(self) -> None:
        await self._client.aclose()


def describe(failures: BaseExceptionGroup[Exception]) -> str:
    first: BaseException = failures
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return str(first) or type(first).__name__


def decode_member(raw: dict[str, Any], *, holds_lock: bool) -> MemberStatus:
    """``/patroni``'s body; raises KeyError or TypeError when it is something else."""
    patroni = raw.get("patroni") or {}
    timeline = raw.get("timeline")
    return MemberStatus(
        state=raw["state"],
        role=raw["role"],
        timeline=timeline if isinstance(timeline, int) else None,
        replication_state=raw.get("replication_state") or "",
        holds_lock=holds_lock,
        location=location_of(raw.get("xlog") or {}),
        paused=bool(raw.get("pause", False)),
        pending_restart=bool(raw.get("pending_restart", False)),
        cluster_unlocked=bool(raw.get("cluster_unlocked", False)),
        version=str(patroni.get("version", "")),
        server_version=raw.get("server_version") or 0,
        tags=raw.get("tags") or {},
    )


def location_of(xlog: dict[str, Any]) -> int | None:
    """A leader's WAL position, or the furthest that a replica has received or replayed."""
    found = [
        value
        for name in ("location", "received_location", "replayed_location")
        if isinstance(value := xlog.get(name), int)
    ]
    return max(found, default=None)
