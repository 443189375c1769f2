"""The model's effect of each type of action; none is without one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import get_args

import pytest

from queenright.core.actions import (
    AdjustService,
    AlterDatabase,
    AlterRole,
    AnyAction,
    CreateConfig,
    CreateDatabase,
    CreateExtension,
    CreateNetwork,
    CreateRole,
    CreateSecret,
    CreateService,
    CreateUrlSecret,
    Failover,
    LabelConfig,
    LabelNode,
    NoteMembers,
    PatchSettings,
    RaftRemove,
    RaftTransfer,
    Reinitialize,
    RemoveConfig,
    RemoveNetwork,
    RemoveService,
    RestartPostgres,
    RestartService,
    Switchover,
    UpdateService,
)
from queenright.core.observed import Known, MemberStatus, Unknown
from queenright.core.planning.node_labels import relabelled_node
from queenright.core.postgres.catalog import DesiredDatabase, DesiredRole
from queenright.core.swarm.objects import Config, Network, Secret
from tests.support.builders import NOW
from tests.support.effect_worlds import (
    RAFT,
    REST,
    SQL,
    URL,
    VOTERS,
    begun,
    catalog,
    changed,
    done,
    live,
    member,
    swarm,
    task_ids,
    with_waiting,
)


def label_node() -> None:
    """The label goes, and the proxy's task with it."""
    node = swarm(begun()).node("node3")
    assert node is not None
    seen = done(relabelled_node(node, {"pg-ha-node": None}, "r"))
    changed_node = swarm(seen).node("node3")
    assert changed_node is not None
    assert "pg-ha-node" not in changed_node.labels
    assert len(task_ids(seen, "main_proxy")) == len(task_ids(begun(), "main_proxy")) - 1


def update_service() -> None:
    """Its task is another one, and PostgreSQL has started with what waited."""
    action = UpdateService(**changed("main_member-2", stop_grace_s=90.0), force_update=0)
    seen = done(action, with_waiting("member-2"))
    found = swarm(seen).service("main_member-2")
    assert found is not None
    assert (found.value.stop_grace_s, found.updated_at) == (90.0, NOW)
    assert task_ids(seen, "main_member-2") != task_ids(begun(), "main_member-2")
    assert not member(seen, "member-2").pending_restart
    assert member(seen, "member-2").is_streaming


def adjust_service() -> None:
    """Its tasks stay."""
    seen = done(AdjustService(**changed("main_member-2", labels={"a": "b"})))
    found = swarm(seen).service("main_member-2")
    assert found is not None
    assert found.value.labels == {"a": "b"}
    assert task_ids(seen, "main_member-2") == task_ids(begun(), "main_member-2")


def restart_service() -> None:
    seen = done(RestartService(**changed("main_member-2"), force_update=7))
    found = swarm(seen).service("main_member-2")
    assert found is not None
    assert found.force_update == 7
    assert task_ids(seen, "main_member-2") != task_ids(begun(), "main_member-2")


def remove_service() -> None:
    """The member is gone; its vote stays, and nobody reaches it."""
    gone = live("main_member-3")
    seen = done(RemoveService(reason="r", id=gone.id, name="main_member-3"))
    assert swarm(seen).service("main_member-3") is None
    assert isinstance(seen.members["main_member-3"], Unknown)
    raft = seen.raft["main_member-1"]
    assert isinstance(raft, Known)
    assert raft.value.unreachable == {VOTERS[2]}
    assert raft.value.has_quorum


def create_service() -> None:
    """The removed member comes again, and streams."""
    gone = live("main_member-3")
    without = done(RemoveService(reason="r", id=gone.id, name="main_member-3"))
    seen = done(CreateService(reason="r", service=gone.value), without)
    assert len(task_ids(seen, "main_member-3")) == 1
    assert member(seen, "member-3").is_streaming
    raft = seen.raft["main_member-1"]
    assert isinstance(raft, Known)
    assert raft.value.unreachable == frozenset()


def patch_settings() -> None:
    """Settings merge; a parameter that takes a restart waits for it, and a pause is heard."""
    patch = {"pause": True, "postgresql": {"parameters": {"max_connections": 300}}}
    seen = done(PatchSettings(**REST, aspect="settings", patch=patch, expected={}))
    settings = seen.settings["main"]
    assert isinstance(settings, Known)
    assert settings.value["postgresql"]["parameters"]["max_connections"] == 300
    assert settings.value["postgresql"]["parameters"]["wal_level"]
    assert member(seen, "member-2").paused
    assert member(seen, "member-2").pending_changes == {"max_connections": ("200", "300")}


def switchover() -> None:
    """Another leads on the next timeline; the former follows, and was restarted for it."""
    action = Switchover(**REST, leader="member-1", candidate="member-2", timeline=1)
    seen = done(action, with_waiting("member-1"))
    assert member(seen, "member-2").is_leader
    assert member(seen, "member-2").timeline == 2
    assert member(seen, "member-1").is_streaming
    assert not member(seen, "member-1").pending_restart


