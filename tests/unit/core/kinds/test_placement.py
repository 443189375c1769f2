"""A document on real nodes: what can't be placed, and what had better not be."""

import dataclasses

import pytest

from queenright.core.kinds.placement import placement_problems
from queenright.core.observed import Node
from tests.support.documents import document, edited, edited_app

NODES = (
    Node("a", "node1", "10.77.0.11", role="manager"),
    Node("b", "node2", "10.77.0.12"),
    Node("c", "node3", "10.77.0.13"),
    Node("d", "node4", "10.77.0.14"),
    Node("e", "node5", "10.77.0.15"),
)


def told(*edits: tuple[str, str], nodes: tuple[Node, ...] = NODES, more: str = "") -> list[str]:
    placed = document(edited(*edits, more=more))
    return [str(problem) for problem in placement_problems(placed, nodes)]


def changed(name: str, **changes: object) -> tuple[Node, ...]:
    return tuple(
        dataclasses.replace(node, **changes) if node.name == name else node  # type: ignore[arg-type]
        for node in NODES
    )


def test_nothing_is_told_where_all_is_well() -> None:
    assert told() == []


def test_the_operators_own_labels_are_no_problem() -> None:
    nodes = changed("node2", labels={"pg-node": "1", "pg-ha-node": "true"})
    assert told(nodes=nodes) == []


def test_a_node_that_does_not_exist() -> None:
    assert told(("node2", "nodee2")) == [
        (
            'cluster.yaml:8: spec.members[0].node: no node of this swarm is called "nodee2"; '
            "did you "
            'mean "node2"?'
        )
    ]
    assert told(("node2", "xyz")) == [
        (
            'cluster.yaml:8: spec.members[0].node: no node of this swarm is called "xyz"; '
            "the nodes "
            "are node1, node2, node3, node4, node5"
        )
    ]


def test_a_proxy_on_a_node_that_does_not_exist() -> None:
    assert told(("3.0-alpine\n", "3.0-alpine\n    nodes: [node2, node9]\n")) == [
        (
            "cluster.yaml:13: spec.proxies.nodes[1]: no node of this swarm is called "
            '"node9"; did you '
            'mean "node5"?'
        )
    ]


def test_a_member_on_a_manager_is_a_warning() -> None:
    assert told(("node2", "node1")) == [
        (
            'cluster.yaml:8: spec.members[0].node: warning: "node1" is a manager; a worker '
            "is better, "
            "so that a busy database or its failing node does not shake the managers' quorum "
            "(spec: §1.7)"
        )
    ]


def test_a_nodes_own_address_outside_the_subnet() -> None:
    nodes = changed("node2", address="192.168.1.12")
    message = (
        'cluster.yaml:8: spec.members[0].node: swarm knows "node2" by 192.168.1.12, outside '
        "lanSubnet 10.77.0.0/24; write the member's address, or the right subnet"
    )
    assert told(nodes=nodes) == [message]
    assert told(("node: node2", "node: node2, address: 10.77.0.12"), nodes=nodes) == []


@pytest.mark.parametrize("address", ["", "0.0.0.0", "fe80::1", "nonsense"])
def test_a_node_without_a_usable_address(address: str) -> None:
    (line,) = told(nodes=changed("node2", address=address))
    assert "outside lanSubnet" in line


def test_an_address_that_another_member_has_by_default() -> None:
    assert told(("node: node3", "node: node3, address: 10.77.0.12")) == [
        "cluster.yaml:9: spec.members[1].node: 10.77.0.12 is also the address of member-1"
    ]


def test_a_label_that_another_node_has() -> None:
    assert told(nodes=changed("node5", labels={"pg-node": "2"})) == [
        (
            'cluster.yaml:4: spec.nodeLabels.member: node "node5" already has the label pg-node=2, '
            "which is to mark node3; remove it (docker node update --label-rm pg-node "
            "node5), or write "
            "another key"
        )
    ]
    assert told(nodes=changed("node5", labels={"pg-ha-node": "true"})) == [
        (
            'cluster.yaml:4: spec.nodeLabels.proxy: warning: node "node5" has the label '
            "pg-ha-node=true without being listed in proxies.nodes, so a proxy runs there "
            "too; list "
            "it, or remove the label (docker node update --label-rm pg-ha-node node5)"
        )
    ]
    assert told(nodes=changed("node5", labels={"pg-node": "9", "pg-ha-node": "no"})) == []


def test_a_node_that_is_away_is_a_warning() -> None:
    assert told(nodes=changed("node2", state="down")) == [
        'cluster.yaml:8: spec.members[0].node: warning: "node2" is down now; nothing starts there'
    ]
    assert told(nodes=changed("node2", availability="drain")) == [
        (
            'cluster.yaml:8: spec.members[0].node: warning: "node2" has availability drain; '
            "nothing "
            "starts there until `docker node update --availability active node2`"
        )
    ]


def app_told(more: str, nodes: tuple[Node, ...] = NODES) -> list[str]:
    placed = document(edited_app(more=more))
    return [str(problem) for problem in placement_problems(placed, nodes)]


def test_an_application_on_nodes_that_are_there() -> None:
    more = "placement: {nodes: [node2, node3]}\nedge: {image: e:1, nodes: [node4]}"
    nodes = changed("node2", labels={"notes-node": "true"})
    assert app_told(more) == []
    assert app_told(more, nodes) == []


def test_an_applications_nodes_that_do_not_exist_or_are_away() -> None:
    assert app_told("placement: {nodes: [node22]}\nedge: {image: e:1, nodes: [far]}") == [
        (
            'cluster.yaml:9: spec.placement.nodes[0]: no node of this swarm is called "node22"; '
            'did you mean "node2"?'
        ),
        (
            'cluster.yaml:10: spec.edge.nodes[0]: no node of this swarm is called "far"; the nodes '
            "are node1, node2, node3, node4, node5"
        ),
    ]
    assert app_told("placement: {nodes: [node2]}", changed("node2", state="down")) == [
        (
            'cluster.yaml:9: spec.placement.nodes[0]: warning: "node2" is down now; nothing starts '
            "there"
        )
    ]


def test_a_node_for_dumps_that_does_not_exist() -> None:
    dump = ("{dump: none}", "{dump: {image: 'm:16', node: node9}}")
    (told,) = placement_problems(document(edited_app(dump)), NODES)
    assert told.field == "spec.upgrade.dump.node"
    assert told.severity == "error"


def test_a_label_of_the_application_on_a_foreign_node() -> None:
    nodes = changed("node5", labels={"notes-node": "true"})
    assert app_told("", nodes) == []
    assert app_told("placement: {nodes: [node2]}", nodes) == [
        (
            'cluster.yaml:9: spec.placement.label: warning: node "node5" has the label '
            "notes-node=true without being listed, so that tasks run there too; list it, or remove "
            "the label (docker node update --label-rm notes-node node5)"
        )
    ]
