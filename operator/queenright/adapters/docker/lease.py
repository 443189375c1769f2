"""The lease as the labels of a swarm config: the real adapter behind ``ports.lease.LeaseStore``.

An update of a config carries the version that was read, and the managers agree on it by Raft: of
two writers one gets ``ConflictError``. A name is free only once, so the same holds for the first.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from queenright.adapters.docker.client import DockerClient
from queenright.core.planning.lease import (
    LEASE_CONFIG,
    LEASE_TEXT,
    Lease,
    StoredLease,
    labels_of,
    lease_of,
)

Json = dict[str, Any]
T = TypeVar("T")

LONGEST_S = 3.0
"""The timeout of a call: shorter than the lease, so that a lost one leaves time for another."""


class DockerLease:
    """The lease on a manager's engine. Its calls wait for no other calls of the operator."""

    def __init__(
        self, environment: Mapping[str, str], timeout_s: float, name: str = LEASE_CONFIG
    ) -> None:
        """``environment`` as the SDK reads it; ``name`` is the config's."""
        self._client = DockerClient(environment, min(timeout_s, LONGEST_S))
        self._limiter = anyio.CapacityLimiter(1)
        self._beside = anyio.CapacityLimiter(1)
        self._name = name

    async def read(self) -> StoredLease | None:
        def found(sdk: Any) -> StoredLease | None:
            raws: list[Json] = sdk.configs({"name": self._name}) or []
            return next((stored(raw) for raw in raws if raw["Spec"]["Name"] == self._name), None)

        return await self._call(found)

    async def create(self, lease: Lease) -> None:
        await self._call(lambda sdk: sdk.create_config(self._name, LEASE_TEXT, labels_of(lease)))

    async def replace(self, stored: StoredLease, lease: Lease) -> None:
        spec = {
            "Name": self._name,
            "Labels": labels_of(lease),
            "Data": base64.b64encode(LEASE_TEXT).decode(),
        }
        path = f"/configs/{stored.config_id}/update"
        await self._in_thread(lambda: self._client.post(path, stored.version, spec))

    async def leads_raft(self) -> bool:
        def found(sdk: Any) -> bool:
            own: Json = sdk.inspect_node(sdk.info()["Swarm"]["NodeID"])
            return bool((own.get("ManagerStatus") or {}).get("Leader"))

        return await anyio.to_thread.run_sync(
            lambda: self._client.call(found), limiter=self._beside
        )

    async def aclose(self) -> None:
        self._client.close()

    async def _call(self, method: Callable[[Any], T]) -> T:
        return await self._in_thread(lambda: self._client.call(method))

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(function, limiter=self._limiter)


def stored(raw: Json) -> StoredLease:
    return StoredLease(
        config_id=str(raw["ID"]),
        version=int(raw["Version"]["Index"]),
        lease=lease_of(raw["Spec"].get("Labels") or {}),
        written_at=str(raw.get("UpdatedAt") or ""),
    )
