"""Damaged Raft files at a member's start, with real nodes: set aside where partners can spare them,
else FATAL with nothing touched."""

from __future__ import annotations

import gzip
import pickle
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from pysyncobj.journal import FileJournal
from pysyncobj.utility import TcpUtility, UtilityException

from images.member.queenright_member.inputs import RAFT_UNREADABLE, StartError
from images.member.queenright_member.raft_damage import inspect
from images.member.queenright_member.raft_files import FIRST_RECORD_AT, RaftFiles, read_meta
from images.member.queenright_member.raft_repair import RESET, repair
from images.member.queenright_member.raft_status import Node, NodeStatus, settled_leader
from tests.support.raft_nodes import RaftNodes, raft_nodes

A, B, X = "10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1"
GARBAGE = 8_400_000_000_000_000_000


def cut(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 4])


def garbage_term(path: Path) -> None:
    """The last entry's term."""
    data = bytearray(path.read_bytes())
    end = struct.unpack_from("<I", data, 36)[0]
    size = struct.unpack_from("<I", data, end - 4)[0]
    struct.pack_into("<Q", data, end - 4 - size + 8, GARBAGE)
    path.write_bytes(data)


def torn(path: Path) -> None:
    """The header's page is written, and a later one is not."""
    data = path.read_bytes()
    path.write_bytes(data[:4096] + bytes(len(data) - 4096))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut in half": cut,
    "0 bytes": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "bad header": lambda path: path.write_bytes(b"\xff" * 40 + path.read_bytes()[40:]),
    "garbage term": garbage_term,
    "torn": torn,
}


