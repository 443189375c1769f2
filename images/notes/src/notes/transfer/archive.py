"""Reads a zip that is stored in the database.

Decides from the zip's directory if it may be unpacked, and which of its files. Invariant: at most
two chunks of stored files are in memory, and the directory's records are counted before it is read.
"""

import asyncio
import io
import itertools
import stat
import struct
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO
from uuid import UUID

from notes.db.pool import Database
from notes.files import chunks
from notes.files.chunks import CHUNK_BYTES
from notes.files.ranges import Span
from notes.jobs.job import JobFailedError
from notes.transfer.entry_names import UnusableNameError, cleaned, decoded, fold, is_junk, shown

MAX_ENTRIES = 50_000
MAX_DIRECTORY_BYTES = 16 * 1024 * 1024
MAX_RATIO = 200  # ordinary text compresses up to about 1:20, a zip bomb from 1:1000
FREE_BYTES = 10 * 1024 * 1024
MAX_UNPACKED_BYTES = 4 * 1024**3
MAX_PARTS = 50
_CHUNKS_HELD = 2
_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, struct.error)


class Held:
    """A cache of chunks, shared by all files that an import reads."""

    def __init__(self) -> None:
        self._chunks: OrderedDict[tuple[UUID, int], bytes] = OrderedDict()

    def get(self, key: tuple[UUID, int]) -> bytes | None:
        if key in self._chunks:
            self._chunks.move_to_end(key)
        return self._chunks.get(key)

    def put(self, key: tuple[UUID, int], data: bytes) -> None:
        self._chunks[key] = data
        while len(self._chunks) > _CHUNKS_HELD:
            self._chunks.popitem(last=False)


class ChunkFile(io.RawIOBase):
    """A stored file as a file object, for readers in a thread outside the event loop."""

    def __init__(
        self, db: Database, file_id: UUID, size: int, loop: asyncio.AbstractEventLoop, held: Held
    ) -> None:
        super().__init__()
        self._db = db
        self._file_id = file_id
        self._size = size
        self._loop = loop
        self._at = 0
        self._held = held

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
        """Reads `size` bytes; fewer only at the end, as the zip reader requires."""
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
        key = (self._file_id, number)
        data = self._held.get(key)
        if data is None:
            whole = Span(0, chunks.length(self._size, number))
            reading = chunks.read(self._db, self._file_id, number, whole)
            data = asyncio.run_coroutine_threadsafe(reading, self._loop).result()
            self._held.put(key, data)
        return data


@contextmanager
def damage(path: str) -> Iterator[None]:
    """Turns errors of the zip reader into a `JobFailedError` that names the path."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
        raise JobFailedError(f"{shown(path)}: the zip is damaged here.") from None


@dataclass(frozen=True, slots=True)
class Member:
    """One file of the archive and its zip."""

    zip: zipfile.ZipFile
    info: zipfile.ZipInfo

    @property
    def size(self) -> int:
        return self.info.file_size

    def open(self) -> IO[bytes]:
        return self.zip.open(self.info)

    def read(self, limit: int) -> bytes:
        """Reads the content; the caller has checked that it has at most `limit` bytes."""
        with self.zip.open(self.info) as source:
            return source.read(limit)


@dataclass(slots=True)
class Archive:
    """The files of one zip or of its parts, by cleaned path, in the zip's order."""

    members: dict[str, Member] = field(default_factory=dict)
    # Notes on files that are imported in spite of them.
    notes: dict[str, list[str]] = field(default_factory=dict)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    _folded: dict[str, str] = field(default_factory=dict)

    def find(self, path: str) -> str | None:
        """The path of a file in a manifest; a re-created zip may have other case or encoding."""
        if path in self.members:
            return path
        if len(self._folded) != len(self.members):
            self._folded = {fold(name): name for name in self.members}
        return self._folded.get(fold(path))

    def note(self, path: str, text: str) -> None:
        self.notes.setdefault(path, []).append(text)


def open_zip(file: io.RawIOBase, size: int) -> zipfile.ZipFile:
    """Opens a zip after counting its directory. Raises `JobFailedError` with the reason."""
    try:
        _check_directory(file, size)
        archive = zipfile.ZipFile(file)
    except _ERRORS:
        raise JobFailedError("This is not a zip file, or a damaged one.") from None
    entries = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
    if sum(entry.compress_size for entry in entries) > size:
        raise JobFailedError("The zip's entries overlap.")
    for entry, behind in itertools.pairwise(entries):
        if entry.header_offset + 30 + entry.compress_size > behind.header_offset:
            raise JobFailedError("The zip's entries overlap.")
    return archive


