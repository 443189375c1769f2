"""Checks between documents find in the pairs that meet what they find in all pairs."""

from __future__ import annotations

from functools import cache
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from queenright.core.kinds.load import judge_file
from queenright.core.kinds.notes_app.checks.clusters import beside, check_beside_clusters
from queenright.core.kinds.notes_app.checks.conflicts import check_apps_together, findings_between
from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.postgres_cluster.checks.conflicts import (
    PAIR_CHECKS,
    check_clusters_together,
)
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.document import Document, is_of
from queenright.core.manifest.problems import Finding
from tests.support.examples import EXAMPLES
from tests.support.many_clusters import app_text, cluster_text

VIP = "{{image: v, address: {0}, interface: eth0, routerId: {1}, secret: {2}}}"
CLUSTER_EDITS: tuple[tuple[str, str], ...] = (
    ("network", "{name: c0000_db}"),
    ("network", "{name: own, subnet: 172.20.0.0/16}"),
    ("network", "{name: other, subnet: 172.20.7.0/24}"),
    ("secrets", "{superuser: c0000_superuser, replication: r, restApi: x}"),
    ("secrets", "{superuser: s, replication: r, restApi: a0000_encryption_key}"),
    ("roles", "[{name: r, passwordSecret: c0001_rest}]"),
    ("roles", "[{name: r, passwordSecret: a0001_url}]"),
    ("nodeLabels", "{member: c0000-member, proxy: p}"),
    ("nodeLabels", "{member: m, proxy: a0000-app}"),
    ("vip", VIP.format("10.0.0.9", 51, "c0002_superuser")),
    ("vip", VIP.format("10.0.0.9", 52, "vrrp")),
    ("vip", VIP.format("10.0.0.8", 51, "vrrp")),
    ("ports", "{postgresql: 20000}"),
    ("databases", "[{name: a0001, owner: somebody}]"),
)
APP_EDITS: tuple[tuple[str, str], ...] = (
    ("publish", "{port: 5432}"),
    ("publish", "{port: 20000, mode: host}"),
    ("publish", "{port: 8008, mode: host}"),
    ("network", "{name: c0000_db}"),
    ("network", "{name: n, subnet: 10.90.7.0/25}"),
    ("network", "{name: n, subnet: 172.20.7.0/25}"),
    ("encryptionKey", "{secret: c0001_superuser}"),
    ("encryptionKey", "{secret: a0000_encryption_key}"),
    ("encryptionKey", "{secret: vrrp}"),
    ("placement", "{nodes: [c0000-node1], label: c0000-member}"),
    ("placement", "{nodes: [c0000-node1, c0001-node1], label: a0000-app}"),
    ("database", "{cluster: c0000}"),
    ("database", "{cluster: c0000, name: same, role: same}"),
    ("database", "{urlSecret: a0001_url}\n  upgrade: {dump: none}"),
)


@cache
def cluster(number: int, edits: tuple[int, ...]) -> Document[PostgresCluster] | None:
    """A cluster on the nodes of one of the first two, so that ports clash."""
    text = cluster_text(number, **dict(CLUSTER_EDITS[edit] for edit in edits))
    text = text.replace(f"node: c{number:04}-", f"node: c{number % 2:04}-")
    (found,) = judge_file(f"/c{number}.yaml", text).judged
    document = found.document
    return document if document is not None and is_of(document, PostgresCluster) else None


@cache
def app(number: int, edits: tuple[int, ...]) -> Document[NotesApp] | None:
    fields = dict(APP_EDITS[edit] for edit in edits)
    kept = [
        line
        for line in app_text(number).splitlines()
        if line.partition(":")[0].strip() not in fields
    ]
    text = "\n".join([*kept, *(f"  {field}: {value}" for field, value in fields.items()), ""])
    (found,) = judge_file(f"/a{number}.yaml", text).judged
    document = found.document
    return document if document is not None and is_of(document, NotesApp) else None


def some(edits: int) -> st.SearchStrategy[list[tuple[int, ...]]]:
    chosen = st.lists(st.integers(0, edits - 1), max_size=3, unique=True).map(tuple)
    return st.lists(chosen, min_size=1, max_size=5)


@settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 80)
@given(some(len(CLUSTER_EDITS)), some(len(APP_EDITS)))
def test_no_finding_is_lost(clusters: list[tuple[int, ...]], apps: list[tuple[int, ...]]) -> None:
    described = [one for number, edits in enumerate(clusters) if (one := cluster(number, edits))]
    on_them = [one for number, edits in enumerate(apps) if (one := app(number, edits))]
    expected: list[tuple[str, str, Finding]] = []
    for earlier, later in combinations(described, 2):
        for check in PAIR_CHECKS:
            whose = f"cluster {earlier.name} ({earlier.origin.file}:{earlier.origin.line})"
            made = check(earlier.resource, later.resource, whose)
            expected += [(earlier.name, later.name, finding) for finding in made]
    found = [(c.earlier.name, c.later.name, c.finding) for c in check_clusters_together(described)]
    assert found == expected
    expected = []
    for one, other in combinations(on_them, 2):
        whose = f"app {one.name} ({one.origin.file}:{one.origin.line})"
        made = findings_between(one.resource, other.resource, whose)
        expected += [(one.name, other.name, finding) for finding in made]
    found = [(c.earlier.name, c.later.name, c.finding) for c in check_apps_together(on_them)]
    assert found == expected
    expected = [
        (clash.earlier.name, clash.later.name, clash.finding)
        for one in on_them
        for other in described
        for clash in beside(one, other)
    ]
    clashes = check_beside_clusters([*described, *on_them], [])
    across = [(c.earlier.name, c.later.name, c.finding) for c in clashes if c.earlier != c.later]
    assert [pair for pair in across if pair[2].path != ("spec", "replicas")] == expected


def test_the_edits_are_valid() -> None:
    """A document that is not valid would show nothing."""
    assert all(cluster(0, (edit,)) for edit in range(len(CLUSTER_EDITS)))
    assert all(app(1, (edit,)) for edit in range(len(APP_EDITS)))
