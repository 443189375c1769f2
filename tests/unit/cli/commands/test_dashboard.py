"""`queenright dashboard`: the page from a shell, made by the command's own looks."""

from __future__ import annotations

import dataclasses
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from queenright.adapters.audit.log import AuditLog
from queenright.adapters.system_clock import SystemClock
from queenright.cli.commands import dashboard as command
from queenright.cli.exit_codes import FAILURE, UNREACHABLE, USAGE, CommandError
from queenright.core.kinds.load import load
from queenright.core.observed import Unknown
from queenright.engine.sight import Sight
from queenright.ports import Ports
from queenright.settings import Settings
from tests.bench.scale_world import fill, still_ports
from tests.fakes.files import FakeAudit
from tests.support.command_line import start
from tests.support.many_clusters import cluster_name, deployed, texts_of


def at(tmp_path: Path) -> Settings:
    """Settings for files of one cluster and one application."""
    directory = tmp_path / "manifests"
    directory.mkdir()
    for name, text in texts_of(1).items():
        (directory / Path(name).name).write_text(text)
    return Settings(manifests=directory, state_dir=tmp_path / "state")


def filled() -> Ports:
    texts = texts_of(1)
    ports = dataclasses.replace(still_ports(texts, FakeAudit()), clock=SystemClock())
    fill(ports, deployed(load(texts).documents))
    return ports


async def test_the_page_shows_the_swarm_and_follows_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, found = at(tmp_path), filled()
    assert settings.state_dir is not None
    with AuditLog(settings.state_dir, SystemClock(), sink=lambda _: None, version="1"):
        pass

    @asynccontextmanager
    async def opened(_: Settings, *, audit: bool) -> AsyncIterator[Ports]:
        assert audit is False
        yield found

    monkeypatch.setattr(command, "open_ports", opened)
    monkeypatch.setattr(command, "EVERY_S", 0.05)
    bound, has_begun = [0], anyio.Event()

    def ready(port: int) -> None:
        bound[0] = port
        has_begun.set()

    async with anyio.create_task_group() as group:
        group.start_soon(command.serve, settings, None, 0, ready)
        with anyio.fail_after(30):
            await has_begun.wait()
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{bound[0]}") as client:
                page = (await client.get("/")).text
                assert cluster_name(0) in page
                cluster = (await client.get(f"/clusters/{cluster_name(0)}")).text
                assert "member-1" in cluster
                assert "(operator)" in (await client.get("/trail")).text
                assert (await client.post("/")).status_code == 405
                (settings.manifests / "wrong.yaml").write_text("kind: Nonsense")
                while "wrong.yaml" not in page:
                    await anyio.sleep(0.1)
                    page = (await client.get("/")).text
        group.cancel_scope.cancel()


async def test_a_guard_s_refusal_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> command.Refusal:
        return command.Refusal("quorum", "it would lose quorum")

    monkeypatch.setattr(command, "first_refusal", refuse)
    sight, ports = Sight(SystemClock()), filled()
    await command.look(ports, sight, at(tmp_path), None)
    entries = (await sight.entries()).values()
    assert {entry.word for entry in entries} == {"it would lose quorum"}


async def test_a_swarm_that_can_not_be_read_ends_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def blind(*_: object) -> Any:
        return dataclasses.replace(found, swarm=Unknown("no answer"))

    sight = Sight(SystemClock())
    found = await command.look(filled(), sight, at(tmp_path), None)
    assert found is not None
    monkeypatch.setattr(command, "look", blind)
    with pytest.raises(CommandError) as caught:
        await command.serve(Settings(state_dir=None), None, 0, lambda _: None)
    assert caught.value.code == UNREACHABLE


def test_a_path_that_is_not_there_and_a_port_in_use(tmp_path: Path) -> None:
    ended = start(tmp_path, "dashboard", str(tmp_path / "none"))
    assert (ended.returncode, ended.stdout) == (USAGE, "")
    at(tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        ended = start(tmp_path, "dashboard", "--port", str(port))
    assert ended.returncode == FAILURE
    assert f"127.0.0.1:{port}" in ended.stderr
    assert "--port" in ended.stderr


def test_without_a_socket_of_docker_it_ends(tmp_path: Path) -> None:
    at(tmp_path)
    ended = start(tmp_path, "dashboard")
    assert (ended.returncode, ended.stdout) == (UNREACHABLE, "")
    assert "docker.sock" in ended.stderr
