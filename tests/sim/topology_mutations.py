"""The operator's rule for topology, bent: each is what one of its conditions is there for.

Without guards the judge has to see each in a walk without any fault but the one that it needs. Most
have a guard that refuses the same by itself, from the observation; two have none, for a guard does
not know the file: which member stands for another, and whether a member that is not whole is to be
waited for. What is left undone no guard can refuse.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from queenright.core.actions import AnyAction, NoteMembers, RaftRemove, RemoveService
from queenright.core.kinds.kind import Rule
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.postgres_cluster.places import decode_places, encode_places
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.settled import raft_leader
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.observed import NODE_DOWN, MemberStatus, Node
from queenright.core.planning.plan import Hold
from queenright.core.swarm.objects import MEMBERS_LABEL
from tests.fakes.world import World
from tests.sim.mutations import ruleset_with, seeing
from tests.sim.topology_faults import managers_forget
from tests.sim.topology_world import SPARES, noted_places, raft_address

Step = AnyAction | Hold


@dataclass(frozen=True)
class Bent:
    """``words`` are in the violation by which it is caught, in a walk of ``topology_history``;
    ``guard`` refuses it alone, where there is one."""

    name: str
    words: str
    walk: str
    ruleset: Ruleset
    tamper: Callable[[World], None] | None = None
    guard: str = ""

    def guarded(self) -> Ruleset:
        """Return the bent rules with that guard; with all where none refuses it."""
        kept = tuple(g for g in RULESET.guards if self.guard in {"", g.__name__})
        return dataclasses.replace(self.ruleset, guards=kept)


class Hasty(ClusterState):
    """Takes every change for old, and every member for well: the next one begins at once."""

    @property
    def seen_s_ago(self) -> Mapping[str, float]:
        return dict.fromkeys(super().seen_s_ago, 1e6)

    def why_changing(self, member: DesiredMember) -> str | None:
        return None

    def why_unsettled(self, member: DesiredMember) -> str | None:
        return None

    def status(self, member: DesiredMember) -> MemberStatus | None:
        found = super().status(member) or MemberStatus("running", "replica")
        if found.holds_lock:
            return found
        return dataclasses.replace(
            found, state="running", role="replica", replication_state="streaming", lag_bytes=0
        )


def bent(change: Callable[[ClusterState, Step], Step | None]) -> Ruleset:
    """All rules with their steps changed, or left out for None; no guards."""

    def bend(rule: Rule) -> Rule:
        def mutated(state: ClusterState) -> Iterator[Step]:
            for step in rule(state):
                if (kept := change(state, step)) is not None:
                    yield kept

        return mutated

    return ruleset_with(tuple(bend(rule) for rule in POSTGRES_CLUSTER.rules), ())


def service_first(state: ClusterState, step: Step) -> Step:
    """Remove the service where its vote is to be removed."""
    if not isinstance(step, RaftRemove):
        return step
    for member in state.desired.members:
        live = state.swarm.service(member.service.name)
        if live is not None and raft_address(member.name) == step.voter:
            return RemoveService(live.id, live.value.name, reason=step.reason)
    return step


def no_votes_removed(state: ClusterState, step: Step) -> Step | None:
    """Remove no vote of a ghost."""
    places = {raft_address(member.name) for member in state.desired.members}
    is_ghost = isinstance(step, RaftRemove) and step.voter not in places
    return None if is_ghost else step


def ghosts(world: World) -> None:
    """Every member that is removed starts once more when its place is cut, and votes again: its
    container was on a node that the managers did not reach."""

    def listen(kind: str, what: object) -> None:
        live = world.store.services.get(str(what))
        if kind == "remove-service" and live is not None and "member" in live.value.name:
            haunt(world, live.value.name.removeprefix("main_"))

    world.swarm.before_write.append(listen)


def haunt(world: World, name: str) -> None:
    if name in noted_places(world):
        world.orchestrator.after(1.0, haunt, world, name)
        return
    raft = world.patroni_model.consensus("main").raft
    raft.request(raft.leader, "add", raft_address(name))


def slow_copies(world: World) -> None:
    world.patroni_model.clone_s = 40.0


def no_stand_in_waited_for(state: ClusterState, step: Step) -> Step:
    """Remove a moving member's vote as soon as its stand-in has a service."""
    standing = {*state.desired.topology.standing}
    made = any(state.swarm.service(f"main_{name}") for name in standing)
    for move in state.desired.topology.moving:
        address, _, port = raft_leader(state).partition(":")
        if made and isinstance(step, Hold) and address and move.to.name in step.key:
            return RaftRemove(
                cluster="main",
                address=address,
                port=int(port),
                voter=raft_address(move.to.name),
                reason=step.reason,
            )
    return step