def contents(nodes: RaftNodes, own: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in nodes.directory(own).iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("password", [None, "raft secret"], ids=["open", "with a password"])
def test_a_damaged_journal_is_set_aside_where_the_partners_have_all(
    password: str | None,
) -> None:
    with raft_nodes(password) as nodes:
        own = nodes.addresses[2]
        files = nodes.files(own)
        for number, (name, damage) in enumerate(DAMAGES.items(), 1):
            nodes.kill(own)
            damage(files.journal)
            damaged, meta = files.journal.read_bytes(), files.meta.read_bytes()
            nodes.enter(own)
            nodes.until_all_know()
            (kept,) = files.journal.parent.glob(f"*.journal.broken-{number}")
            assert kept.read_bytes() == damaged, name
            assert not [*files.journal.parent.glob("*.meta.broken-*")]
            stored = pickle.loads(meta)["currentTerm"]  # noqa: S301 - our own
            assert stored <= read_meta(files.meta)["currentTerm"] < 1000
            assert all(s is not None and s.term < 1000 for s in map(nodes.status, nodes.addresses))


@pytest.mark.slow
def test_a_garbage_term_in_meta_is_not_carried_into_the_cluster() -> None:
    with raft_nodes() as nodes:
        own = nodes.addresses[2]
        files = nodes.files(own)
        nodes.kill(own)
        mad = {"currentTerm": GARBAGE, "votedForNodeId": None, "raftCommitIndex": 5}
        files.meta.write_bytes(pickle.dumps(mad, 2))
        process = nodes.enter(own)
        nodes.until_all_know()
        (aside,) = files.meta.parent.glob("*.meta.broken-1")
        assert pickle.loads(aside.read_bytes()) == mad  # noqa: S301 - as above
        assert all(s is not None and s.term < 1000 for s in map(nodes.status, nodes.addresses))
        assert 0 < read_meta(files.meta)["currentTerm"] < 1000
        nodes.kill(own)
        assert process.returncode == -9


@pytest.mark.slow
def test_without_settled_partners_nothing_is_touched_and_the_line_says_what_to_do() -> None:
    with raft_nodes() as nodes:
        own, other, _ = nodes.addresses
        for address in (own, other):
            nodes.kill(address)
        files = nodes.files(own)
        for name, damage in DAMAGES.items():
            good = files.journal.read_bytes()
            damage(files.journal)
            before = contents(nodes, own)
            process = nodes.enter(own, limit_s=2.0)
            _, said = process.communicate(timeout=30)
            assert process.returncode == RAFT_UNREADABLE, name
            (line,) = said.splitlines()
            assert line.startswith(f"FATAL: Raft file {files.journal}: "), line
            assert "nothing was touched; start the partners" in line
            assert contents(nodes, own) == before, name
            files.journal.write_bytes(good)
        nodes.processes.pop(own)


@pytest.mark.slow
def test_a_lost_dump_is_cured_by_the_partners_and_stops_no_start() -> None:
    with raft_nodes() as nodes:
        own = nodes.addresses[2]
        files = nodes.files(own)
        nodes.tell(own, "compact")
        nodes.until(files.dump.exists, "a dump")
        nodes.until(lambda: compacted(files.journal), "a compacted journal")
        nodes.kill(own)
        files.dump.write_bytes(b"")
        others = nodes.partners(own)
        for address in others:
            nodes.kill(address)
        nodes.enter(own, limit_s=1.0)  # alone: it starts as it always did
        nodes.until(lambda: nodes.status(own) is not None, "the node to answer")
        assert not [*files.dump.parent.glob("*.broken-*")]
        nodes.kill(own)
        for address in others:
            nodes.start(address)
        nodes.until(lambda: any(nodes.knows_all(a) for a in others), "a leader")
        nodes.enter(own)
        nodes.until_all_know()
        assert files.dump.with_name(f"{files.dump.name}.broken-1").exists()


@pytest.mark.slow
@pytest.mark.parametrize("is_compacted", [True, False])
def test_a_member_that_was_removed_comes_back_without_its_former_log(is_compacted: bool) -> None:
    """Its dump, or its journal, names the voters of that time."""
    with raft_nodes() as nodes:
        own = next(a for a in nodes.addresses if (s := nodes.status(a)) and not s.is_leading)
        files = nodes.files(own)
        if is_compacted:
            nodes.tell(own, "compact")
            nodes.until(files.dump.exists, "a dump")
        nodes.kill(own)
        nodes.enter(own)  # as a voter it keeps its log
        nodes.until_all_know()
        nodes.kill(own)
        assert not [*files.journal.parent.glob("*.broken-*")]
        nodes.until(lambda: is_done(nodes, "remove", own), "the removal")
        nodes.enter(own)
        nodes.until(lambda: nodes.status(own) is not None, "the node to answer")
        assert files.journal.with_name(f"{files.journal.name}.broken-1").exists()
        # Patroni asks for it at its start.
        nodes.until(lambda: is_done(nodes, "add", own), "the node to be added")
        nodes.until_all_know()


def is_done(nodes: RaftNodes, verb: str, own: str) -> bool:
    """Ask to remove or add a node; return True once the others list it so. The one asked may just
    have no leader."""
    with suppress(UtilityException):
        TcpUtility(None).executeCommand(nodes.partners(own)[0], [verb, own])
    found = [nodes.status(other) for other in nodes.partners(own)]
    return all(s is not None and (own in s.voters) is (verb == "add") for s in found)


def compacted(journal: Path) -> bool:
    found = FileJournal(str(journal.with_name("copy"))) if _copied(journal) else None
    return found is not None and len(found) > 0 and found[0][1] > 1


def _copied(journal: Path) -> bool:
    journal.with_name("copy").write_bytes(journal.read_bytes())
    return True


@pytest.mark.slow
def test_the_operators_wish_is_obeyed_once() -> None:
    with raft_nodes() as nodes:
        own = nodes.addresses[2]
        files = nodes.files(own)
        for value, broken in (("812", 1), ("812", 1), ("977", 2)):
            nodes.kill(own)
            nodes.enter(own, **{RESET: value})
            nodes.until_all_know()
            assert len([*files.journal.parent.glob("*.journal.broken-*")]) == broken
            assert files.obeyed.read_text() == value


@pytest.mark.slow
def test_three_lost_logs_begin_anew_by_the_request_that_answers_this_loss() -> None:
    """One alone has an empty log and elects nobody; with the others it is a quorum in new terms."""
    with raft_nodes() as nodes:
        for address in list(nodes.addresses):
            nodes.kill(address)
        for number, own in enumerate(nodes.addresses, 1):
            files = nodes.files(own)
            cut(files.journal)
            files.lost.write_text("a" * 12)
            node = Node(own, nodes.partners(own), lambda _: None, f"member-{number}", True)
            with pytest.raises(StartError):
                repair(files, node, f"anew:member-1:{'b' * 12}", limit_s=0.0)
            before = read_meta(files.meta)["currentTerm"]
            repair(files, node, f"anew:member-1:{'a' * 12}", limit_s=0.0)
            assert read_meta(files.meta)["currentTerm"] == before
            assert files.fence.exists() is (number > 1)
            assert not files.lost.exists()
        first, *others = nodes.addresses
        nodes.start(first)
        nodes.until(lambda: nodes.status(first) is not None, "the node to answer")
        alone = nodes.status(first)
        assert alone is not None
        assert (alone.leader, alone.committed) == ("", 1)
        for own in others:
            nodes.start(own)
        nodes.until_all_know()


def test_an_unsettled_wish_is_kept_for_later(tmp_path: Path) -> None:
    files = RaftFiles.of(tmp_path, X)
    FileJournal(str(files.journal))
    repair(files, Node(X, (A, B), lambda _: None), "812", limit_s=0.0)
    assert files.journal.exists()
    assert not files.obeyed.exists()


def test_a_member_without_raft_state_obeys_by_doing_nothing(tmp_path: Path) -> None:
    files = RaftFiles.of(tmp_path, X)
    repair(files, Node(X, (A, B), unasked), "812")
    assert files.obeyed.read_text() == "812"


def test_files_without_a_log_ask_nobody(tmp_path: Path) -> None:
    files = RaftFiles.of(tmp_path, X)
    repair(files, Node(X, (A, B), unasked), "")
    FileJournal(str(files.journal)).add(b"\1", 1, 0)
    repair(files, Node(X, (A, B), unasked), "")
    assert {path.name for path in tmp_path.iterdir()} == {files.journal.name}


@pytest.mark.parametrize(
    ("found", "is_former"),
    [
        ({A: {A, B}, B: {A, B}}, True),
        ({A: {A, B, X}, B: {A, B, X}}, False),
        ({A: {A, B}}, False),  # it leads, and is no quorum
        ({B: {A, B}}, False),
        ({}, False),
    ],
)
def test_a_log_is_a_former_members_by_the_word_of_a_quorum_alone(
    tmp_path: Path, found: dict[str, set[str]], is_former: bool
) -> None:
    files = RaftFiles.of(tmp_path, X)
    journal = FileJournal(str(files.journal))
    for index in (1, 2):
        journal.add(b"\1", index, 0)
    statuses = {a: replace(status(a), voters=frozenset(v)) for a, v in found.items()}
    repair(files, Node(X, (A, B), statuses.get), "", limit_s=0.0)
    assert files.journal.exists() is not is_former


def unasked(address: str) -> NodeStatus | None:
    raise AssertionError(f"{address} is asked")


def test_a_start_killed_between_the_renames_repairs_again(tmp_path: Path) -> None:
    """The dump is gone by then, and the journal that cannot be read is still there."""
    files = RaftFiles.of(tmp_path, X)
    FileJournal(str(files.journal))
    cut_journal = files.journal.read_bytes()[:FIRST_RECORD_AT] + b"\xff" * 20
    files.journal.write_bytes(cut_journal[:36] + struct.pack("<I", 900) + cut_journal[40:])
    files.dump.with_name(f"{files.dump.name}.broken-1").write_bytes(b"")
    found = {A: status(A, leader=A), B: status(B, leader=A)}
    repair(files, Node(X, (A, B), found.get), "")
    assert files.journal.with_name(f"{files.journal.name}.broken-2").exists()
    assert inspect(files) is None


def status(
    own: str, leader: str = A, term: int = 4, committed: int = 9, applied: int = 9
) -> NodeStatus:
    return NodeStatus(own, leader, term, own == leader, committed, applied, frozenset({A, B, X}))


@pytest.mark.parametrize(
    ("found", "is_settled"),
    [
        ([status(A), status(B)], True),
        ([status(A)], False),  # for half a minute a lone leader still says that it leads
        ([status(B)], False),
        ([status(A), status(B, term=3)], False),
        ([status(A), status(B, leader=B)], False),
        ([status(A), status(B, leader="")], False),
        ([status(A), status(B, committed=9, applied=1)], False),
        ([status(A), status(B, committed=7, applied=7)], False),
        ([status(A, leader=X), status(B, leader=X)], False),
        ([], False),
    ],
)
def test_partners_are_settled_when_they_are_a_quorum_by_themselves(
    found: list[NodeStatus], is_settled: bool
) -> None:
    assert (settled_leader(found, X, committed=9) is not None) is is_settled


def test_a_sole_voter_spares_the_log_of_one_that_it_does_not_list() -> None:
    """Of two members, one that has another address has no journal of that name."""
    alone = replace(status(A), voters=frozenset({A}))
    assert settled_leader([alone], X) == alone
    assert settled_leader([replace(alone, voters=frozenset({A, X}))], X) is None


def test_a_lone_member_with_a_damaged_journal_does_not_start(tmp_path: Path) -> None:
    files = RaftFiles.of(tmp_path, X)
    files.journal.write_bytes(gzip.compress(b"no journal"))
    with pytest.raises(StartError, match=r"quorum of the partners \(none\)") as refused:
        repair(files, Node(X, (), unasked), "", limit_s=0.0)
    assert refused.value.status == RAFT_UNREADABLE
