"""Reading a secret's value: the places, the reader, and the objects left afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from queenright.adapters.docker.secrets import DockerSecrets
from queenright.ports.errors import LookOnlyError, PortError, RejectedError, UnavailableError
from queenright.ports.secrets import Password
from queenright.settings import Docker, Settings
from queenright.wiring import open_ports
from tests.support.http_server import Answering, answering
from tests.support.secret_engine import FOREIGN, NAME, Engine


async def read(engine: Engine, directory: Path, name: str = NAME) -> tuple[object, Answering]:
    with answering(engine.answer) as there:
        secrets = DockerSecrets(there.environment, 2, directory, start_s=0.3)
        try:
            return await secrets.read(name), there
        except PortError as error:
            return error, there
        finally:
            await secrets.aclose()


async def test_a_mounted_secret_is_read_and_the_engine_left_alone(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("  a value\n")
    found, there = await read(Engine(), tmp_path)
    assert found == Password("a value")
    assert there.asked == []


@pytest.mark.parametrize("value", [b"", b" \n", b"\xff\xfe", b"x" * 600_000])
async def test_a_mounted_file_that_is_no_password_is_rejected(tmp_path: Path, value: bytes) -> None:
    (tmp_path / NAME).write_bytes(value)
    found, _ = await read(Engine(), tmp_path)
    assert isinstance(found, RejectedError)
    assert NAME in str(found)


async def test_a_mount_that_cannot_be_read_is_told_by_its_path(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    found, _ = await read(Engine(), tmp_path)
    assert isinstance(found, UnavailableError)
    assert str(tmp_path / NAME) in str(found)


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "/etc/passwd", "a/b", "a\nb", "x" * 65])
async def test_what_is_no_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    found, there = await read(Engine(), tmp_path, name)
    assert isinstance(found, RejectedError)
    assert there.asked == []


async def test_a_secret_that_is_not_there_is_rejected(tmp_path: Path) -> None:
    engine = Engine()
    engine.secrets.pop()
    found, there = await read(engine, tmp_path)
    assert isinstance(found, RejectedError)
    assert not any(asked.startswith("POST") for asked in there.asked)


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        (Engine("pending", "no suitable node (1 node not available)"), "no suitable node"),
        (Engine("rejected", "No such image: proxy"), "No such image"),
        (Engine("failed", "executable not found: sleep"), "executable not found"),
        (Engine("complete", ""), "complete"),
    ],
)
async def test_a_reader_that_does_not_start_is_told_and_removed(
    tmp_path: Path, engine: Engine, words: str
) -> None:
    found, there = await read(engine, tmp_path)
    assert isinstance(found, UnavailableError)
    assert words in str(found)
    assert str(tmp_path / NAME) in str(found)
    created = next(i for i, asked in enumerate(there.asked) if asked.startswith("POST"))
    assert there.asked[-1].startswith("DELETE /v1.41/services/queenright-secret-reader-")
    assert created < len(there.asked) - 1


async def test_an_engine_that_allows_no_such_service_is_told(tmp_path: Path) -> None:
    engine = Engine()
    engine.created = 403
    found, _ = await read(engine, tmp_path)
    assert isinstance(found, RejectedError)
    assert str(tmp_path / NAME) in str(found)


async def test_without_a_cluster_there_is_no_image(tmp_path: Path) -> None:
    engine = Engine()
    engine.services = [FOREIGN]
    found, there = await read(engine, tmp_path)
    assert isinstance(found, UnavailableError)
    assert not any(asked.startswith("POST") for asked in there.asked)


async def test_a_reader_that_a_killed_operator_left_is_removed(tmp_path: Path) -> None:
    engine = Engine()
    engine.services = [
        {"ID": "old", "CreatedAt": "2026-11-20T21:58:00Z"},
        {"ID": "young", "CreatedAt": "2026-11-20T21:59:50Z"},
    ]
    _, there = await read(engine, tmp_path)
    assert [a for a in there.asked if a.startswith("DELETE")] == ["DELETE /v1.41/services/old"]


VERIFIER = Password("SCRAM-SHA-256$1:AAAA$AAAA:AAAA")


async def failures(secrets: DockerSecrets, *secret_ids: str) -> list[str]:
    told = []
    for secret_id in secret_ids:
        with pytest.raises(PortError) as failed:
            await secrets.matches(NAME, secret_id, VERIFIER)
        told.append(str(failed.value))
    return told


def made(there: Answering) -> int:
    return sum(asked.endswith("/services/create") for asked in there.asked)


async def test_what_could_not_be_read_for_a_look_is_left_for_a_while(tmp_path: Path) -> None:
    with answering(Engine("rejected", "No such image").answer) as there:
        secrets = DockerSecrets(there.environment, 2, tmp_path, start_s=0.3)
        first, again, another = await failures(secrets, "s1", "s1", "s2")
        assert made(there) == 1, "neither the secret nor any other is tried moments later"
        assert first == again
        assert "60 s after" in first
        assert NAME in another
        assert another != first
        with pytest.raises(UnavailableError):
            await secrets.read(NAME, "s1")
        assert made(there) == 1
        with pytest.raises(UnavailableError, match="No such image"):
            await secrets.read(NAME)
        assert made(there) == 2, "an action tries at once"
        await secrets.aclose()


@pytest.mark.parametrize(("acts", "services"), [(False, 0), (True, 1)])
async def test_a_command_that_only_looks_starts_no_service(
    tmp_path: Path, acts: bool, services: int
) -> None:
    (tmp_path / "mounted").write_text("a value")
    with answering(Engine("rejected", "No such image").answer) as there:
        host = Docker(host=there.environment["DOCKER_HOST"])
        settings = Settings(docker=host, secrets_dir=tmp_path, state_dir=None)
        async with open_ports(settings, audit=acts) as ports:
            assert await ports.secrets.read("mounted", "s0") == Password("a value")
            assert await ports.secrets.matches("mounted", "s0", VERIFIER) is False
            with pytest.raises(PortError) as refused:
                await ports.secrets.read(NAME, "s1")
            assert isinstance(refused.value, LookOnlyError) is not acts
            with pytest.raises(PortError):
                await ports.secrets.matches(NAME, "s1", VERIFIER)
        assert made(there) == services


async def test_an_operator_that_loses_the_lease_meanwhile_starts_no_service(tmp_path: Path) -> None:
    """And nothing is remembered of it: with the lease it reads the secret at once."""
    answers = [True, True, False]
    with answering(Engine("rejected", "No such image").answer) as there:
        secrets = DockerSecrets(
            there.environment,
            2,
            tmp_path,
            start_s=0.3,
            may_create=lambda: answers.pop(0) if answers else True,
        )
        with pytest.raises(LookOnlyError):
            await secrets.read(NAME, "s1")
        assert made(there) == 0
        with pytest.raises(UnavailableError, match="No such image"):
            await secrets.read(NAME, "s1")
        assert made(there) == 1
        await secrets.aclose()
