"""A Raft port on which anything may listen: nothing is unpickled, nothing hangs, nothing grows."""

from __future__ import annotations

import asyncio
import os
import pickle
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queenright.adapters.patroni.raft_messages import LENGTH, MOST_BYTES, framed
from queenright.adapters.patroni.raft_status import REQUEST, decode_raft_status, raft_status
from queenright.adapters.patroni.safe_pickle import read_plain_pickle
from queenright.core.observed import Known, RaftStatus, Unknown

RECORDED = Path(__file__).parent / "recorded"
WITH_QUORUM = (RECORDED / "raft-with-quorum.bin").read_bytes()
"""The answer of one of a cluster's three members (Patroni 4.1.5, pysyncobj 0.3.17), without its
length."""
ALONE = (RECORDED / "raft-alone.bin").read_bytes()
"""The answer of a node whose two partners are not there."""
LEADING = RaftStatus(
    has_quorum=True,
    leader="10.77.0.12:5010",
    term=1,
    reachable=frozenset({"10.77.0.13:5010", "10.77.0.14:5010"}),
    address="10.77.0.12:5010",
    state="leader",
    commit_index=108,
    last_applied=108,
    log_length=108,
    uptime_s=87,
    match_index={"10.77.0.13:5010": 108, "10.77.0.14:5010": 108},
)
LEFT_ALONE = RaftStatus(
    has_quorum=False,
    unreachable=frozenset({"127.0.0.1:25011", "127.0.0.1:25012"}),
    address="127.0.0.1:25010",
    state="follower",
    commit_index=1,
    last_applied=1,
    log_length=1,
    uptime_s=2,
)
STATUS: dict[object, object] = {
    "has_quorum": True,
    "raft_term": 4,
    "leader": None,
    "self": {"_id": "127.0.0.1:25010"},
    "state": 0,
    "commit_idx": 9,
    "last_applied": 1,
    "log_len": 4,
    "uptime": 30,
}

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def node(talk: Talk) -> AsyncIterator[int]:
    """The port of a program that talks so."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def ask(sent: bytes, timeout_s: float = 2.0) -> Known[RaftStatus] | Unknown:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(REQUEST))
        writer.write(sent)
        await writer.drain()

    async with node(talk) as port:
        return await raft_status("127.0.0.1", port, timeout_s)


def with_length(body: bytes) -> bytes:
    return LENGTH.pack(len(body)) + body


async def test_a_node_with_quorum_and_one_without() -> None:
    assert await ask(with_length(WITH_QUORUM)) == Known(LEADING)
    assert await ask(with_length(ALONE)) == Known(LEFT_ALONE)


async def test_a_node_that_is_behind_says_so() -> None:
    found = await ask(framed({**STATUS, "match_idx_server_127.0.0.1:25011": 3}))
    assert isinstance(found, Known)
    assert found.value.is_behind
    assert (found.value.commit_index, found.value.last_applied) == (9, 1)
    assert found.value.match_index == {}  # of an earlier time, where it does not lead
    assert found.value.voters == {"127.0.0.1:25010"}


async def test_the_request_is_pysyncobjs() -> None:
    assert pickle.loads(zlib.decompress(REQUEST[LENGTH.size :])) == ["status"]  # noqa: S301  # our own bytes


async def test_an_answer_in_drops_and_one_with_more_behind_it() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(REQUEST))
        for byte in with_length(WITH_QUORUM):
            writer.write(bytes([byte]))
            await writer.drain()

    async with node(talk) as port:
        assert await raft_status("127.0.0.1", port, 2) == Known(LEADING)
    assert await ask(with_length(WITH_QUORUM) + b"more") == Known(LEADING)


class Hostile:
    """Unpickled anywhere, it leaves a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, (str(self.path),))


