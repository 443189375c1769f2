"""The operator with its page: the loop's passes and records are seen over HTTP."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import anyio
import httpx
import pytest

from queenright import wiring
from queenright.adapters.audit.file import FILE_NAME
from queenright.adapters.audit.log import AuditLog
from queenright.adapters.page.access import TokenError
from queenright.adapters.system_clock import SystemClock
from queenright.core.kinds.load import load
from queenright.engine.sight import Sight
from queenright.settings import Docker, Listen, Settings
from queenright.wiring import Shown, remembered_trail, run_loop, run_operator
from tests.bench.scale_world import fill, still_ports
from tests.fakes.files import FakeAudit
from tests.support.many_clusters import deployed, texts_of
from tests.support.ports import free_port

CLUSTERS = 10
"""The first has an application."""


async def seen(client: httpx.AsyncClient, path: str, word: str) -> str:
    """Return the page once it has a word."""
    for _ in range(200):
        try:
            found = (await client.get(path)).text
        except httpx.TransportError:
            found = ""
        if word in found:
            return found
        await anyio.sleep(0.05)
    raise AssertionError(f"{path} never had {word}")


async def test_the_loops_passes_are_on_the_page() -> None:
    texts = texts_of(CLUSTERS)
    ports = dataclasses.replace(still_ports(texts, FakeAudit()), clock=SystemClock())
    port = free_port()
    fill(ports, deployed(load(texts).documents))
    sight = Sight(ports.clock)
    shown = Shown(sight, Listen(address="127.0.0.1", port=port), "")
    async with anyio.create_task_group() as group:
        group.start_soon(run_loop, ports, Settings(), shown)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            page = await seen(client, "/", "c0009")
            assert f"{CLUSTERS + 1}</strong> converged" in page
            cluster = await seen(client, "/clusters/c0000", "member-3")
            assert "Leader" in cluster
        group.cancel_scope.cancel()


async def test_a_page_that_fails_leaves_the_operator_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken:
        def __init__(self, *_: object) -> None:
            raise IndexError("a fault")

    monkeypatch.setattr(wiring, "Server", Broken)
    texts = texts_of(1)
    ports = still_ports(texts, FakeAudit())
    fill(ports, deployed(load(texts).documents))
    sight = Sight(ports.clock)
    async with anyio.create_task_group() as group:
        group.start_soon(
            run_loop, ports, Settings(), Shown(sight, Listen(address="127.0.0.1", port=1), "")
        )
        with anyio.fail_after(20):
            await sight.changed(0)
        assert len(await sight.entries()) == 2
        group.cancel_scope.cancel()


async def test_a_token_that_can_not_be_read_ends_the_start(tmp_path: Path) -> None:
    listen = Listen(address="127.0.0.1", port=1, token_file=tmp_path / "none")
    with pytest.raises(TokenError):
        await run_operator(Settings(listen=listen, state_dir=tmp_path))
    assert not (tmp_path / FILE_NAME).exists()


async def test_records_of_earlier_processes_are_remembered(tmp_path: Path) -> None:
    with AuditLog(tmp_path, SystemClock(), sink=lambda _: None, version="1"):
        pass
    memory = await remembered_trail(tmp_path)
    assert [one.cells[3] for one in memory.records()] == ["stop", "start"]
    assert (await remembered_trail(tmp_path / "none")).records() == ()
    assert (await remembered_trail(None)).records() == ()


async def test_a_file_that_is_not_valid_is_on_the_page() -> None:
    texts = {"x.yaml": "kind: Nonsense"}
    ports = dataclasses.replace(still_ports(texts, FakeAudit()), clock=SystemClock())
    port = free_port()
    shown = Shown(Sight(ports.clock), Listen(address="127.0.0.1", port=port), "")
    async with anyio.create_task_group() as group:
        group.start_soon(run_loop, ports, Settings(), shown)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            page = await seen(client, "/", "waits for a first valid file")
            assert "x.yaml" in page
        group.cancel_scope.cancel()


async def test_the_operators_own_records_are_on_the_page(tmp_path: Path) -> None:
    token, port = "0123456789abcdef", free_port()
    file = tmp_path / "token"
    file.write_text(token)
    settings = Settings(
        manifests=tmp_path / "manifests",
        state_dir=tmp_path / "state",
        docker=Docker(host=f"unix://{tmp_path}/none.sock"),
        listen=Listen(address="127.0.0.1", port=port, token_file=file),
    )
    async with anyio.create_task_group() as group:
        group.start_soon(run_operator, settings)
        given = httpx.BasicAuth("", token)
        base = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=base, auth=given) as client:
            page = await seen(client, "/trail", "(operator)")
            assert token not in page
            assert (await client.get("/", auth=httpx.BasicAuth("", "x"))).status_code == 401
        group.cancel_scope.cancel()
