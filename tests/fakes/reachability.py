"""Connections between nodes: without power, frozen, partitioned, and cut links between two."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Reachability:
    """Sets of node ids. An ``unreachable`` node hears nobody and is heard by nobody; a cut parts
    two nodes alone."""

    manager: str = "id-node1"
    unreachable: set[str] = field(default_factory=set)
    unpowered: set[str] = field(default_factory=set)
    frozen: set[str] = field(default_factory=set)
    cuts: set[frozenset[str]] = field(default_factory=set)
    unlogged: set[str] = field(default_factory=set)
    """Nodes whose log stream the managers lost in an outage, and do not have since: the late end of
    a former stream takes the new one's entry (swarmkit's logbroker; moby 35011)."""

    def gives_logs(self, node_id: str) -> bool:
        return self.hears(node_id) and node_id not in self.unlogged

    def runs(self, node_id: str) -> bool:
        return node_id not in self.unpowered and node_id not in self.frozen

    def linked(self, one: str, other: str) -> bool:
        """Return True if two nodes reach each other now."""
        if not (self.unpowered or self.frozen or self.unreachable or self.cuts):
            return True
        if not (self.runs(one) and self.runs(other)):
            return False
        if one == other:
            return True
        parted = one in self.unreachable or other in self.unreachable
        return not parted and not (self.cuts and frozenset((one, other)) in self.cuts)

    def hears(self, node_id: str) -> bool:
        """Return True if the managers, and an operator beside them, reach the node."""
        return self.linked(node_id, self.manager)
