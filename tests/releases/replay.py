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

from queenright.adapters.http_exchange import NotSentError, Request
from queenright.adapters.patroni.http import PatroniHttp
from queenright.adapters.patroni.raft_status import decode_raft_status
from queenright.core.kinds.load import load
from queenright.core.manifest.document import Document
from queenright.core.observed import Known, Observed, RaftStatus, Unknown
from queenright.engine.observe import observe
from queenright.settings import Docker, Settings
from queenright.wiring import open_ports
from tests.releases.recording import Json, Recording
from tests.support.http_server import Answer, answering

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

    async def _exchange(self, request: Request) -> tuple[int, bytes]:
        known = self._members[request.address]["rest"]
        question = f"{request.method} {request.path}"
        if question not in known:
            raise NotSentError(f"{question} was not recorded")
        status, body = known[question]
        return status, b"" if body is None else json.dumps(body).encode()

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
    """Return the observation of a pass over the recorded world."""
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
            observed = (await observe(recorded, loaded.documents, {})).observed
    await members.aclose()
    return Replayed(tuple(loaded.documents), observed, recording.moment)
