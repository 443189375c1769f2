"""The server over a real socket: answers, limits, slow clients, and news."""

from __future__ import annotations

import socket
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import httpx
import pytest
import structlog
from anyio.abc import SocketStream

from queenright.adapters.page import server
from queenright.adapters.page.access import Access
from queenright.adapters.page.server import Server
from queenright.engine.pages import SightPages
from queenright.engine.sight import Sight
from queenright.ports.pages import Page
from tests.support.sights import StillTime, cluster_pass, sight_of

TOKEN = "0123456789abcdef"
SAFE_HEADERS = ("content-security-policy", "x-content-type-options", "cache-control")
ADDRESS = "127.0.0.1"


@asynccontextmanager
async def serving(sight: Sight | None = None, token: str = "") -> AsyncGenerator[int, None]:
    pages = SightPages(sight or sight_of(cluster_pass()), StillTime())
    async with anyio.create_task_group() as group:
        yield await group.start(Server(pages, Access((), token)).serve, ADDRESS, 0)
        group.cancel_scope.cancel()


@asynccontextmanager
async def connected(port: int, sent: bytes) -> AsyncGenerator[SocketStream, None]:
    async with await anyio.connect_tcp(ADDRESS, port) as stream:
        await stream.send(sent)
        yield stream


async def rest(stream: SocketStream) -> bytes:
    data = b""
    try:
        while True:
            data += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return data


async def answer(port: int, sent: bytes) -> bytes:
    async with connected(port, sent) as stream:
        return await rest(stream)


async def test_a_page_is_served_with_what_keeps_it_safe() -> None:
    async with serving() as port, httpx.AsyncClient(base_url=f"http://{ADDRESS}:{port}") as client:
        for path in ("/", "/clusters/main", "/style.css", "/none"):
            found = await client.get(path)
            assert found.status_code == (404 if path == "/none" else 200)
            policy = found.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert [name for name in SAFE_HEADERS if name not in found.headers] == []
        head = await client.head("/")
        assert head.content == b""
        assert int(head.headers["content-length"]) == len((await client.get("/")).content)
        refused = await client.post("/", content=b"x" * 10_000)
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
        rebound = await client.get("/", headers={"Host": "evil.example"})
        assert rebound.status_code == 421
        assert b"main" not in rebound.content


