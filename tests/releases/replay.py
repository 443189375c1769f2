"""A recorded world, seen with the present code: the real adapters decode it, the real core plans.

The recorded answers are given by a server on the loopback (Docker's) and by a transport without a
network (the members'). Invariant: nothing here knows what an answer means.
"""

from __future__ import annotations

import base64
import dataclasses
import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import httpx

from queenright.adapters.patroni_http import PatroniHttp
from queenright.adapters.raft_status import decode_raft_status
from queenright.core.observed import Known, Observed, RaftStatus, Unknown
from queenright.core.spec import load
from queenright.core.spec.problems import Document
from queenright.engine.observe import observe
from queenright.settings import Docker, Settings
from queenright.wiring import open_ports
from tests.releases.recording import Json, Recording
from tests.unit.adapters.answering import Answer, answering

TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Replayed:
    """The documents of the recorded files, and the recorded world, as the present code reads
    them."""

    documents: tuple[Document, ...]
    observed: Observed
    moment: datetime


class RecordedMembers(PatroniHttp):
    """The real adapter; only the network is missing."""

    def __init__(self, members: dict[str, Json]) -> None:
        super().__init__(TIMEOUT_S)
        self._members = members
        self._client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        known = self._members[request.url.host]["rest"]
        question = f"{request.method} {request.url.path}"
        if question not in known:
            raise httpx.ConnectError(f"{question} was not recorded")
        status, body = known[question]
        sent = b"" if body is None else json.dumps(body).encode()
        return httpx.Response(status, stream=httpx.ByteStream(sent))

    async def raft(self, address: str, port: int) -> Known[RaftStatus] | Unknown:
        return Known(decode_raft_status(base64.b64decode(self._members[address]["raft"])))


def docker_answer(docker: Json, path: str) -> Answer:
    """The recorded answer to a GET; 404 for what was not recorded."""
    if (image := path.partition("/distribution/")[2].removesuffix("/json")) in docker[
        "distribution"
    ]:
        return 200, docker["distribution"][image]
    kind = path.rpartition("/")[2]
    return (200, docker[kind]) if kind in docker else (404, {"message": "was not recorded"})


async def replay(recording: Recording) -> Replayed:
    """What a pass over the recorded world knows."""
    loaded = load(recording.manifests)
    assert not loaded.errors, "\n".join(map(str, loaded.errors))
    members = RecordedMembers(recording.members)
    with answering(lambda _, path: docker_answer(recording.docker, path)) as there:
        settings = Settings(
            docker=Docker(host=there.environment["DOCKER_HOST"]),
            state_dir=None,
            manifests=Path("/nowhere"),
        )
        async with open_ports(settings, audit=False) as ports:
            recorded = dataclasses.replace(ports, patroni=members)
            observed = await observe(recorded, loaded.documents, {})
    await members.aclose()
    return Replayed(tuple(loaded.documents), observed, recording.moment)
