"""The Docker client: the API version, the time of its request, and the meaning of refusals."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from queenright.adapters.docker.client import DockerClient, meaning
from queenright.adapters.docker.swarm import DockerSwarm
from queenright.core.observed import ImageFound, ImageMissing
from queenright.core.swarm.objects import Config
from queenright.ports.swarm import ConflictError, RejectedError, SwarmError, UnavailableError
from tests.support.http_server import Answer, answering

INFO = {"Swarm": {"NodeID": "n", "LocalNodeState": "inactive"}}


def engine(version: Answer) -> Callable[[str, str], Answer]:
    return lambda method, path: version if path == "/version" else (200, INFO)


@pytest.mark.parametrize(
    ("version", "spoken"),
    [
        ((200, {"ApiVersion": "1.41", "MinAPIVersion": "1.12"}), "1.41"),
        ((200, {"ApiVersion": "1.52", "MinAPIVersion": "1.44"}), "1.44"),
        ((200, {"ApiVersion": "2.1", "MinAPIVersion": "2.0"}), "2.0"),
        ((200, {"ApiVersion": "1.41"}), "1.41"),
        ((200, {"MinAPIVersion": "newest"}), "1.41"),
        ((200, {"MinAPIVersion": 144}), "1.41"),
        ((200, ["1.44"]), "1.41"),
        ((403, {"message": "kept to itself"}), "1.41"),
    ],
)
async def test_the_version_is_ours_or_the_engines_least(version: Answer, spoken: str) -> None:
    with answering(engine(version)) as there:
        swarm = DockerSwarm(there.environment, 5)
        assert there.asked == []
        await swarm.observe()
        await swarm.observe()
        async for _ in swarm.events():
            break
        await swarm.aclose()
        assert there.asked == [
            "GET /version",
            f"GET /v{spoken}/info",
            f"GET /v{spoken}/info",
            f"GET /v{spoken}/events",
        ]


async def test_an_upgraded_engine_is_asked_anew() -> None:
    least = "1.12"

    def answer(method: str, path: str) -> Answer:
        if path == "/version":
            return 200, {"MinAPIVersion": least}
        if path.startswith("/v1.41/") and least != "1.12":
            text = "client version 1.41 is too old. Minimum supported API version is 1.44"
            return 400, {"message": text}
        return 200, INFO

    with answering(answer) as there:
        swarm = DockerSwarm(there.environment, 5)
        await swarm.observe()
        least = "1.44"
        with pytest.raises(UnavailableError, match="too old"):
            await swarm.observe()
        await swarm.observe()
        await swarm.aclose()
        assert there.asked[-2:] == ["GET /version", "GET /v1.44/info"]


async def test_a_write_that_the_sdk_lacks_has_a_timeout_too() -> None:
    hung = threading.Event()

    def answer(method: str, path: str) -> Answer:
        if method == "POST":
            hung.wait(20)
        return 200, {}

    with answering(answer) as there:
        swarm = DockerSwarm(there.environment, 1)
        try:
            with pytest.raises(UnavailableError, match="timed out"):
                await swarm.label_config("id", 1, Config("c", b""))
        finally:
            hung.set()
            await swarm.aclose()


async def test_a_client_that_cannot_be_made_is_an_engine_that_is_not_there() -> None:
    swarm = DockerSwarm({"DOCKER_HOST": "nonsense://x"}, 1)
    with pytest.raises(UnavailableError):
        await swarm.observe()
    with pytest.raises(UnavailableError):
        async for _ in swarm.events():
            pass


@pytest.mark.parametrize("body", [[], "x", {}, {"Swarm": "x"}, 7, b"<html>", {"Swarm": {}}])
@pytest.mark.parametrize("status", [200, 404, 500])
async def test_what_is_no_engine_is_never_more_than_unavailable(status: int, body: object) -> None:
    with answering(lambda method, path: (status, body)) as there:
        swarm = DockerSwarm(there.environment, 5)
        try:
            state = await swarm.observe()
            assert state.engine.swarm_state == "inactive"
        except SwarmError as error:
            assert not isinstance(error, RejectedError)  # noqa: PT017  # either is well
        finally:
            await swarm.aclose()


@pytest.mark.parametrize(
    ("status", "text", "error"),
    [
        (404, "service x not found", ConflictError),
        (409, "network with name x already exists", ConflictError),
        (500, "rpc error: code = Unknown desc = update out of sequence", ConflictError),
        (400, "rpc error: name conflicts with an existing object: x", ConflictError),
        (400, "config 'x' is in use by the following service: y", UnavailableError),
        (403, "network x is in use by task y", UnavailableError),
        (409, "network x is in use by service y", UnavailableError),
        (429, "slow down", UnavailableError),
        (500, "page not found", UnavailableError),
        (503, "This node is not a swarm manager", UnavailableError),
        (500, "manifest unknown", UnavailableError),
        (400, "invalid mount config", RejectedError),
        (403, "authorization denied by plugin", RejectedError),
        (501, "service mode change is not allowed", RejectedError),
    ],
)
def test_only_what_will_be_refused_again_is_rejected(
    status: int, text: str, error: type[Exception]
) -> None:
    found = meaning(status, text)
    assert type(found) is error
    assert str(found) == text


@pytest.mark.parametrize(
    ("status", "text", "is_missing"),
    [
        (404, "manifest unknown: manifest unknown", True),
        (404, "name unknown: repository name not known to registry", True),
        (500, "manifest unknown: manifest unknown", True),
        (401, "unauthorized: authentication required", False),
        (403, "denied: requested access to the resource is denied", False),
        (429, "toomanyrequests: You have reached your pull rate limit", False),
        (500, "Get https://r/v2/: dial tcp: lookup r: no such host", False),
        (500, "dial tcp: lookup r on 10.0.0.1:53: host not found", False),
        (502, "bad gateway", False),
    ],
)
async def test_only_the_registry_itself_can_deny_an_image(
    status: int, text: str, *, is_missing: bool
) -> None:
    with answering(lambda method, path: (status, {"message": text})) as there:
        swarm = DockerSwarm(there.environment, 5)
        try:
            found = await swarm.resolve_image("r/x:1")
            assert is_missing
            assert found == ImageMissing(text)
        except UnavailableError as error:
            assert not is_missing
            assert str(error) == text  # noqa: PT017  # either is well
        finally:
            await swarm.aclose()


async def test_an_image_that_the_registry_knows() -> None:
    body = {"Descriptor": {"digest": "sha256:a"}}
    with answering(lambda method, path: (200, body)) as there:
        swarm = DockerSwarm(there.environment, 5)
        assert await swarm.resolve_image("r/x:1") == ImageFound("sha256:a")
        await swarm.aclose()


def test_a_closed_client_connects_again() -> None:
    with answering(engine((200, {}))) as there:
        client = DockerClient(there.environment, 5)
        for _ in range(2):
            client.call(lambda sdk: sdk.info())
            client.close()
        assert there.asked.count("GET /version") == 2
