"""One cluster of a simulated world, for its checkers: its file, members and nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.desired.expand import expand
from queenright.core.swarm.objects import (
    ADDRESS_LABEL,
    APP_LABEL,
    CLUSTER_LABEL,
    ROLE_LABEL,
    Service,
)
from tests.fakes.consensus import Consensus
from tests.fakes.instances import Instance
from tests.fakes.world import World
from tests.support.builders import FILE, MANIFEST, NODE_OF, document


@dataclass(frozen=True)
class Subject:
    """``node_of`` are the members' nodes by their names; ``base`` is the file's first text."""

    world: World
    cluster: str
    file: str
    base: str
    node_of: Mapping[str, str]

    @property
    def text(self) -> str:
        """The text in force, as the operator keeps it."""
        return self.world.last_good.saved.get(self.file, self.base)

    @property
    def services(self) -> tuple[str, ...]:
        """Names of the members' services."""
        return tuple(self.service(name) for name in self.node_of)

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(self.world.store.node_named(node).address for node in self.node_of.values())

    def service(self, name: str) -> str:
        return f"{self.cluster}_{name}"

    def consensus(self) -> Consensus:
        return self.world.patroni_model.consensus(self.cluster)

    def leader(self) -> Instance | None:
        return self.world.patroni_model.leader(self.cluster)

    def desired(self) -> DesiredCluster:
        """The objects that the text in force asks for; a member stays on its node where the text
        names one that the swarm does not have."""
        nodes = self.world.store.nodes.values()
        addresses = {node.name: node.address for node in nodes}
        cluster = document(self.text).resource
        members = [
            member
            if member.address or member.node in addresses
            else member.model_copy(update={"node": self.node_of[member.name]})
            for member in cluster.spec.members
        ]
        spec = cluster.spec.model_copy(update={"members": members})
        return expand(cluster.model_copy(update={"spec": spec}), addresses)

    def has_left(self, service: Service) -> bool:
        """True for a member where the text in force has none, such as a stand-in whose move was
        taken back, once it has no vote and does not lead."""
        if service.labels.get(ROLE_LABEL) != "member":
            return False
        here = (service.name, service.labels.get(ADDRESS_LABEL, ""))
        wanted = {(member.service.name, member.address) for member in self.desired().members}
        leader = self.leader()
        leads = leader is not None and leader.service == service.name
        has_vote = self.consensus().raft.is_listed(service.environment["RAFT_SELF"])
        return here not in wanted and not has_vote and not leads

    def owns(self, what: object) -> bool:
        """True if a write is about one of the cluster's objects; what no document owns counts."""
        world = self.world
        value = what[1] if isinstance(what, tuple) else what
        stored = [*world.store.configs.values(), *world.store.services.values()]
        value = next((live.value for live in stored if live.id == what), value)
        if (node_id := getattr(value, "node_id", "")) in world.store.nodes:
            return world.store.nodes[node_id].name in self.node_of.values()
        labels = getattr(value, "labels", None) or {}
        return APP_LABEL not in labels and labels.get(CLUSTER_LABEL, self.cluster) == self.cluster


def main_cluster(world: World) -> Subject:
    return Subject(world, "main", FILE, MANIFEST, NODE_OF)
