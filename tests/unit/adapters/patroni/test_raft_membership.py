"""The membership adapter where anything may listen: one request, and nothing is taken for an answer
that is none."""

from __future__ import annotations

import asyncio
import os
import pickle
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queenright.adapters.patroni.raft_membership import PysyncobjMembership, decode_voters
from queenright.adapters.patroni.raft_messages import LENGTH, MOST_BYTES, decode_answer, framed
from queenright.core.observed import Known, Unknown
from queenright.ports.errors import ConflictError, UnavailableError

VOTER = "10.77.0.13:5010"
MEMBERS = [
    {"addr": VOTER, "leader": True, "status": 2},
    {"addr": "10.77.0.14:5010", "leader": False, "status": 0},
]

Ask = Callable[[PysyncobjMembership, int], Awaitable[object]]


@asynccontextmanager
async def node(answer: bytes | None, asked: list[object]) -> AsyncIterator[int]:
    """The port of a node that answers so, and closes the connection without an answer for None;
    each request is added to ``asked``."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
        body = await reader.readexactly(length)
        asked.append(pickle.loads(zlib.decompress(body)))  # noqa: S301  # our own bytes
        writer.write(answer or b"")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def told(answer: bytes | None, ask: Ask) -> tuple[object, list[object]]:
    asked: list[object] = []
    async with node(answer, asked) as port:
        return await ask(PysyncobjMembership(2.0), port), asked


async def refused(answer: bytes | None, ask: Ask) -> str:
    """Return the text of the UnavailableError; the request was sent once."""
    asked: list[object] = []
    async with node(answer, asked) as port:
        with pytest.raises(UnavailableError) as error:
            await ask(PysyncobjMembership(2.0), port)
    assert len(asked) == 1
    return str(error.value)


async def voters(membership: PysyncobjMembership, port: int) -> object:
    return await membership.voters("127.0.0.1", port)


async def remove(membership: PysyncobjMembership, port: int) -> None:
    await membership.remove("127.0.0.1", port, VOTER)


async def transfer(membership: PysyncobjMembership, port: int) -> None:
    await membership.transfer("127.0.0.1", port, VOTER)


async def test_the_voters_are_the_addresses_that_the_node_lists() -> None:
    found, asked = await told(framed(MEMBERS), voters)
    assert found == Known(frozenset({VOTER, "10.77.0.14:5010"}))
    assert asked == [["members"]]


async def test_a_success_ends_a_request() -> None:
    assert await told(framed(f"SUCCESS REMOVE {VOTER}"), remove) == (None, [["remove", VOTER]])
    assert await told(framed(f"SUCCESS TRANSFER {VOTER}"), transfer) == (
        None,
        [["transfer", VOTER]],
    )


async def test_a_failed_removal_may_still_be_applied() -> None:
    text = await refused(framed(f"FAIL REMOVE {VOTER}"), remove)
    assert VOTER in text
    assert "may still be applied" in text


async def test_a_failed_transfer_sent_nothing() -> None:
    async with node(framed(f"FAIL TRANSFER {VOTER}"), []) as port:
        with pytest.raises(ConflictError, match="observe"):
            await transfer(PysyncobjMembership(2.0), port)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"\x01",
        LENGTH.pack(MOST_BYTES + 1),
        framed("SUCCESS"),
        framed("SUCCESS REMOVE 10.77.0.99:5010"),
        framed(f"SUCCESS ADD {VOTER}"),
        framed("not enough values to unpack"),
        framed(True),
        framed([f"SUCCESS REMOVE {VOTER}"]),
        framed(f"SUCCESS REMOVE {VOTER}")[:-3],
    ],
)
async def test_any_other_answer_to_a_change_leaves_it_unknown(answer: bytes | None) -> None:
    assert "may still be applied" in await refused(answer, remove)
    assert "may still change" in await refused(answer, transfer)


async def test_without_a_connection_nothing_was_sent() -> None:
    async with node(None, []) as port:
        pass
    for ask in (remove, transfer):
        with pytest.raises(UnavailableError, match="nothing was sent"):
            await ask(PysyncobjMembership(2.0), port)
    assert isinstance(await voters(PysyncobjMembership(2.0), port), Unknown)


async def test_a_silent_node_is_unknown_in_time_and_asked_once() -> None:
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(UnavailableError, match="may still be applied"):
            await remove(PysyncobjMembership(0.2), port)
        assert isinstance(await voters(PysyncobjMembership(0.2), port), Unknown)
    assert connections == 2


class Hostile:
    """Unpickled anywhere, it leaves a directory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, (str(self.path),))


async def test_nothing_is_called_whatever_is_sent(tmp_path: Path) -> None:
    left = tmp_path / "left"
    for answer in (Hostile(left), [{"addr": Hostile(left)}]):
        found, _ = await told(framed(answer), voters)
        assert isinstance(found, Unknown)
        await refused(framed(answer), remove)
    assert not left.exists()


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        [],
        "members",
        [VOTER],
        [{}],
        [{"addr": ""}],
        [{"addr": 1}],
        [*MEMBERS, {"leader": False}],
        [*MEMBERS, MEMBERS[0]],
    ],
)
async def test_what_are_no_members_is_unknown(answer: object) -> None:
    found, _ = await told(framed(answer), voters)
    assert isinstance(found, Unknown)
    assert found.why


@given(st.binary(max_size=200))
def test_any_bytes_are_voters_or_refused(body: bytes) -> None:
    for made in (body, zlib.compress(body), zlib.compress(b"\x80\x02" + body)):
        try:
            found = decode_voters(decode_answer(made))
        except (ValueError, zlib.error):
            continue
        assert found
