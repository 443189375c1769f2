"""A Raft node's own ``status``, over pysyncobj's utility protocol (0.3.17), on the Raft port.

A message is a length, 4 bytes, and a zlib-compressed pickle. Its opcodes are read here as data:
nothing is unpickled, so that no peer can make this process construct or call anything. Invariant:
whatever is not a plain status is Unknown, and costs bounded time and memory.
"""

from __future__ import annotations

import pickle
import struct
import zlib

import anyio

from queenright.adapters.plain_pickle import read_plain_pickle
from queenright.core.observed import Known, RaftStatus, Unknown

LENGTH = struct.Struct("<i")
MOST_BYTES = 64 * 1024
"""A status of three nodes has about 600 bytes, and 1,200 unpacked."""
PARTNER = "partner_node_status_server_"
CONNECTED = 2
NOT_CREDIBLE = (
    OSError,
    TimeoutError,
    ValueError,
    zlib.error,
    anyio.EndOfStream,
    anyio.BrokenResourceError,
)


def framed(message: object) -> bytes:
    body = zlib.compress(pickle.dumps(message, protocol=2))
    return LENGTH.pack(len(body)) + body


REQUEST = framed(["status"])


async def raft_status(address: str, port: int, timeout_s: float) -> Known[RaftStatus] | Unknown:
    """What the Raft node says of its quorum; Unknown with the reason when it does not, in time."""
    try:
        with anyio.fail_after(timeout_s):
            body = await asked(address, port)
        return Known(decode_raft_status(body))
    except NOT_CREDIBLE as error:
        return Unknown(f"raft at {address}:{port}: {str(error) or type(error).__name__}")


async def asked(address: str, port: int) -> bytes:
    """The body of the node's answer, as it came."""
    async with await anyio.connect_tcp(address, port) as stream:
        await stream.send(REQUEST)
        found = bytearray()
        while len(found) < LENGTH.size or len(found) < LENGTH.size + length_of(found):
            found += await stream.receive()
        return bytes(found[LENGTH.size : LENGTH.size + length_of(found)])


def length_of(found: bytearray) -> int:
    length: int = LENGTH.unpack_from(found)[0]
    if not 0 < length <= MOST_BYTES:
        raise ValueError("not a Raft node's answer: its length is no length")
    return length


def decode_raft_status(body: bytes) -> RaftStatus:
    """Raises ValueError or zlib.error for anything but a status."""
    unpacking = zlib.decompressobj()
    plain = unpacking.decompress(body, MOST_BYTES)
    if unpacking.unconsumed_tail or not unpacking.eof:
        raise ValueError("not a Raft node's answer: it does not end")
    status = read_plain_pickle(plain)
    if not isinstance(status, dict):
        raise ValueError("not a Raft node's status")  # noqa: TRY004  # one error for all that is not credible
    has_quorum, term, leader = (status.get(k) for k in ("has_quorum", "raft_term", "leader"))
    if not isinstance(has_quorum, bool) or type(term) is not int:
        raise ValueError("not a Raft node's status: no quorum or term")
    partners = {
        key.removeprefix(PARTNER): value
        for key, value in status.items()
        if isinstance(key, str) and key.startswith(PARTNER)
    }
    return RaftStatus(
        has_quorum=has_quorum,
        leader=address_of(leader),
        term=term,
        reachable=frozenset(name for name, value in partners.items() if value == CONNECTED),
        unreachable=frozenset(name for name, value in partners.items() if value != CONNECTED),
    )


def address_of(node: object) -> str:
    """A node's address: pysyncobj sends its own object, of which only the state is read."""
    if node is None:
        return ""
    found = node.get("_id") if isinstance(node, dict) else None
    if not isinstance(found, str):
        raise ValueError("not a Raft node's status: its leader has no address")  # noqa: TRY004  # as above
    return found
