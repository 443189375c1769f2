"""Messages of a Raft node: pysyncobj's utility protocol (0.3.17), on the Raft port.

A message is a length, 4 bytes, and a zlib-compressed pickle. Its opcodes are read here as data:
nothing is unpickled, so that no peer can make this process construct or call anything. Invariant:
anything else costs bounded time and memory, and is one of the errors in ``NOT_CREDIBLE``.
"""

from __future__ import annotations

import pickle
import struct
import zlib

import anyio

from queenright.adapters.patroni.safe_pickle import read_plain_pickle

LENGTH = struct.Struct("<i")
MOST_BYTES = 64 * 1024
"""A status of three nodes has about 600 bytes, and 1,200 unpacked."""
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


async def exchanged(stream: anyio.abc.SocketStream, request: bytes) -> bytes:
    """Send the request, and return the body of the first message that comes."""
    await stream.send(request)
    found = bytearray()
    while len(found) < LENGTH.size or len(found) < LENGTH.size + length_of(found):
        found += await stream.receive()
    return bytes(found[LENGTH.size : LENGTH.size + length_of(found)])


def length_of(found: bytearray) -> int:
    length: int = LENGTH.unpack_from(found)[0]
    if not 0 < length <= MOST_BYTES:
        raise ValueError("not a Raft node's answer: it has no valid length")
    return length


def decode_answer(body: bytes) -> object:
    """Return the plain data of an answer; ValueError or zlib.error for anything else."""
    unpacking = zlib.decompressobj()
    plain = unpacking.decompress(body, MOST_BYTES)
    if unpacking.unconsumed_tail or not unpacking.eof:
        raise ValueError("not a Raft node's answer: it does not end")
    return read_plain_pickle(plain)
