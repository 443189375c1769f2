"""The service that reads a secret: its image, what it has, and its output."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from queenright.adapters.docker.secret_reader import (
    container_id,
    left_behind,
    reader_image,
    reader_service,
)
from queenright.adapters.docker.secrets import output_of
from queenright.core.swarm.objects import CLUSTER_LABEL
from queenright.ports.errors import UnavailableError
from tests.support.secret_engine import FOREIGN, MEMBER, NAME, PROXY, Json, service


def test_only_readers_beyond_any_read_are_left_behind() -> None:
    now = datetime(2026, 11, 20, 22, tzinfo=UTC)
    young, old = "2026-11-20T21:59:01Z", "2026-11-20T21:58:59Z"
    readers = [{"ID": "young", "CreatedAt": young}, {"ID": "old", "CreatedAt": old}]
    assert list(left_behind(readers, now)) == ["old"]


@pytest.mark.parametrize(
    ("services", "image"),
    [
        ([FOREIGN, MEMBER, PROXY], "proxy@sha256:2"),
        ([MEMBER, service("another", "proxy", "second")], "member@sha256:1"),
        ([PROXY, FOREIGN], "proxy@sha256:2"),
        ([FOREIGN], ""),
        ([], ""),
        ([{}, {"Spec": None}, MEMBER], "member@sha256:1"),
    ],
)
def test_the_image_is_that_of_the_cluster_that_has_the_secret_or_of_any(
    services: list[Json], image: str
) -> None:
    assert reader_image(services, NAME) == image


def test_a_reader_has_the_secret_and_nothing_else() -> None:
    found = reader_service("reader", "proxy", "me", "s1", NAME)
    container = found["task_template"]["ContainerSpec"]
    assert CLUSTER_LABEL not in found["labels"]
    assert [item["SecretID"] for item in container["Secrets"]] == ["s1"]
    assert container["Secrets"][0]["File"]["Mode"] == 0o400
    assert container["CapabilityDrop"] == ["ALL"]
    assert container["ReadOnly"] is True
    assert not {"Mounts", "Configs", "Env", "Privileges"} & container.keys()
    assert "Networks" not in found["task_template"]
    assert "Ports" not in found["endpoint_spec"]
    assert found["task_template"]["Placement"] == {"Constraints": ["node.id==me"]}
    assert found["task_template"]["RestartPolicy"] == {"Condition": "none"}


def test_the_container_is_that_of_the_running_task() -> None:
    running = {"Status": {"State": "running", "ContainerStatus": {"ContainerID": "c"}}}
    assert container_id([running]) == "c"
    assert container_id([{"Status": {"State": "starting"}}]) == ""
    assert container_id([]) == ""


class ShownInPieces:
    """An engine whose exec ends well, whatever of the output came through."""

    def __init__(self, *shown: bytes) -> None:
        self.shown = list(shown)

    def exec_create(self, container: str, command: list[str], user: str) -> Json:
        assert (container, user, command[-1]) == ("c1", "0", "/run/secrets/a")
        return {"Id": "run"}

    def exec_start(self, run: str, demux: bool) -> tuple[bytes, bytes]:
        return self.shown.pop(0), b""

    def exec_inspect(self, run: str) -> Json:
        return {"ExitCode": 0}


def test_a_value_that_came_through_in_part_is_asked_for_again() -> None:
    engine = ShownInPieces(b"", b"s3cr", b"s3cret\n:shown")
    assert output_of(engine, "c1", "/run/secrets/a") == b"s3cret\n"


def test_a_value_that_never_comes_through_is_not_taken_for_an_empty_one() -> None:
    with pytest.raises(UnavailableError, match="cut short"):
        output_of(ShownInPieces(b"", b"s3cr", b""), "c1", "/run/secrets/a")
