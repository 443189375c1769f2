"""Raft logs that begin anew, with real nodes: the old log and the new one never both elect, and no
node keeps what only the old log has."""

from __future__ import annotations

import pickle
import time

import pytest

from images.member.queenright_member.raft_files import read_meta
from images.member.queenright_member.raft_repair import repair
from images.member.queenright_member.raft_status import Node, NodeStatus
from tests.support.raft_nodes import RaftNodes, raft_nodes
from tests.unit.images.test_raft_repair import compacted, cut

NUMBER = "a" * 12


def begin(nodes: RaftNodes, own: str, word: str = "anew", term: int | None = None) -> None:
    """Cut a node's journal, and have its member obey the request to begin anew."""
    files, place = nodes.files(own), nodes.addresses.index(own) + 1
    cut(files.journal)
    if term is not None:
        meta = dict(read_meta(files.meta)) | {"currentTerm": term, "votedForNodeId": None}
        files.meta.write_bytes(pickle.dumps(meta, protocol=2))
    files.lost.write_text(NUMBER)
    node = Node(own, nodes.partners(own), lambda _: None, f"member-{place}", True)
    repair(files, node, f"{word}:member-1:{NUMBER}", limit_s=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("terms", [(3, 7, 5), (9, 2, 9)])
def test_three_that_remember_different_terms_become_one(terms: tuple[int, ...]) -> None:
    with raft_nodes() as nodes:
        for own, term in zip(nodes.addresses, terms, strict=True):
            nodes.kill(own)
            begin(nodes, own, term=term)
        for own in nodes.addresses:
            nodes.start(own)
        nodes.until_all_know()
        nodes.tell(nodes.addresses[0], "put 5 new")
        nodes.until_all_know()
        first, *others = (nodes.kept(own) for own in nodes.addresses)
        assert set(first.values()) == {"new"}
        assert all(other == first for other in others)


def answer_of(nodes: RaftNodes, own: str) -> NodeStatus:
    """Return what a node says of itself; on a busy machine it may not answer at once."""
    found: list[NodeStatus] = []

    def has_answered() -> bool:
        found.extend(filter(None, [nodes.status(own)]))
        return bool(found)

    nodes.until(has_answered, f"{own} to answer")
    return found[0]


@pytest.mark.slow
@pytest.mark.parametrize("is_compacted", [False, True], ids=["journal", "dump"])
@pytest.mark.parametrize("count", [3, 90], ids=["longer than the new log", "shorter"])
def test_a_node_with_the_old_log_that_comes_late_leads_nothing(
    is_compacted: bool, count: int
) -> None:
    """Two of three began anew without it, which only a person's hand does. Theirs is the newer
    term. What the late one had applied it may keep for itself for a while: so its Raft directory
    has to be emptied before it starts (the guide)."""
    with raft_nodes() as nodes:
        first, second, late = nodes.addresses
        if is_compacted:
            nodes.tell(late, "compact")
            nodes.until(lambda: compacted(nodes.files(late).journal), "a compacted journal")
        for own in nodes.addresses:
            nodes.kill(own)
        for own in (first, second):
            begin(nodes, own)
            nodes.start(own)
        nodes.until_all_know()
        nodes.tell(first, f"put {count} new")
        nodes.until_all_know()
        newest = answer_of(nodes, first).term
        nodes.start(late)
        for _ in range(10):
            nodes.tell(first, "put 1 new")
            said = answer_of(nodes, late)
            # On a busy machine it may be elected once it has the new log, as any other.
            assert not said.is_leading or said.term > newest
            assert nodes.kept(first) == nodes.kept(second)
            time.sleep(0.5)
        assert "x" * 200 not in nodes.kept(first).values()