async def test_without_the_token_nothing_is_served() -> None:
    async with serving(token=TOKEN) as port:
        base = f"http://{ADDRESS}:{port}"
        async with httpx.AsyncClient(base_url=base) as client:
            for path in ("/", "/events", "/style.css", "/clusters/main", "/none"):
                found = await client.get(path)
                assert found.status_code == 401
                assert "www-authenticate" in found.headers
            allowed = await client.get("/", auth=("anyone", TOKEN))
            assert allowed.status_code == 200
            assert TOKEN not in allowed.text


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20_000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
)
async def test_what_is_no_request_is_refused(sent: bytes) -> None:
    async with serving() as port:
        found = await answer(port, sent)
        assert found == b"" or found.startswith(b"HTTP/1.1 4")
        assert b"200 OK" in await answer(port, b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")


async def test_one_request_a_connection_is_answered() -> None:
    async with serving() as port:
        twice = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2
        assert (await answer(port, twice)).count(b"HTTP/1.1 ") == 1


async def test_a_client_that_sends_too_slowly_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HEAD_S", 0.2)
    async with serving() as port, connected(port, b"GET / HT") as slow:
        with anyio.fail_after(10):
            assert await rest(slow) == b""


async def test_a_client_that_does_not_read_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless:
        async def page(self, _: str) -> Page:
            return Page(200, "text/plain", b"x" * 50_000_000)

        async def changed(self, version: int) -> int:
            return version

    monkeypatch.setattr(server, "SEND_S", 0.2)
    monkeypatch.setattr(server, "MOST_OPEN", 1)
    async with anyio.create_task_group() as group:
        port = await group.start(Server(Endless(), Access()).serve, ADDRESS, 0)
        with (
            anyio.fail_after(server.ANSWER_S - 5),
            socket.create_connection((ADDRESS, port)) as silent,
        ):
            silent.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            # There is room for the next one only when the silent one has been left.
            assert (await answer(port, b"PUT / HTTP/1.1\r\nHost: localhost\r\n\r\n"))[
                9:12
            ] == b"405"
        group.cancel_scope.cancel()


async def test_only_so_many_connections_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_OPEN", 2)
    monkeypatch.setattr(server, "HEAD_S", 1.0)
    async with serving() as port:
        request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        async with connected(port, b"G"), connected(port, b"G"), connected(port, request) as late:
            with anyio.move_on_after(0.3) as waited:
                await late.receive()
            assert waited.cancelled_caught
            with anyio.fail_after(10):
                assert b"200 OK" in await rest(late)


async def test_a_fault_of_a_page_ends_only_its_connection() -> None:
    class Faulty:
        async def page(self, target: str) -> Page:
            if target == "/bad":
                raise IndexError("a secret")
            return Page(200, "text/plain", b"fine")

        async def changed(self, version: int) -> int:
            return version

    async with anyio.create_task_group() as group:
        port = await group.start(Server(Faulty(), Access()).serve, ADDRESS, 0)
        bad = await answer(port, b"GET /bad HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"a secret" not in bad
        assert b"fine" in await answer(port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        group.cancel_scope.cancel()


async def test_news_are_sent_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "NEWS_S", 0.01)
    monkeypatch.setattr(server, "BEAT_S", 0.05)
    sight = sight_of(cluster_pass())
    request = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    async with serving(sight) as port, connected(port, request) as stream:
        with anyio.fail_after(10):
            data = b""
            while b"event: pass\ndata: 1\n\n" not in data or b": still here" not in data:
                data += await stream.receive()
            assert b"text/event-stream" in data
            sight.tell()
            while b"event: pass\ndata: 2\n\n" not in data:
                data += await stream.receive()


async def test_only_so_many_wait_for_news(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_STREAMS", 1)
    request = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    async with serving() as port:
        async with connected(port, request) as stream:
            assert b"200" in await stream.receive()
            assert (await answer(port, request))[9:12] == b"503"
        for _ in range(100):
            if (await first(port, request))[9:12] == b"200":
                return
            await anyio.sleep(0.05)
        pytest.fail("the place of a client that went is not free again")


async def first(port: int, sent: bytes) -> bytes:
    async with connected(port, sent) as stream:
        return await stream.receive()


async def test_an_address_in_use_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "AGAIN_S", 0.05)
    with socket.create_server((ADDRESS, 0)) as taken:
        port = taken.getsockname()[1]
        async with anyio.create_task_group() as group:
            pages = SightPages(sight_of(cluster_pass()), StillTime())
            group.start_soon(Server(pages, Access()).serve, ADDRESS, port)
            await anyio.sleep(0.2)
            taken.close()
            with anyio.fail_after(10):
                found = b""
                while b"200 OK" not in found:
                    await anyio.sleep(0.05)
                    try:
                        found = await answer(port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    except OSError:
                        continue
            group.cancel_scope.cancel()


async def test_a_client_that_breaks_off_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "NEWS_S", 0.01)
    request = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    sight = sight_of(cluster_pass())
    with structlog.testing.capture_logs() as logs:
        async with serving(sight) as port:
            for sent in (request, b"GET / HT", request[:-2]):
                with socket.create_connection((ADDRESS, port)) as gone:
                    gone.send(sent)
                    await anyio.sleep(0.1)
                    gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                sight.tell()
                await anyio.sleep(0.1)
            assert b"200" in await first(port, request)
    assert [one["event"] for one in logs if one["log_level"] not in {"info", "debug"}] == []