def failover() -> None:
    headless = begun()
    left = dataclasses.replace(member(headless, "member-1"), holds_lock=False, state="stopped")
    members = {**headless.members, "main_member-1": Known(left)}
    seen = done(
        Failover(**REST, candidate="member-3"), dataclasses.replace(headless, members=members)
    )
    assert member(seen, "member-3").is_leader
    assert not member(seen, "member-1").is_well


def restart_postgres() -> None:
    seen = done(RestartPostgres(**REST, member="member-2"), with_waiting("member-2"))
    assert not member(seen, "member-2").pending_restart


def reinitialize() -> None:
    empty = dataclasses.replace(
        begun(),
        members={
            **begun().members,
            "main_member-2": Known(MemberStatus(state="stopped", role="uninitialized")),
        },
    )
    assert member(done(Reinitialize(**REST, member="member-2"), empty), "member-2").is_streaming


def raft_remove() -> None:
    seen = done(RaftRemove(**RAFT, voter=VOTERS[2]))
    raft = seen.raft["main_member-1"]
    assert isinstance(raft, Known)
    assert raft.value.voters == {*VOTERS[:2]}
    assert isinstance(seen.raft["main_member-3"], Unknown)


def raft_transfer() -> None:
    seen = done(RaftTransfer(**RAFT, voter=VOTERS[1]))
    found = {n: seen.raft[f"main_member-{n}"] for n in (1, 2, 3)}
    states = {n: one.value.state for n, one in found.items() if isinstance(one, Known)}
    assert states == {1: "follower", 2: "leader", 3: "follower"}


def networks() -> None:
    seen = done(CreateNetwork(reason="r", network=Network("other")))
    made = swarm(seen).network("other")
    assert made is not None
    assert (
        swarm(done(RemoveNetwork(reason="r", id=made.id, name="other"), seen)).network("other")
        is None
    )


def configs() -> None:
    seen = done(CreateConfig(reason="r", config=Config("c", b"x")))
    made = swarm(seen).config("c")
    assert made is not None
    for kind in (LabelConfig, NoteMembers):
        labelled = Config("c", b"x", {"a": "b"})
        noted = done(kind(reason="r", id=made.id, version=made.version, config=labelled), seen)
        found = swarm(noted).config("c")
        assert found is not None
        assert found.value.labels == {"a": "b"}
        assert found.version > made.version
    assert swarm(done(RemoveConfig(reason="r", id=made.id, name="c"), seen)).config("c") is None


def secrets() -> None:
    assert swarm(done(CreateSecret(reason="r", secret=Secret("s")))).secret("s") is not None
    url = CreateUrlSecret(reason="r", secret=Secret("t"), url=URL, password_secret="s")
    assert swarm(done(url)).secret("t") is not None


def roles() -> None:
    wanted = DesiredRole("new", password_secret="s", connection_limit=3)
    made = catalog(done(CreateRole(**SQL, role=wanted))).role("new")
    assert made is not None
    assert (made.connection_limit, made.verifier) == (3, "as desired")
    altered = DesiredRole("r", connection_limit=9)
    found = catalog(done(AlterRole(**SQL, role=altered, fields=("connection_limit",)))).role("r")
    assert found is not None
    assert found.connection_limit == 9


def databases() -> None:
    made = catalog(done(CreateDatabase(**SQL, database=DesiredDatabase("new", "r"))))
    assert made.database("new") is not None
    wanted = DesiredDatabase("d", "other")
    altered = catalog(done(AlterDatabase(**SQL, database=wanted, fields=("owner",))))
    found = altered.database("d")
    assert found is not None
    assert found.owner == "other"
    extended = catalog(done(CreateExtension(**SQL, database="d", extension="e"))).database("d")
    assert extended is not None
    assert extended.extensions == ("e",)


CASES: dict[Callable[[], None], tuple[type, ...]] = {
    label_node: (LabelNode,),
    update_service: (UpdateService,),
    adjust_service: (AdjustService,),
    restart_service: (RestartService,),
    remove_service: (RemoveService,),
    create_service: (CreateService,),
    patch_settings: (PatchSettings,),
    switchover: (Switchover,),
    failover: (Failover,),
    restart_postgres: (RestartPostgres,),
    reinitialize: (Reinitialize,),
    raft_remove: (RaftRemove,),
    raft_transfer: (RaftTransfer,),
    networks: (CreateNetwork, RemoveNetwork),
    configs: (CreateConfig, LabelConfig, NoteMembers, RemoveConfig),
    secrets: (CreateSecret, CreateUrlSecret),
    roles: (CreateRole, AlterRole),
    databases: (CreateDatabase, AlterDatabase, CreateExtension),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_an_action_has_its_effect(case: Callable[[], None]) -> None:
    case()


def test_no_type_of_action_is_left_out() -> None:
    """A new type of action has to be modelled, and to have a case here."""
    assert {kind for kinds in CASES.values() for kind in kinds} == {*get_args(AnyAction)}
