"""Raft's files are read as pysyncobj reads them: its own are whole, and what it fails on is not."""

from __future__ import annotations

import gzip
import pickle
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pysyncobj.journal import FileJournal

from images.member.queenright_member.raft_files import (
    END_AT,
    FAR,
    FIRST_RECORD_AT,
    DamageError,
    Entry,
    check_terms,
    read_journal,
    read_meta,
    why_not_whole,
)

NO_OP = b"\1"


def command(number: int) -> bytes:
    return b"\0" + pickle.dumps((3, (f"/service/main/{number}", {"value": "x" * number})), 2)


def written(path: Path, count: int = 30, first: int = 1, term: int = 4) -> Any:
    """A journal as pysyncobj writes it."""
    journal = FileJournal(str(path))
    journal.add(NO_OP, first, term)
    for number in range(first + 1, first + count):
        journal.add(command(number), number, term)
    journal.flush()
    return journal


def entries_of(path: Path) -> list[tuple[bytes, int, int]]:
    journal = FileJournal(str(path))
    return [journal[at] for at in range(len(journal))]


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    written(tmp_path / "j")
    return (tmp_path / "j").read_bytes()


def test_pysyncobjs_own_journals_are_read_as_it_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "j"
    journal = written(path, 60)
    for change in (
        lambda: None,
        lambda: journal.deleteEntriesFrom(50),
        lambda: journal.deleteEntriesTo(20),
        lambda: journal.add(command(700), 51, 9),
        journal.clear,
    ):
        change()
        journal.flush()
        found = read_journal(path.read_bytes())
        assert [(e.command, e.index, e.term) for e in found] == entries_of(path)
    FileJournal(str(tmp_path / "new"))
    assert read_journal((tmp_path / "new").read_bytes()) == ()
    with path.open("wb") as file:
        file.write((tmp_path / "new").read_bytes()[:FIRST_RECORD_AT])
    assert read_journal(path.read_bytes()) == ()


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda data: b"", "it is empty, and cannot be mapped"),
        (lambda data: bytes(len(data)), "its header is not that of a journal"),
        (lambda data: b"\xff" * 40 + data[40:], "its header is not that of a journal"),
        (lambda data: data[:1100], "is cut off"),
        (lambda data: data[:400] + bytes(len(data) - 400), "has no valid size"),
        (lambda data: data[:END_AT] + b"\xff" * 4 + data[40:], "the record at byte"),
        (lambda data: data[:44] + struct.pack("<Q", 9) + data[52:], "entry 2 follows entry 9"),
        (lambda data: data[:60] + b"\7" + data[61:], "a command of an unknown type"),
    ],
    ids=["0 bytes", "zeros", "bad header", "cut", "torn", "bad end", "bad index", "bad command"],
)
def test_damage_is_found(whole: bytes, damage: Any, why: str) -> None:
    with pytest.raises(DamageError, match=why):
        read_journal(damage(whole))


@given(st.data())
def test_what_pysyncobj_cannot_start_with_is_damage(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A page is lost, a part is cut off, or some bytes are anything."""
    directory = tmp_path_factory.mktemp("journal")
    written(directory / "j", data.draw(st.integers(1, 40)))
    found = bytearray((directory / "j").read_bytes())
    first = data.draw(st.integers(0, len(found) - 1))
    match data.draw(st.sampled_from(["cut", "zeros", "bytes"])):
        case "cut":
            del found[first:]
        case "zeros":
            size = min(len(found) - first, data.draw(st.integers(1, 4096)))
            found[first : first + size] = bytes(size)
        case _:
            end = min(len(found), first + 8)
            found[first:end] = data.draw(st.binary(min_size=end - first, max_size=end - first))
    (directory / "j").write_bytes(found)
    try:
        taken = entries_of(directory / "j")
    except (struct.error, ValueError):
        taken = None  # type: ignore[assignment]
    try:
        read = [(e.command, e.index, e.term) for e in read_journal(bytes(found))]
    except DamageError:
        return
    assert read == taken


def test_a_term_far_above_the_stored_one_is_garbage() -> None:
    journal = (Entry(1, 4, NO_OP), Entry(2, 5, NO_OP))
    check_terms(journal, {"currentTerm": 5})
    check_terms(journal, {"currentTerm": 0})  # older than the journal after a power cut
    check_terms(journal, {})
    mad = (*journal, Entry(3, 8_400_000_000_000_000_000, NO_OP))
    for meta in ({"currentTerm": 5}, {}):
        with pytest.raises(DamageError, match="entry 3 has a garbage term"):
            check_terms(mad, meta)
    check_terms(mad, {"currentTerm": 8_400_000_000_000_000_001})  # the whole cluster has it by now
    check_terms((Entry(1, 5 + FAR, NO_OP),), {"currentTerm": 5})


def test_meta_is_read_as_pysyncobj_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "j.meta"
    assert read_meta(path) == {}
    journal = FileJournal(str(tmp_path / "j"))
    journal.setRaftCommitIndex(7)
    journal.setCurrentTerm(3, "127.0.0.1:1")
    kept = {"raftCommitIndex": 7, "currentTerm": 3, "votedForNodeId": "127.0.0.1:1"}
    assert read_meta(path) == kept
    for lost in (b"", b"garbage", path.read_bytes()[:9]):
        path.write_bytes(lost)
        assert read_meta(path) == {}
        assert FileJournal(str(tmp_path / "j")).getCurrentTerm() == 0
    for damaged in ([1], {"currentTerm": "3"}, {"currentTerm": -1}, {"votedForNodeId": 3}):
        path.write_bytes(pickle.dumps(damaged, 2))
        with pytest.raises(DamageError):
            read_meta(path)


def test_a_dump_is_whole_or_not(tmp_path: Path) -> None:
    path = tmp_path / "x.dump"
    assert why_not_whole(path) == "is missing"
    path.write_bytes(b"")
    assert why_not_whole(path) == "is empty"
    data = gzip.compress(pickle.dumps(list(range(5000))))
    path.write_bytes(data)
    assert why_not_whole(path) is None
    for damaged in (data[:-200], data[:100] + b"\0" * 50 + data[150:], b"x" * 90):
        path.write_bytes(damaged)
        assert str(why_not_whole(path)).startswith("is damaged")
