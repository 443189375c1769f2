"""keepalived's configuration: the fields, and who comes first."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queenright.core.kinds.postgres_cluster.desired.keepalived_conf import (
    for_host,
    for_node,
    priorities,
    render_keepalived_conf,
    vrrp_identity,
)
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from tests.golden.compare import assert_golden
from tests.support.documents import BASE, document
from tests.support.examples import examples
from tests.support.vip_error_cases import with_vip

NODES = {"node2": "10.77.0.12", "node3": "10.77.0.13", "node4": "10.77.0.14"}
FOURTH = ("queenright-proxy:3.0-alpine\n", "queenright-proxy:3.0-alpine\n    nodes: [{}]\n")


def cluster_of(text: str) -> PostgresCluster:
    return document(text).resource


def render(text: str, nodes: dict[str, str] = NODES) -> str:
    cluster = cluster_of(text)
    assert cluster.spec.vip is not None
    return render_keepalived_conf(cluster, cluster.spec.vip, nodes)


def identity(text: str, nodes: dict[str, str] = NODES) -> str:
    cluster = cluster_of(text)
    assert cluster.spec.vip is not None
    return vrrp_identity(cluster, cluster.spec.vip, nodes)


def test_the_default_configuration() -> None:
    assert_golden("keepalived.conf", render(with_vip()))


def test_every_field_is_the_documents() -> None:
    text = with_vip(
        address="10.77.0.200",
        interface="bond0.7",
        routerId="7",
        prefixLength="24",
        peers="multicast",
        advertInterval="250ms",
        downTimerAdverts="4",
        preempt="true",
        check="{interval: 2s, timeout: 1s, fall: 3, rise: 4}",
    )
    assert_golden("keepalived-changed.conf", render(text))


def test_for_one_node_it_is_written_out() -> None:
    text = for_node(render(with_vip()), "node3")
    assert_golden("keepalived-node3.conf", text)
    assert "@" not in text


@pytest.mark.parametrize("fields", [{}, {"peers": "multicast"}, {"authentication": "none"}])
def test_there_is_no_password_in_it_only_the_way_to_one(fields: dict[str, str]) -> None:
    text = render(with_vip(**fields))
    assert "auth_pass" not in text
    assert ("include /run/queenright/authentication.conf" in text) is not bool(fields)
    assert ("version 2" in text) is not bool(fields)


def test_on_hosts_the_password_is_beside_the_configuration() -> None:
    text = for_host(render(with_vip()), "node3")
    there = "include /etc/keepalived/authentication.conf"
    assert text == for_node(render(with_vip()), "node3").replace(
        "include /run/queenright/authentication.conf", there
    )
    assert there in text


def test_a_multicast_that_is_given_a_password_has_one() -> None:
    text = render(with_vip(peers="multicast", authentication="password"))
    assert "version 2" in text
    assert "unicast" not in text


def test_priority_follows_the_members_preference_then_the_list() -> None:
    text = with_vip(
        ("node: node3", "node: node3, failoverPriority: 9"),
        (FOURTH[0], FOURTH[1].format("node5, node2, node3, node4")),
    )
    assert priorities(cluster_of(text)) == {"node3": 200, "node2": 180, "node4": 160, "node5": 140}


@settings(deadline=None, max_examples=examples(40))
@given(st.integers(1, 250), st.randoms())
def test_priorities_are_distinct_and_fit_whatever_the_number_of_nodes(
    count: int, shuffle: object
) -> None:
    assert hasattr(shuffle, "shuffle")
    names = [f"n{number}" for number in range(count)]
    shuffle.shuffle(names)
    found = priorities(cluster_of(with_vip((FOURTH[0], FOURTH[1].format(", ".join(names))))))
    assert set(found) == set(names)
    assert all(1 <= priority <= 254 for priority in found.values())
    if count < 200:
        assert len(set(found.values())) == count


NAMES = st.from_regex(r"\A[A-Za-z0-9]([A-Za-z0-9_.-]{0,8}[A-Za-z0-9])?\Z")


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(NAMES, min_size=2, max_size=6, unique=True))
def test_each_node_has_all_others_for_peers_and_never_itself(names: list[str]) -> None:
    nodes = {name: f"10.77.0.{number}" for number, name in enumerate(names, start=12)}
    listed = ", ".join(f"'{name}'" for name in names)
    text = render(with_vip((FOURTH[0], FOURTH[1].format(listed))), nodes)
    for node, address in nodes.items():
        own = for_node(text, node)
        peers = re.search(r"unicast_peer \{\n(.*?)\n    \}", own, re.DOTALL)
        assert peers is not None
        assert set(peers[1].split()) == set(nodes.values()) - {address}
        assert f"unicast_src_ip {address}\n" in own
        assert f"check-proxy {address} " in own
        assert own.count("\n    priority ") == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"routerId": "52"},
        {"interface": "eth1"},
        {"peers": "multicast"},
        {"authentication": "none"},
        {"advertInterval": "2s"},
        {"secret": "other"},
    ],
)
def test_what_nodes_must_agree_on_to_hear_each_other_is_their_identity(
    fields: dict[str, str],
) -> None:
    assert identity(with_vip(**fields)) != identity(with_vip())


def test_who_the_nodes_are_is_part_of_it_and_the_rest_is_not() -> None:
    assert identity(with_vip(), {**NODES, "node5": "10.77.0.15"}) != identity(with_vip())
    for fields in ({"address": "10.77.0.101"}, {"preempt": "true"}, {"check": "{rise: 3}"}):
        assert identity(with_vip(**fields)) == identity(with_vip())


def test_a_cluster_without_one_has_none() -> None:
    assert cluster_of(BASE).spec.vip is None
