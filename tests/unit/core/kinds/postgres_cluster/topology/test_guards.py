"""Guards of the members' changes, against plans that no rule makes."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.actions import (
    AnyAction,
    CreateService,
    NoteMembers,
    RaftRemove,
    RaftTransfer,
    Reinitialize,
    RemoveService,
    RestartService,
)
from queenright.core.kinds.postgres_cluster.places import (
    DeployedMember,
    decode_places,
    encode_names,
    encode_places,
)
from queenright.core.observed import Known, MemberStatus, Observed, Unknown
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import MEMBERS_LABEL, PARTNERS_VARIABLE, VOTELESS_LABEL
from tests.support.builders import status, swarm_of
from tests.support.changed import (
    live,
    with_config_labels,
    with_member,
    with_service,
    with_swarm,
)
from tests.support.topology_worlds import (
    deployed,
    raft_nodes,
    refusal,
    settled,
    voter,
    whole,
    with_raft_nodes,
)


def guard_of(observed: Observed, *actions: AnyAction) -> str:
    """The guard that refuses a plan of these actions; empty if none does."""
    found = refusal(Plan("main", "digest", actions), observed)
    return found.guard if found is not None else ""


def remove(number: int, asked: int = 1) -> RaftRemove:
    return RaftRemove(
        cluster="main",
        address=f"10.77.0.{11 + asked}",
        port=5010,
        voter=voter(number),
        reason="",
    )


def silent(observed: Observed, number: int, down: list[int]) -> Observed:
    """A member that does not answer, nor does its Raft node."""
    observed = with_raft_nodes(observed, raft_nodes([1, 2, 3], down=down))
    return with_member(observed, f"member-{number}", Unknown("timed out"))


def test_a_vote_may_go() -> None:
    assert guard_of(deployed(1, 2, 3), remove(3)) == ""


@pytest.mark.parametrize(
    ("observed", "action"),
    [
        (settled(whole(deployed(1, 2, 3), 3), (1, 2, 3)), remove(3)),
        (settled(deployed(1, 2, 3), (1, 2, 3), raft_leader=3), remove(3, 3)),
        (deployed(1, 2, 3), remove(3, asked=2)),
        (with_raft_nodes(deployed(1, 2, 3), raft_nodes([1, 2, 3]), 34), remove(3)),
        (with_raft_nodes(deployed(1, 2, 3), raft_nodes([1, 2, 3], down=[2])), remove(3)),
        (silent(deployed(1, 2, 3), 2, down=[2]), remove(3)),
        (with_member(deployed(1, 2, 3), "member-1", Unknown("timed out")), remove(3)),
    ],
    ids=[
        "leader",
        "raft leader",
        "asked elsewhere",
        "too soon",
        "unknown",
        "no majority",
        "nobody leads",
    ],
)
def test_a_vote_stays(observed: Observed, action: RaftRemove) -> None:
    assert guard_of(observed, action) == "votes-change-safely"


def test_two_changes_are_one_too_many() -> None:
    assert guard_of(deployed(1, 2, 3), remove(3), remove(2)) == "one-member-changes"


def test_a_change_is_not_made_beside_a_restart() -> None:
    observed = deployed(1, 2, 3)
    found = live(observed, "main_member-2")
    restart = RestartService(
        found.id, found.version, found.value, 1, reason="", disrupts="main_member-2"
    )
    assert guard_of(observed, restart) == ""
    assert guard_of(observed, restart, remove(3)) == "one-member-changes"


def test_raft_is_handed_to_a_member_only() -> None:
    observed = deployed(1, 2, 3)
    transfer = RaftTransfer(
        cluster="main", address="10.77.0.12", port=5010, voter=voter(2), reason=""
    )
    assert guard_of(observed, transfer) == ""
    ghost = dataclasses.replace(transfer, voter="10.77.0.99:5010")
    assert guard_of(observed, ghost) == "votes-change-safely"
    divided = with_raft_nodes(observed, raft_nodes([1, 2, 3], down=[3]))
    assert guard_of(divided, transfer) == "votes-change-safely"


def newcomer(observed: Observed, *, noted: bool = True) -> tuple[Observed, CreateService]:
    """A fourth member's service, and the cluster with its place noted."""
    model = live(observed, "main_member-3").value
    service = dataclasses.replace(
        model,
        name="main_member-4",
        labels={**model.labels, "queenright.address": "10.77.0.15"},
        environment={**model.environment, "RAFT_SELF": voter(4)},
    )
    if noted:
        observed = with_places(observed, DeployedMember("member-4", "node5", "10.77.0.15"))
    return observed, CreateService(service, reason="")


