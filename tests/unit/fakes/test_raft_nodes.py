"""The model of Raft's nodes: what real nodes show too slowly, or not at will, for the contract."""

from __future__ import annotations

import pytest

from tests.fakes.raft_node import FALLBACK_TICKS, Role
from tests.fakes.raft_nodes import RETRY_TICKS, RaftNodes
from tests.fakes.raft_splits import electors, two_quorums

A, B, C, D, E = NODES = [f"10.0.0.{number}:5010" for number in range(1, 6)]
THREE = (A, B, C)


def settled(seed: int = 0, *voters: str) -> RaftNodes:
    nodes = RaftNodes(seed)
    for own in voters or THREE:
        nodes.start(own, voters or THREE)
    nodes.tick_until(lambda: nodes.is_settled(*(voters or THREE)), "all to be settled")
    return nodes


def leader_and_followers(nodes: RaftNodes) -> tuple[str, list[str]]:
    leader = nodes.leader(*THREE)
    return leader, [own for own in THREE if own != leader]


def history(seed: int) -> list[object]:
    nodes = settled(seed)
    nodes.kill(nodes.leader(*THREE))
    found: list[object] = []
    for _ in range(60):
        nodes.tick()
        found.append({own: nodes.status(own) for own in nodes.running})
    return found


def test_a_seed_decides_all_and_another_seed_something_else() -> None:
    assert history(1) == history(1)
    assert len({str(history(seed)) for seed in range(5)}) > 1


@pytest.mark.parametrize("seed", range(5))
def test_the_leader_is_replaced_and_nothing_committed_is_lost(seed: int) -> None:
    nodes = settled(seed)
    leader, followers = leader_and_followers(nodes)
    asked = nodes.running[followers[0]].asked_to_put("one")
    nodes.tick_until(lambda: asked.succeeded is True, "the value to be committed")
    nodes.kill(leader)
    nodes.tick_until(lambda: nodes.leader(*followers) != "", "another leader")
    nodes.start(leader, THREE)
    nodes.tick_until(lambda: nodes.is_settled(*THREE), "all to be settled")
    assert [node.values for node in nodes.running.values()] == [["one"]] * 3


def test_has_quorum_counts_links_and_the_leader_stays_one_for_30_s() -> None:
    nodes = settled()
    leader, followers = leader_and_followers(nodes)
    nodes.kill(*followers)
    nodes.tick(FALLBACK_TICKS - 5)
    assert nodes.status(leader).leader == leader
    assert not nodes.status(leader).has_quorum
    nodes.tick(10)
    assert nodes.status(leader).leader == ""


def test_a_cut_off_follower_sees_a_quorum_until_it_sends() -> None:
    """Followers send each other nothing, so that their link outlives the cut."""
    nodes = settled()
    leader, (one, other) = leader_and_followers(nodes)
    nodes.split({one}, {leader, other})
    nodes.tick(3)
    assert nodes.status(one).has_quorum
    nodes.tick(80)
    assert not nodes.status(one).has_quorum
    assert nodes.status(other).has_quorum


def test_a_link_is_tried_again_after_5_s() -> None:
    nodes = settled()
    nodes.kill(A)
    nodes.tick(2)
    nodes.start(A, THREE)
    nodes.tick(5)
    assert not nodes.running[A].linked
    nodes.tick(RETRY_TICKS)
    assert nodes.running[A].linked == {B, C}


def test_a_removal_does_not_undo_an_addition_and_is_carried_out_later() -> None:
    """The addition is committed by the shorter list that the removal made; its application brings
    the new voter back, and the removal then needs three of four."""
    nodes = settled()
    leader, (down, other) = leader_and_followers(nodes)
    nodes.kill(down)
    nodes.running[leader].asked_to_add(D)
    nodes.tick(5)
    assert nodes.running[leader].voters == {*THREE, D}
    asked = nodes.running[leader].asked_to_remove(D)
    nodes.tick(50)
    assert asked.succeeded is None
    assert nodes.running[leader].voters == {*THREE, D}
    assert not nodes.status(leader).has_quorum
    nodes.start(D, THREE)
    nodes.tick_until(lambda: asked.succeeded is True, "the removal to be committed")
    nodes.tick(2)
    assert nodes.running[leader].voters == nodes.running[other].voters == set(THREE)