def check_room(zips: list[zipfile.ZipFile], size: int) -> None:
    """Refuses zips that unpack to far more than their size, according to their directories.

    Readers stop at the size in the directory record, so no entry can give more.
    """
    unpacked = sum(entry.file_size for archive in zips for entry in archive.infolist())
    if unpacked > FREE_BYTES + MAX_RATIO * size:
        raise JobFailedError("The zip unpacks to far more than its size.")
    if unpacked > MAX_UNPACKED_BYTES:
        raise JobFailedError(f"The zip unpacks to more than {MAX_UNPACKED_BYTES} bytes; split it.")
    if sum(len(archive.infolist()) for archive in zips) > MAX_ENTRIES:
        raise JobFailedError(f"The zip has more than {MAX_ENTRIES} entries; split it.")


def _check_directory(file: io.RawIOBase, size: int) -> None:
    """Counts the directory's records before reading them, which needs some 600 bytes for each."""
    file.seek(max(0, size - 65_557 - 20))
    tail = file.read(65_557 + 20) or b""
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) < at + 22:
        raise zipfile.BadZipFile
    length = struct.unpack_from("<I", tail, at + 12)[0]
    end = max(0, size - len(tail)) + at
    if at >= 20 and tail[at - 20 : at - 16] == b"PK\6\7":
        file.seek(struct.unpack_from("<Q", tail, at - 12)[0])
        wide = file.read(56) or b""
        if wide[:4] == b"PK\6\6" and len(wide) == 56:
            length = struct.unpack_from("<Q", wide, 40)[0]
            end -= 76
    if length > MAX_DIRECTORY_BYTES:
        raise JobFailedError(
            f"The zip's directory is larger than {MAX_DIRECTORY_BYTES} bytes; split it."
        )
    # Like the zip reader: bytes before the zip shift all offsets.
    file.seek(max(0, end - length))
    directory = file.read(length) or b""
    count = at = 0
    while directory[at : at + 4] == b"PK\1\2" and len(directory) >= at + 46:
        at += 46 + sum(struct.unpack_from("<HHH", directory, at + 28))
        count += 1
        if count > MAX_ENTRIES:
            raise JobFailedError(f"The zip has more than {MAX_ENTRIES} entries; split it.")


def parts_of(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The zips in a zip that contains only zips: large exports come in parts."""
    files = [i for i in archive.infolist() if not i.is_dir() and not is_junk(i.filename)]
    if not files or len(files) > MAX_PARTS:
        return []
    return files if all(i.filename.lower().endswith(".zip") for i in files) else []


def gather(zips: list[zipfile.ZipFile], max_file_bytes: int) -> Archive:
    """The readable files by clean, unique paths, and the reasons for those left out."""
    found = Archive()
    for archive in zips:
        for info in archive.infolist():
            try:
                name, guessed = decoded(info)
                path, changed = cleaned(name)
            except UnusableNameError as error:
                found.left_out.append((shown(info.orig_filename), str(error)))
                continue
            if name.endswith(("/", "\\")):
                continue
            reason = _unreadable(info, path, max_file_bytes)
            if reason is not None:
                found.left_out.append((path, reason))
                continue
            free = _free(found, path)
            if free != path:
                changed.append("another file of the zip has the same name")
            found.members[free] = Member(archive, info)
            for note in (*guessed, *changed):
                found.note(free, note)
    return found


def _unreadable(info: zipfile.ZipInfo, path: str, max_file_bytes: int) -> str | None:
    if is_junk(path):
        return "it is a file of the operating system or an editor"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "it is a link, not a file"
    if info.flag_bits & 0x1:
        return "it is encrypted"
    if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        return "it is compressed in an unusual way"
    if info.file_size > max_file_bytes:
        return f"it is larger than {max_file_bytes} bytes"
    return None


def _free(found: Archive, path: str) -> str:
    """A path that no other file has; `numbers` holds the next number to try."""
    if path not in found.members:
        return path
    folder, slash, base = path.rpartition("/")
    stem, dot, ending = base.rpartition(".")
    if not stem:
        stem, dot, ending = base, "", ""
    number = found.numbers.get(path, 2)
    while (made := f"{folder}{slash}{stem} ({number}){dot}{ending}") in found.members:
        number += 1
    found.numbers[path] = number + 1
    return made
