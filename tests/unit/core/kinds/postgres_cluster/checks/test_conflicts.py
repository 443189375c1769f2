"""Clusters side by side: what they may share, what not, and that a clash keeps both out."""

import pytest

from queenright.core.kinds.load import load
from queenright.core.manifest.document import Loaded
from tests.support.documents import BASE

OTHER = """\
apiVersion: queenright/v1alpha1
kind: PostgresCluster
metadata: {name: other}
spec:
  image: registry:5000/queenright-member:16
  lanSubnet: 10.77.0.0/24
  members:
    - {name: member-1, node: node4}
    - {name: member-2, node: node5}
    - {name: member-3, node: node6}
  proxies:
    image: registry:5000/queenright-proxy:3.0-alpine
    ports: {primary: 5100, replicas: 5101, statistics: 7100}
  ports: {postgresql: 5442, raft: 5020, restApi: 8018}
  secrets: {replication: other_a, superuser: other_b, restApi: other_c}
  nodeLabels: {member: other-node, proxy: other-proxy}
"""


def load_both(old: str = "", new: str = "", *, first: str = BASE) -> Loaded:
    assert old in OTHER
    return load({"a.yaml": first, "b.yaml": OTHER.replace(old, new, 1) if old else OTHER})


def test_clusters_may_share_nodes() -> None:
    result = load_both()
    assert result.problems == ()
    assert [one.name for one in result.documents] == ["main", "other"]


CLASHES = {
    "member port": (
        ("postgresql: 5442", "postgresql: 5432"),
        (
            "b.yaml:14: spec.ports.postgresql: 5432 is also used by cluster main (a.yaml:1) "
            "on node4; "
            "write another port or use other nodes"
        ),
    ),
    "proxy port on a member's node": (
        ("primary: 5100", "primary: 5010"),
        (
            "b.yaml:13: spec.proxies.ports.primary: 5010 is also used by cluster main "
            "(a.yaml:1) on "
            "node4; write another port or use other nodes"
        ),
    ),
    "member label": (
        ("member: other-node", "member: pg-node"),
        (
            'b.yaml:16: spec.nodeLabels.member: "pg-node" also places the tasks of cluster main '
            "(a.yaml:1), so that either could land on the other's nodes; write another key such as "
            '"pg-node-other"'
        ),
    ),
    "proxy label against member label": (
        ("proxy: other-proxy", "proxy: pg-node"),
        (
            'b.yaml:16: spec.nodeLabels.proxy: "pg-node" also places the tasks of cluster main '
            "(a.yaml:1), so that either could land on the other's nodes; write another key such as "
            '"pg-node-other"'
        ),
    ),
    "network": (
        ("  ports: {postgresql", "  network: {name: main_patroni}\n  ports: {postgresql"),
        (
            'b.yaml:14: spec.network.name: "main_patroni" is also the network of cluster main '
            "(a.yaml:1); write another name"
        ),
    ),
}


@pytest.mark.parametrize("name", CLASHES)
def test_a_clash_is_told_at_the_later_document_and_keeps_both_out(name: str) -> None:
    (old, new), told = CLASHES[name]
    result = load_both(old, new)
    assert [str(problem) for problem in result.problems] == [told]
    assert result.documents == ()


def test_overlapping_overlays_clash() -> None:
    subnet = "  network: {subnet: 10.90.0.0/16}\n"
    result = load_both(
        "  ports: {postgresql",
        "  network: {subnet: 10.90.1.0/24}\n  ports: {postgresql",
        first=BASE + subnet,
    )
    assert [str(problem) for problem in result.problems] == [
        (
            "b.yaml:14: spec.network.subnet: 10.90.1.0/24 overlaps the 10.90.0.0/16 of "
            "cluster main "
            "(a.yaml:1); write another range"
        )
    ]


def test_a_shared_password_is_a_warning() -> None:
    result = load_both("replication: other_a", "replication: pg_superuser_pw")
    assert [str(problem) for problem in result.problems] == [
        (
            "b.yaml:15: spec.secrets.replication: warning: is also a secret of "
            "cluster main (a.yaml:1): who learns the one cluster's password has the other's too; "
            "write another name, such as one that begins with other_"
        )
    ]
    assert len(result.documents) == 2


def test_one_name_in_two_files_keeps_both_out() -> None:
    result = load({"a.yaml": BASE, "b.yaml": BASE})
    assert [str(problem) for problem in result.problems] == [
        'b.yaml:3: metadata.name: "main" is also the name of the "PostgresCluster" at a.yaml:1'
    ]
    assert result.documents == ()


def test_one_name_is_told_even_where_a_document_is_broken() -> None:
    result = load({"a.yaml": BASE, "b.yaml": BASE.replace("node2", "5")})
    assert {problem.field for problem in result.problems} == {
        "metadata.name",
        "spec.members[0].node",
    }
    assert result.documents == ()
