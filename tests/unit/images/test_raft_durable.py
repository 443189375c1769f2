"""The journal is on the disk at once: record before header, dump before what it replaces."""

from __future__ import annotations

import runpy
import shutil
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
from pysyncobj import journal as unsynced

from images.member.queenright_member.raft_durable import DurableJournal, DurableMeta, make_durable
from tests.support.raft_nodes import RaftNodes, raft_nodes
from tests.unit.images.cut_disk import cut_power, needs_disk, power_on

TERM, VOTE = 3, "a:1"
PROGRAM = Path(__file__).parents[3] / "images/member/bin/patroni-durable"
DURABLE = "queenright_member.raft_durable"
RACE = "queenright_member.first_race"
QUICK = "queenright_member.quick_stop"
START = "queenright_member.before_start"
END = "queenright_member.raft_end"
REMOVED = "queenright_member.removed"


@pytest.fixture(autouse=True)
def durable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The journals are durable ones for a test, as for the process that becomes Patroni."""
    for name in ("FileJournal", "MetaStorer"):
        monkeypatch.setattr(unsynced, name, getattr(unsynced, name))
    make_durable()


def entries(path: Path) -> list[tuple[bytes, int, int]]:
    made = unsynced.createJournal(str(path))
    return [made[at] for at in range(len(made))]


@needs_disk
def test_after_a_power_cut_nothing_is_lost_of_what_was_written(disk: Path) -> None:
    path = disk / "a:1.journal"
    made = unsynced.createJournal(str(path))
    made.setCurrentTerm(TERM, VOTE)
    for number in range(1, 200):
        made.add(b"x" * number, number, TERM)
    made.deleteEntriesFrom(150)
    made.add(b"new", 151, TERM + 1)
    cut_power(disk)
    del made
    power_on(disk)
    found = entries(path)
    assert [number for _, number, _ in found] == list(range(1, 152))
    assert found[-1] == (b"new", 151, TERM + 1)
    again = unsynced.createJournal(str(path))
    assert (again.getCurrentTerm(), again.getVotedForNodeId()) == (TERM, VOTE)


@needs_disk
def test_after_a_power_cut_a_dump_has_what_the_journal_has_not(disk: Path) -> None:
    path, dump = disk / "a:1.journal", disk / "a:1.dump"
    made = unsynced.createJournal(str(path))
    for number in range(1, 30):
        made.add(b"x", number, TERM)
    dump.with_suffix(".tmp").write_bytes(b"all until 20")
    dump.with_suffix(".tmp").replace(dump)
    made.deleteEntriesTo(20)
    cut_power(disk)
    del made
    power_on(disk)
    assert [number for _, number, _ in entries(path)] == list(range(21, 30))
    assert dump.read_bytes() == b"all until 20"


def test_a_record_is_on_the_disk_before_the_header_counts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each sync of the journal, the header counts no record that was not synced before."""
    path = tmp_path / "a:1.journal"
    made = DurableJournal(str(path))
    synced = [path.read_bytes()]

    def flush() -> None:
        now = path.read_bytes()
        counted = int.from_bytes(now[36:40], "little")
        assert now[40:counted] == synced[-1][40:counted]
        synced.append(now)

    monkeypatch.setattr(made, "flush", flush)
    for number in range(1, 40):
        made.add(b"y" * number, number, TERM)
    assert len(synced) == 1 + 2 * 39


def test_the_library_has_what_is_made_durable() -> None:
    """A version of the library that names it otherwise would be as before, and say nothing."""
    (library,) = DurableJournal.__bases__
    for name in ("_FileJournal__setLastRecordOffset", "clear"):
        assert name in vars(library)
        assert name in vars(DurableJournal)
    assert "storeMeta" in vars(DurableMeta.__bases__[0])


@pytest.mark.slow
def test_nodes_that_lost_different_ends_of_their_logs_would_differ_from_then_on() -> None:
    """The danger, with real nodes: two of three have lost what all had committed and applied."""
    with raft_nodes() as nodes:
        first, second, late = nodes.addresses
        nodes.until_all_know()
        nodes.tell(first, "put 1 begun")
        nodes.until_all_know()
        for own in (first, second):
            shutil.copytree(nodes.directory(own), lost(nodes, own))
        nodes.tell(first, "put 9 old")
        nodes.until_all_know()
        time.sleep(1.5)  # its commit index is written once a second
        for own in nodes.addresses:
            nodes.kill(own)
        for own in (first, second):
            shutil.rmtree(nodes.directory(own))
            lost(nodes, own).rename(nodes.directory(own))
            nodes.start(own)
        nodes.until_all_know()
        nodes.tell(first, "put 1 new")
        nodes.until_all_know()
        nodes.start(late)
        nodes.until_all_know()
        assert nodes.kept(first) == nodes.kept(second)
        assert "old" not in nodes.kept(first).values()
        assert "old" in nodes.kept(late).values()


def lost(nodes: RaftNodes, own: str) -> Path:
    return nodes.directory(own).with_name("before the loss")


@pytest.mark.parametrize(("name", "starts"), [("__main__", True), ("__mp_main__", False)])
def test_a_process_that_patroni_spawns_starts_no_second_patroni(
    name: str, *, starts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a process reads the program again, under another name."""
    called: list[str] = []
    for module, function in (
        ("patroni.__main__", "main"),
        (DURABLE, "make_durable"),
        (RACE, "keep_to_it"),
        (QUICK, "make_quick"),
        (START, "make_orderly"),
        (REMOVED, "make_shown"),
        (END, "end_with_raft"),
    ):
        stub = ModuleType(module)
        setattr(stub, function, lambda function=function: called.append(function))
        monkeypatch.setitem(sys.modules, module, stub)
    monkeypatch.setitem(sys.modules, "queenright_member", ModuleType("queenright_member"))
    runpy.run_path(str(PROGRAM), run_name=name)
    every = ["make_durable", "keep_to_it", "make_quick", "make_orderly", "make_shown"]
    assert called == ([*every, "end_with_raft", "main"] if starts else [])
