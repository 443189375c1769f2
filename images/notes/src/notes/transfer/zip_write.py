"""Writes a zip as a stream, of any size (zip64), without compression.

Invariant: an entry's size and checksum are known before its bytes are sent, so readers need no
seeking. Most attachments hardly compress anyway: pictures, films, archives.
"""

import struct
from collections.abc import AsyncIterator
from dataclasses import dataclass

_UTF8_NAME = 0x0800
_MAX32 = 0xFFFFFFFF
_MAX16 = 0xFFFF
_DATE = (2020 - 1980) << 9 | 1 << 5 | 1  # a fixed date: equal content gives an equal zip
_UNIX_FILE = 0o100644 << 16
_VERSION = 45


@dataclass(frozen=True, slots=True)
class Entry:
    """One file to write."""

    name: str
    size: int
    crc32: int
    data: AsyncIterator[bytes] | bytes


async def zip_stream(entries: AsyncIterator[Entry]) -> AsyncIterator[bytes]:
    """Yields the bytes of the zip."""
    directory = list[bytes]()
    offset = 0
    async for entry in entries:
        name = entry.name.encode()
        head = _local(entry, name)
        directory.append(_central(entry, name, offset))
        yield head
        written = 0
        if isinstance(entry.data, bytes):
            yield entry.data
            written = len(entry.data)
        else:
            async for part in entry.data:
                written += len(part)
                yield part
        if written != entry.size:
            raise ValueError(f"{entry.name}: {written} bytes instead of {entry.size}")
        offset += len(head) + entry.size
    listing = b"".join(directory)
    yield listing
    yield _end(len(directory), len(listing), offset)


def _local(entry: Entry, name: bytes) -> bytes:
    large = entry.size >= _MAX32
    size = _MAX32 if large else entry.size
    extra = struct.pack("<HHQQ", 1, 16, entry.size, entry.size) if large else b""
    return (
        struct.pack(
            "<4sHHHHHIIIHH",
            b"PK\3\4",
            _VERSION,
            _UTF8_NAME,
            0,
            0,
            _DATE,
            entry.crc32,
            size,
            size,
            len(name),
            len(extra),
        )
        + name
        + extra
    )


def _central(entry: Entry, name: bytes, offset: int) -> bytes:
    extra = b""
    size, at = entry.size, offset
    if size >= _MAX32:
        extra += struct.pack("<QQ", size, size)
        size = _MAX32
    if at >= _MAX32:
        extra += struct.pack("<Q", at)
        at = _MAX32
    if extra:
        extra = struct.pack("<HH", 1, len(extra)) + extra
    return (
        struct.pack(
            "<4sHHHHHHIIIHHHHHII",
            b"PK\1\2",
            3 << 8 | _VERSION,
            _VERSION,
            _UTF8_NAME,
            0,
            0,
            _DATE,
            entry.crc32,
            size,
            size,
            len(name),
            len(extra),
            0,
            0,
            0,
            _UNIX_FILE,
            at,
        )
        + name
        + extra
    )


def _end(count: int, size: int, offset: int) -> bytes:
    large = count >= _MAX16 or size >= _MAX32 or offset >= _MAX32
    out = b""
    if large:
        out = struct.pack(
            "<4sQHHIIQQQQ", b"PK\6\6", 44, _VERSION, _VERSION, 0, 0, count, count, size, offset
        )
        out += struct.pack("<4sIQI", b"PK\6\7", 0, offset + size, 1)
    few = min(count, _MAX16)
    return out + struct.pack(
        "<4sHHHHIIH", b"PK\5\6", 0, 0, few, few, min(size, _MAX32), min(offset, _MAX32), 0
    )