async def test_nothing_is_called_whatever_is_sent(tmp_path: Path) -> None:
    left = tmp_path / "left"
    for message in (Hostile(left), {**STATUS, "leader": Hostile(left)}, [Hostile(left)]):
        assert isinstance(await ask(framed(message)), Unknown)
    assert not left.exists()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\x01",
        LENGTH.pack(-1),
        LENGTH.pack(0),
        LENGTH.pack(MOST_BYTES + 1),
        LENGTH.pack(2**31 - 1) + b"x" * 100,
        with_length(b"x"),
        with_length(zlib.compress(b"x")),
        with_length(zlib.compress(b"")),
        with_length(WITH_QUORUM[:-20]),
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        framed("FAIL STATUS"),
        framed(None),
        framed([]),
        framed({}),
        framed({**STATUS, "has_quorum": 1}),
        framed({**STATUS, "raft_term": None}),
        framed({**STATUS, "raft_term": True}),
        framed({**STATUS, "commit_idx": "9"}),
        framed({**STATUS, "last_applied": None}),
        framed({**STATUS, "log_len": -1}),
        framed({**STATUS, "uptime": 1.5}),
        framed({**STATUS, "state": True}),
        framed({**STATUS, "state": 2, "match_idx_server_a": "x"}),
        framed({**STATUS, "self": "127.0.0.1:25010"}),
        framed({**STATUS, "leader": "10.77.0.12:5010"}),
        framed({**STATUS, "leader": {"id": "x"}}),
        framed({**STATUS, "leader": {"_id": 7}}),
        framed({**STATUS, (1, 2): "a tuple"}),
        framed({**STATUS, "x": {1, 2}}),
    ],
)
async def test_what_is_no_status_is_unknown(sent: bytes) -> None:
    found = await ask(sent)
    assert isinstance(found, Unknown)
    assert found.why


async def test_a_node_that_hangs_up_hard_is_unknown() -> None:
    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(with_length(WITH_QUORUM)[:9])
        await asyncio.sleep(0.05)
        writer.transport.abort()

    async with node(talk) as port:
        assert isinstance(await raft_status("127.0.0.1", port, 2), Unknown)


async def test_a_node_that_says_nothing_is_unknown_in_time() -> None:
    async def talk(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    async with node(talk) as port:
        began = time.monotonic()
        found = await raft_status("127.0.0.1", port, 0.2)
        assert isinstance(found, Unknown)
        assert time.monotonic() - began < 30


@pytest.mark.parametrize("address", ["", "not an address", "a\nb", "x" * 70_000, "\0"])
async def test_what_is_no_address_is_unknown(address: str) -> None:
    assert isinstance(await raft_status(address, 5010, 2), Unknown)


@pytest.mark.parametrize(
    "pickled",
    [
        b"\x80\x02" + b"]" + b"r\xff\xff\xff\xff.",
        pickle.dumps(b"x" * 50_000_000, protocol=2),
        b"(" * 60_000 + b".",
        b"\x80\x02N" + b"\x85" * 60_000 + b".",
        b"\x80\x02]" + b"]a" * 100_000 + b".",
    ],
)
def test_a_bomb_costs_little(pickled: bytes) -> None:
    body = zlib.compress(pickled)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="not "):
            decode_raft_status(body)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


@given(st.binary(max_size=200))
def test_any_bytes_are_a_status_or_refused(body: bytes) -> None:
    for made in (body, zlib.compress(body), zlib.compress(b"\x80\x02" + body)):
        try:
            decode_raft_status(made)
        except (ValueError, zlib.error):
            continue


@given(st.data())
def test_a_damaged_status_is_a_status_or_refused(data: st.DataObject) -> None:
    plain = bytearray(zlib.decompress(WITH_QUORUM))
    for at in data.draw(st.lists(st.integers(0, len(plain) - 1), min_size=1, max_size=4)):
        plain[at] = data.draw(st.integers(0, 255))
    try:
        found = decode_raft_status(zlib.compress(bytes(plain)))
    except ValueError:
        return
    assert isinstance(found.has_quorum, bool)
    assert isinstance(found.leader, str)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
PLAIN = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(st.text(max_size=9) | st.integers(), inner, max_size=6)
    ),
    max_leaves=12,
)


@given(PLAIN)
def test_plain_data_is_read_as_pickle_would(value: object) -> None:
    assert read_plain_pickle(pickle.dumps(value, protocol=2)) == value