def with_places(observed: Observed, *more: DeployedMember) -> Observed:
    config = swarm_of(observed).config("main_cluster")
    assert config is not None
    places = decode_places(config.value.labels[MEMBERS_LABEL])
    labels = {**config.value.labels, MEMBERS_LABEL: encode_places((*places, *more))}
    changed = dataclasses.replace(config, value=dataclasses.replace(config.value, labels=labels))
    others = (item for item in swarm_of(observed).configs if item.id != config.id)
    swarm = dataclasses.replace(swarm_of(observed), configs=(*others, changed))
    return dataclasses.replace(observed, swarm=Known(swarm))


def test_a_new_voter_may_start() -> None:
    observed, create = newcomer(deployed(1, 2, 3))
    assert guard_of(observed, create) == ""


@pytest.mark.parametrize(
    ("found", "seen_s"),
    [
        (raft_nodes([1, 2, 3], down=[3]), 100.0),
        (raft_nodes([1, 2, 3]), 34.0),
        (raft_nodes([1, 2, 3, "10.77.0.99:5010"]), 100.0),
    ],
    ids=["unreachable", "too soon", "ghost"],
)
def test_a_new_voter_waits(found: dict[str, Known[object] | Unknown], seen_s: float) -> None:
    observed, create = newcomer(deployed(1, 2, 3))
    observed = with_raft_nodes(observed, found, seen_s)  # type: ignore[arg-type]
    assert guard_of(observed, create) == "votes-change-safely"


def test_a_new_voter_needs_its_place() -> None:
    observed, create = newcomer(deployed(1, 2, 3), noted=False)
    assert guard_of(observed, create) == "votes-change-safely"


def note(observed: Observed, *places: DeployedMember) -> NoteMembers:
    config = swarm_of(observed).config("main_cluster")
    assert config is not None
    known = {place.name for place in decode_places(config.value.labels[MEMBERS_LABEL])}
    labels = {**config.value.labels, MEMBERS_LABEL: encode_places(places)}
    if new := [place.name for place in places if place.name not in known]:
        labels[VOTELESS_LABEL] = encode_names(new)
    wanted = dataclasses.replace(config.value, labels=labels)
    return NoteMembers(config.id, config.version, wanted, reason="")


def test_a_note_changes_one_place_and_covers_what_runs() -> None:
    observed = deployed(1, 2, 3)
    config = swarm_of(observed).config("main_cluster")
    assert config is not None
    places = decode_places(config.value.labels[MEMBERS_LABEL])
    fourth = DeployedMember("member-4", "node5", "10.77.0.15")
    fifth = DeployedMember("member-5", "node6", "10.77.0.16")
    moved = dataclasses.replace(places[2], node="node5")
    assert guard_of(observed, note(observed, *places, fourth)) == ""
    for wrong in ((*places, fourth, fifth), places[:2], (), places, (*places[:2], moved)):
        assert guard_of(observed, note(observed, *wrong)) == "places-cover-what-runs"


def test_a_place_is_kept_while_its_vote_is_listed() -> None:
    fourth = DeployedMember("member-4", "node5", "10.77.0.15")
    observed = with_places(deployed(1, 2, 3), fourth)
    config = swarm_of(deployed(1, 2, 3)).config("main_cluster")
    assert config is not None
    cut = note(observed, *decode_places(config.value.labels[MEMBERS_LABEL]))
    assert guard_of(observed, cut) == ""
    listed = with_raft_nodes(observed, raft_nodes([1, 2, 3, 4], down=[4]))
    assert guard_of(listed, cut) == "places-cover-what-runs"
    silent = with_raft_nodes(observed, raft_nodes([1, 2, 3], down=[3]))
    assert guard_of(silent, cut) == "places-cover-what-runs"


