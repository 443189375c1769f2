"""The faults of ``script.FAULTS`` on the lab, each with what repairs it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.e2e.running_operator import RunningOperator
from tests.e2e.swarm_facts import MEMBER_NODES, container_of, leader_node
from tests.lab.lab import Lab
from tests.lab.node import Node
from tests.soak.script import Step

MEMBER_OF = {"node2": "main_member-1", "node3": "main_member-2", "node4": "main_member-3"}
Repair = Callable[[], None]


@dataclass(frozen=True)
class Scene:
    """The lab with a running operator; ``leader`` and ``replica`` are nodes."""

    lab: Lab
    operator: RunningOperator
    leader: Node
    replica: Node

    @property
    def others(self) -> list[Node]:
        return [self.lab.node(name) for name in MEMBER_NODES if name != self.leader.name]


def scene_of(lab: Lab, operator: RunningOperator, step: Step) -> Scene:
    leader = leader_node(lab) or MEMBER_NODES[step.which % 3]
    replicas = [name for name in MEMBER_NODES if name != leader]
    return Scene(lab, operator, lab.node(leader), lab.node(replicas[step.which % 2]))


def power(nodes: Sequence[Node]) -> Repair:
    for node in nodes:
        node.power_cut()

    def start() -> None:
        for node in nodes:
            node.start(wait=False)
        for node in nodes:
            node.wait_until_up()

    return start


def cut_off(node: Node) -> Repair:
    node.partition()
    return node.heal


def frozen(node: Node) -> Repair:
    node.freeze()
    return node.thaw


def nothing() -> None:
    """Repair what mends itself."""


def killed_container(node: Node) -> Repair:
    if found := container_of(node, MEMBER_OF[node.name]):
        node.docker("kill", found, check=False)
    return nothing


def crashed(node: Node) -> Repair:
    node.crash_dockerd(wait=False)
    return node.wait_until_up


def removed(lab: Lab, service: str) -> Repair:
    lab.manager.docker("service", "rm", service, check=False)
    return nothing


def killed_operator(operator: RunningOperator) -> Repair:
    operator.stop(signal.SIGKILL)

    def start() -> None:
        operator.start()

    return start


ACTS: dict[str, Callable[[Scene], Repair]] = {
    "the leader's node loses power": lambda s: power([s.leader]),
    "a replica's node loses power": lambda s: power([s.replica]),
    "both replicas' nodes lose power": lambda s: power(s.others),
    "the leader's and a replica's node lose power": lambda s: power([s.leader, s.replica]),
    "all nodes lose power": lambda s: power(s.lab.nodes),
    "the leader's node is cut off": lambda s: cut_off(s.leader),
    "a replica's node is cut off": lambda s: cut_off(s.replica),
    "the leader's node is frozen": lambda s: frozen(s.leader),
    "a replica's node is frozen": lambda s: frozen(s.replica),
    "the leader's container is killed": lambda s: killed_container(s.leader),
    "dockerd crashes under the leader": lambda s: crashed(s.leader),
    "the manager's dockerd crashes": lambda s: crashed(s.lab.manager),
    "the leader's service is removed": lambda s: removed(s.lab, MEMBER_OF[s.leader.name]),
    "a replica's service is removed": lambda s: removed(s.lab, MEMBER_OF[s.replica.name]),
    "the proxies' service is removed": lambda s: removed(s.lab, "main_proxy"),
    "the operator is killed": lambda s: killed_operator(s.operator),
}


def strike(scene: Scene, step: Step) -> Repair:
    """Do the step's fault; return what repairs it."""
    return ACTS[step.fault](scene)
