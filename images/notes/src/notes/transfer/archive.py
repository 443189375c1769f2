"""A zip that lies in the database, opened as if it were a file.

Decides from the zip's directory whether it may be unpacked at all. Invariant: at most two chunks of
it are in memory.
"""

import asyncio
import io
import re
import stat
import zipfile
from collections import OrderedDict
from uuid import UUID

from notes.db.pool import Database
from notes.files import chunks
from notes.files.chunks import CHUNK_BYTES
from notes.files.ranges import Span
from notes.jobs.runner import JobFailedError

MAX_ENTRIES = 50_000
MAX_RATIO = 200  # honest text compresses up to about 1:20, a bomb from 1:1000
FREE_BYTES = 10 * 1024 * 1024
_CHUNKS_HELD = 2


class ChunkFile(io.RawIOBase):
    """A stored file, for readers that run in a thread beside the event loop, never on it."""

    def __init__(
        self, db: Database, file_id: UUID, size: int, loop: asyncio.AbstractEventLoop
    ) -> None:
        super().__init__()
        self._db = db
        self._file_id = file_id
        self._size = size
        self._loop = loop
        self._at = 0
        self._held: OrderedDict[int, bytes] = OrderedDict()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Short reads are allowed only at the end: the zip reader asks for what it needs."""
        wanted = self._size - self._at if size < 0 else min(size, self._size - self._at)
        parts = list[bytes]()
        while wanted > 0:
            chunk = self._chunk(self._at // CHUNK_BYTES)
            start = self._at % CHUNK_BYTES
            part = chunk[start : start + wanted]
            parts.append(part)
            self._at += len(part)
            wanted -= len(part)
        return b"".join(parts)

    def _chunk(self, number: int) -> bytes:
        if number not in self._held:
            whole = Span(0, chunks.length(self._size, number))
            reading = chunks.read(self._db, self._file_id, number, whole)
            self._held[number] = asyncio.run_coroutine_threadsafe(reading, self._loop).result()
            while len(self._held) > _CHUNKS_HELD:
                self._held.popitem(last=False)
        self._held.move_to_end(number)
        return self._held[number]


def open_zip(file: ChunkFile, size: int, max_file_bytes: int) -> zipfile.ZipFile:
    """The zip, looked over. Raises `JobFailedError` that says what is wrong with it."""
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError):
        raise JobFailedError("This is not a zip file, or a damaged one.") from None
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise JobFailedError(f"The zip has more than {MAX_ENTRIES} entries.")
    packed = sum(entry.compress_size for entry in entries)
    if packed > size:
        raise JobFailedError("The zip's entries overlap.")
    if sum(entry.file_size for entry in entries) > FREE_BYTES + MAX_RATIO * size:
        raise JobFailedError("The zip unpacks to far more than it is.")
    names = set[str]()
    for entry in entries:
        _check(entry, max_file_bytes)
        if entry.filename in names:
            raise JobFailedError(f"{shown(entry.filename)}: is in the zip twice.")
        names.add(entry.filename)
    return archive


def _check(entry: zipfile.ZipInfo, max_file_bytes: int) -> None:
    name = entry.orig_filename
    parts = name.rstrip("/").split("/")
    climbs = any(part in {"", ".", ".."} for part in parts)
    if climbs or "\\" in name or "\0" in name or re.match(r"^[A-Za-z]:", name):
        raise JobFailedError(f"{shown(name)}: this name leads out of the zip.")
    if len(parts) > 50 or len(name.encode("utf-8", "replace")) > 4000:
        raise JobFailedError(f"{shown(name)}: this name is too long.")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise JobFailedError(f"{shown(name)}: links cannot be imported.")
    if entry.flag_bits & 0x1:
        raise JobFailedError(f"{shown(name)}: it is encrypted.")
    if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise JobFailedError(f"{shown(name)}: it is compressed in an unusual way.")
    if entry.file_size > max_file_bytes:
        raise JobFailedError(f"{shown(name)}: it is larger than {max_file_bytes} bytes.")


def shown(name: str) -> str:
    """A name for a message."""
    return "".join(c if c.isprintable() else "?" for c in name[:120])