def test_a_change_that_was_not_committed_is_rolled_back() -> None:
    nodes = settled()
    leader, followers = leader_and_followers(nodes)
    nodes.split({leader}, followers)
    nodes.running[leader].asked_to_add(D)
    nodes.tick_until(lambda: nodes.leader(*followers) != "", "another leader")
    assert D in nodes.running[leader].voters
    nodes.heal()
    nodes.tick_until(lambda: nodes.is_settled(*THREE), "all to be settled")


def test_a_transfer_to_a_node_without_all_links_ends_in_higher_terms_only() -> None:
    nodes = settled(0, *NODES)
    leader = nodes.leader(*NODES)
    candidate = next(own for own in NODES if own != leader)
    others = [own for own in NODES if own not in {leader, candidate}]
    for other in others:
        nodes.cut[frozenset({candidate, other})] = nodes.now
        nodes.unlink(frozenset({candidate, other}))
    before = nodes.running[leader].term
    assert nodes.running[leader].asked_to_transfer(candidate).succeeded
    nodes.tick(60)
    assert nodes.running[candidate].term > before
    assert nodes.running[candidate].role is not Role.LEADER


def test_a_journal_without_its_dump_is_worthless_and_its_node_votes() -> None:
    nodes = settled()
    leader, (one, other) = leader_and_followers(nodes)
    for value in ("a", "b", "c"):
        asked = nodes.running[leader].asked_to_put(value)
        nodes.tick_until(lambda asked=asked: asked.succeeded is True, "a value")  # type: ignore[misc]
    nodes.tick(20)
    nodes.running[one].compact()
    nodes.kill(one)
    nodes.disk(one).files.dump = None
    nodes.start(one, THREE)
    nodes.tick(100)
    assert nodes.running[one].applied < nodes.running[leader].committed
    assert nodes.status(one).has_quorum
    nodes.kill(leader)
    nodes.tick_until(lambda: nodes.leader(one, other) != "", "a leader by the vote of both")


def test_a_new_node_gets_the_dump_and_the_list_in_it() -> None:
    nodes = settled()
    leader, _ = leader_and_followers(nodes)
    asked = nodes.running[leader].asked_to_put("kept")
    nodes.tick_until(lambda: asked.succeeded is True, "the value")
    nodes.tick(5)
    nodes.running[leader].asked_to_put("after")
    nodes.tick(5)
    for own in THREE:
        nodes.running[own].compact()
    nodes.start(D, THREE)
    nodes.tick_until(lambda: nodes.is_settled(*THREE, D), "all to be settled")
    assert nodes.running[D].values == ["kept", "after"]


def test_a_power_cut_takes_what_was_not_synced_and_a_kill_nothing() -> None:
    nodes = settled()
    nodes.sync()
    leader, _ = leader_and_followers(nodes)
    asked = nodes.running[leader].asked_to_put("one")
    nodes.tick_until(lambda: asked.succeeded is True, "the value to be committed")
    nodes.tick(20)
    ends = {own: nodes.running[own].end for own in THREE}
    nodes.kill(*THREE)
    assert all(nodes.disk(own).files.journal[-1] == ends[own] for own in THREE)
    nodes.cut_power(*THREE)
    assert all(nodes.disk(own).files.journal[-1] != ends[own] for own in THREE)


def test_disks_are_synced_in_time() -> None:
    nodes = RaftNodes(sync_ticks=20)
    nodes.start(A, ())
    nodes.tick(100)
    asked = nodes.running[A].asked_to_put("one")
    nodes.tick_until(lambda: asked.succeeded is True, "the value to be committed")
    nodes.tick(20)
    nodes.cut_power(A)
    assert len(nodes.disk(A).files.journal) == 3


def test_the_checker_sees_one_quorum_among_settled_nodes_and_two_single_leaders() -> None:
    nodes = settled()
    assert two_quorums(nodes) is None
    leader, followers = leader_and_followers(nodes)
    assert electors(nodes, nodes.running[leader]) == set(THREE)
    nodes.running[followers[0]].others.clear()
    found = two_quorums(nodes)
    assert found is not None
    assert {quorum.candidate for quorum in found} >= {followers[0]}