def seen_with(see: Callable[[ClusterState, Node], Node], *, is_old: bool = False) -> Ruleset:
    """All rules with every node seen otherwise, and for ``is_old`` down for ever; no guards."""

    def bend(rule: Rule) -> Rule:
        def mutated(state: ClusterState) -> Iterator[Step]:
            nodes = tuple(see(state, node) for node in state.swarm.nodes)
            seen = dataclasses.replace(state.swarm, nodes=nodes)
            times = {f"{NODE_DOWN}{node.id}": 1e6 for node in nodes if is_old}
            ages = {**state.observed.seen_s_ago, **times}
            observed = dataclasses.replace(state.observed, seen_s_ago=ages)
            yield from rule(dataclasses.replace(state, swarm=seen, observed=observed))

        return mutated

    return ruleset_with(tuple(bend(rule) for rule in POSTGRES_CLUSTER.rules), ())


def every_spare_fits(_: ClusterState, node: Node) -> Node:
    return dataclasses.replace(node, state="ready") if node.name in SPARES else node


def unknown_as_down(_: ClusterState, node: Node) -> Node:
    return dataclasses.replace(node, state="down") if node.state == "unknown" else node


def no_volumes_noted(_: ClusterState, step: Step) -> Step:
    """Note a renamed place without the volumes that it had."""
    if not isinstance(step, NoteMembers):
        return step
    places = decode_places(step.config.labels[MEMBERS_LABEL])
    bare = encode_places([dataclasses.replace(place, volumes="") for place in places])
    config = dataclasses.replace(step.config, labels={**step.config.labels, MEMBERS_LABEL: bare})
    return dataclasses.replace(step, config=config)


BOOTSTRAPPED_S = 12.0
"""The time in which the operator has noted that the new cluster was well once."""


def lost_node(world: World) -> None:
    """A member's node and the first spare node are dead for good."""
    for node in ("node4", SPARES[0]):
        world.orchestrator.after(BOOTSTRAPPED_S, keep_off, world, node)


def keep_off(world: World, node: str) -> None:
    """Nobody brings it back: each return ends before a container has started."""
    world.power_cut(node)
    world.orchestrator.after(0.2, keep_off, world, node)


def unheard_node(world: World) -> None:
    """A member's node dies, and the managers, which have another leader, only know nothing."""
    world.orchestrator.after(BOOTSTRAPPED_S, keep_off, world, "node4")
    forget(world)


def forget(world: World) -> None:
    managers_forget(world, random.Random(0), grace_s=1e9)
    world.orchestrator.after(0.2, forget, world)


MUTATIONS = (
    Bent("next add before the last is whole", "is not well", "3 to 5", seeing(Hasty), slow_copies),
    Bent(
        "next add at once",
        "after the last change of the voters",
        "3 to 5",
        seeing(Hasty),
        guard="votes_change_safely",
    ),
    Bent(
        "a move without waiting for the stand-in",
        "which stands for it, is well",
        "a move",
        bent(no_stand_in_waited_for),
        slow_copies,
    ),
    Bent(
        "service before its vote",
        "before its vote",
        "5 to 3",
        bent(service_first),
        guard="removal_is_asked_for",
    ),
    Bent(
        "no rule for ghosts",
        "which are no members",
        "5 to 3",
        bent(no_votes_removed),
        ghosts,
    ),
    Bent(
        "a replacement without the check that its node fits",
        "is sent to node7, which is not ready",
        "replaceAfter",
        seen_with(every_spare_fits),
        lost_node,
        guard="only_the_dead_are_replaced",
    ),
    Bent(
        "a replacement where swarm only does not know",
        "node4 is not known to be down for 60 s",
        "replaceAfter",
        seen_with(unknown_as_down, is_old=True),
        unheard_node,
        guard="only_the_dead_are_replaced",
    ),
    Bent(
        "a rename without the volumes",
        "loses its volumes",
        "another name",
        bent(no_volumes_noted),
        guard="places_cover_what_runs",
    ),
)
