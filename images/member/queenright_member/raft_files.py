"""Reads a Raft node's files as pysyncobj 0.3.17 reads them, and finds what it could not start with.

The journal is a mapped file without checksums: a header (name, version, format, end of the last
record), then records (size, entry, size). An entry is an index, a term and a command: one byte for
its type, and a pickle. ``.meta`` is a pickle with term, vote and commit index; ``.dump`` a gzip
file. Invariant: nothing is written here, nothing in a file is executed, and whatever pysyncobj has
written itself counts as whole.
"""

import gzip
import io
import pickle
import pickletools
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

NAME = b"PYSYNCOBJ".ljust(24, b"\0")
FORMAT, FORMAT_AT, END_AT, FIRST_RECORD_AT = 1, 32, 36, 40
LEAST_BYTES = 1024
"""pysyncobj extends a shorter journal with zeros before it reads it."""
SIZE, HEAD = struct.Struct("<I"), struct.Struct("<QQ")
REGULAR, NO_OP, MEMBERSHIP, VERSION = range(4)
PICKLED = frozenset({REGULAR, MEMBERSHIP, VERSION})
FAR = 1_000_000
"""Terms that lie further apart than this are not of one cluster: each is an election, and these
take eleven days. A garbage term would be taken over by every node that hears it."""


class DamageError(Exception):
    """A file that pysyncobj could not start with; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class RaftFiles:
    """The files of the node at one address. The entry point's own are ``obeyed``, the last
    RAFT_RESET that it has carried out, ``lost``, the number of the loss with which it waits,
    ``began``, that of the loss after which this log began anew, and ``fence``, which is there until
    the member may lead again."""

    journal: Path
    meta: Path
    dump: Path
    obeyed: Path
    lost: Path
    began: Path
    fence: Path

    @classmethod
    def of(cls, directory: Path, address: str) -> "RaftFiles":
        endings = (".journal", ".journal.meta", ".dump", ".reset", ".lost", ".began", ".fence")
        return cls(*(directory / f"{address}{end}" for end in endings))


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the log."""

    index: int
    term: int
    command: bytes


def read_journal(data: bytes) -> tuple[Entry, ...]:
    """The journal's entries; DamageError where pysyncobj fails at its start, or at any time later
    when it follows the sizes backwards or applies the entries."""
    if not data:
        raise DamageError("it is empty, and cannot be mapped")
    data = data.ljust(LEAST_BYTES, b"\0")
    if data[: len(NAME)] != NAME or SIZE.unpack_from(data, FORMAT_AT)[0] != FORMAT:
        raise DamageError("its header is not that of a journal")
    entries: list[Entry] = []
    at, end = FIRST_RECORD_AT, SIZE.unpack_from(data, END_AT)[0]
    while at < end:
        entry, at = _record(data, at)
        if entries and entry.index != entries[-1].index + 1:
            raise DamageError(f"entry {entry.index} follows entry {entries[-1].index}")
        _check_command(entry)
        entries.append(entry)
    if at != end:
        raise DamageError(f"its last record ends at byte {at}, and the header says {end}")
    return tuple(entries)


def _record(data: bytes, at: int) -> tuple[Entry, int]:
    """The record at a byte, and the byte behind it."""
    try:
        size = SIZE.unpack_from(data, at)[0]
        index, term = HEAD.unpack_from(data, at + SIZE.size)
        again = SIZE.unpack_from(data, at + SIZE.size + size)[0]
    except struct.error:
        raise DamageError(f"the record at byte {at} is cut off") from None
    if size != again or size <= HEAD.size:
        raise DamageError(f"the record at byte {at} has no valid size")
    first = at + SIZE.size + HEAD.size
    return Entry(index, term, data[first : at + SIZE.size + size]), at + size + 2 * SIZE.size


def _check_command(entry: Entry) -> None:
    """DamageError unless the command's type is known and its pickle has an end."""
    if entry.command[0] not in {NO_OP, *PICKLED}:
        raise DamageError(f"entry {entry.index} has a command of an unknown type")
    if entry.command[0] not in PICKLED:
        return
    try:
        for _ in pickletools.genops(entry.command[1:]):
            pass
    except Exception:  # noqa: BLE001 - whatever it is, pickle would fail on it as well
        raise DamageError(f"entry {entry.index} has a command that cannot be unpickled") from None


def read_meta(path: Path) -> Mapping[str, Any]:
    """Term, vote and commit index; empty where pysyncobj goes on without them (the file is absent,
    or is no pickle), DamageError where it would fail on them."""
    try:
        found = _Plain(io.BytesIO(path.read_bytes())).load()
    except Exception:  # noqa: BLE001 - as pysyncobj does
        return {}
    if not isinstance(found, dict):
        raise DamageError("it holds no mapping")
    for key in ("currentTerm", "raftCommitIndex"):
        value = found.get(key, 0)
        if type(value) is not int or value < 0:
            raise DamageError(f"its {key} is not a number from 0 up")
    if not isinstance(found.get("votedForNodeId"), str | None):
        raise DamageError("its votedForNodeId is not an address")
    return found


class _Plain(pickle.Unpickler):
    """Reads plain values only."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"{module}.{name} is not plain data")


def check_terms(entries: tuple[Entry, ...], meta: Mapping[str, Any]) -> None:
    """DamageError if an entry's term cannot be: pysyncobj stores a term in ``.meta`` before it adds
    an entry of that term. Without a stored term each entry is compared with the one before it."""
    known: int | None = meta.get("currentTerm")
    for entry in entries:
        if known is not None and entry.term > known + FAR:
            raise DamageError(f"entry {entry.index} has a garbage term ({entry.term})")
        if "currentTerm" not in meta:
            known = entry.term


def why_not_whole(path: Path) -> str | None:
    """Return the reason why a dump cannot be loaded; None when it can. Its end has a checksum."""
    try:
        with gzip.open(path) as file:
            length = 0
            while part := file.read(1 << 20):
                length += len(part)
    except FileNotFoundError:
        return "is missing"
    except (OSError, EOFError, zlib.error) as error:
        return f"is damaged ({error})"
    return None if length else "is empty"