def test_only_a_member_without_data_copies_anew() -> None:
    copy = Reinitialize(
        cluster="main", address="10.77.0.14", port=8008, member="member-3", reason=""
    )
    known = with_member(deployed(1, 2, 3), "member-3", MemberStatus("stopped", "uninitialized"))
    assert guard_of(known, copy) == "only-empty-members-copy"  # it may have had data
    empty = known
    for name in ("main_member-1", "main_member-2"):
        environment = {**live(known, name).value.environment, PARTNERS_VARIABLE: "[]"}
        empty = with_service(empty, name, environment=environment)
    assert guard_of(empty, copy) == ""
    assert guard_of(deployed(1, 2, 3), copy) == "only-empty-members-copy"
    other = dataclasses.replace(copy, address="10.77.0.13")
    assert guard_of(empty, other) == "only-empty-members-copy"
    nobody = with_member(empty, "member-1", status("member-1", ""))
    assert guard_of(nobody, copy) == "only-empty-members-copy"


def with_voteless(observed: Observed, *names: str) -> Observed:
    config = swarm_of(observed).config("main_cluster")
    assert config is not None
    labels = {**config.value.labels, VOTELESS_LABEL: encode_names(names)}
    return with_config_labels(observed, "main_cluster", labels)


def test_a_members_service_goes_only_without_a_vote() -> None:
    observed = deployed(1, 2, 3)
    found = live(observed, "main_member-3")
    removal = RemoveService(found.id, found.value.name, reason="")
    orphan = with_raft_nodes(observed, raft_nodes([1, 2], orphans=[3]))
    assert guard_of(orphan, removal) == "removal-is-asked-for", "it is not noted yet"
    orphan = with_voteless(orphan, "member-3")
    assert guard_of(orphan, removal) == ""
    assert guard_of(observed, removal) == "removal-is-asked-for"
    leads = whole(orphan, leader=3)
    leads = with_raft_nodes(leads, raft_nodes([1, 2], orphans=[3]))
    assert guard_of(leads, removal) == "removal-is-asked-for"
    silent = with_raft_nodes(orphan, raft_nodes([1, 2], down=[2], orphans=[3]))
    assert guard_of(silent, removal) == "removal-is-asked-for"


def with_lone(observed: Observed) -> Observed:
    """The Raft node of member-4 has no vote, and lists the voters of before."""
    nodes = raft_nodes([1, 2], orphans=[4])
    lone = nodes["main_member-4"]
    assert isinstance(lone, Known)
    former = frozenset(voter(number) for number in (1, 2, 3))
    former_list = dataclasses.replace(lone.value, reachable=frozenset(), unreachable=former)
    nodes["main_member-4"] = Known(former_list)
    return with_raft_nodes(observed, nodes)


def test_the_service_of_a_dead_member_goes_whatever_a_node_without_a_vote_lists() -> None:
    observed = with_voteless(with_lone(deployed(1, 2, 3, 4)), "member-3")
    found = live(observed, "main_member-3")
    removal = RemoveService(found.id, found.value.name, reason="")
    assert guard_of(observed, removal) == "removal-is-asked-for", "it answers"
    dead = with_member(observed, "member-3", Unknown("timed out"))
    assert guard_of(dead, removal) == ""
    voting = with_raft_nodes(dead, raft_nodes([1, 2, 4, voter(3)], down=[voter(3)]))
    assert guard_of(voting, removal) == "removal-is-asked-for"


def test_a_node_without_a_vote_joins_whatever_it_lists_itself() -> None:
    observed = with_lone(deployed(1, 2, 3, 4))
    gone = live(observed, "main_member-3")
    swarm = swarm_of(observed)
    kept = tuple(one for one in swarm.services if one.id != gone.id)
    observed = with_swarm(observed, services=kept)
    found = live(observed, "main_member-4")
    start = RestartService(found.id, found.version, found.value, 1, reason="", disrupts="")
    assert guard_of(observed, start) == ""
    ghost = with_raft_nodes(observed, raft_nodes([1, 2, voter(3)], orphans=[4]))
    assert guard_of(ghost, start) == "votes-change-safely"
