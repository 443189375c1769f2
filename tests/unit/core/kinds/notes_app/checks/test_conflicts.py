"""Applications beside clusters and each other: what they share, what not, and what fits where."""

import pytest

from queenright.core.kinds.notes_app.checks.deployment import connections_needed
from queenright.core.kinds.postgres_cluster.databases.login_roles import login_role
from tests.support.app_conflicts import OTHER, of_main, told, with_cluster
from tests.support.documents import APP_OF_MAIN, BASE, document, edited_app


def test_an_application_stands_on_a_cluster_of_another_file() -> None:
    result = with_cluster(APP_OF_MAIN)
    assert told(result) == []
    assert [(one.kind, one.name) for one in result.documents] == [
        ("PostgresCluster", "main"),
        ("NotesApp", "notes"),
    ]


def test_two_applications_share_a_cluster_and_its_nodes() -> None:
    assert told(with_cluster(APP_OF_MAIN, more=OTHER)) == []


BESIDE_A_CLUSTER = {
    "another cluster": (
        of_main(("cluster: main", "cluster: mian")),
        (
            "notes.yaml:7: spec.database.cluster: no PostgresCluster of these files is called "
            '"mian"; '
            'did you mean "main"?'
        ),
    ),
    "a cluster far from any": (
        of_main(("cluster: main", "cluster: other")),
        (
            "notes.yaml:7: spec.database.cluster: no PostgresCluster of these files is called "
            '"other"'
            "; there is main"
        ),
    ),
    "its name": (
        of_main(("{name: notes}", "{name: main}")),
        (
            'notes.yaml:3: metadata.name: "main" is also the name of cluster main '
            "(cluster.yaml:1), "
            "and the prefix of its services; write another name"
        ),
    ),
    "its proxies' port": (
        of_main(more="publish: {port: 5000}"),
        (
            "notes.yaml:9: spec.publish.port: 5000 is also used by cluster main (cluster.yaml:1) "
            "on "
            "node2, node3, node4; write another port"
        ),
    ),
    "its database's port, on a node that both use": (
        of_main(
            more="publish: {mode: host, port: 5432}\n"
            "placement: {nodes: [node1, node4, node5, node6]}"
        ),
        (
            "notes.yaml:9: spec.publish.port: 5432 is also used by cluster main (cluster.yaml:1) "
            "on "
            "node4; write another port"
        ),
    ),
    "its port, by the edge": (
        of_main(
            more="edge: {image: e:1, nodes: [node2], ports: {https: 8008},"
            " trustedProxies: [192.0.2.0/28]}"
        ),
        (
            "notes.yaml:9: spec.edge.ports.https: 8008 is also used by cluster main "
            "(cluster.yaml:1) "
            "on node2; write another port"
        ),
    ),
    "its network": (
        of_main(more="network: {name: main_patroni}"),
        (
            'notes.yaml:9: spec.network.name: "main_patroni" is also the network of cluster main '
            "(cluster.yaml:1); write another name"
        ),
    ),
    "its nodes' network": (
        of_main(more="network: {subnet: 10.77.0.0/25}"),
        (
            "notes.yaml:9: spec.network.subnet: 10.77.0.0/25 overlaps the lanSubnet 10.77.0.0/24 "
            "of "
            "cluster main (cluster.yaml:1); write another range"
        ),
    ),
    "its label": (
        of_main(more="placement: {label: pg-node}"),
        (
            'notes.yaml:9: spec.placement.label: "pg-node" also places the tasks of cluster main '
            "(cluster.yaml:1); write another key"
        ),
    ),
    "its superuser's password": (
        of_main(("{cluster: main}", "{cluster: main, passwordSecret: pg_superuser_pw}")),
        (
            "notes.yaml:7: spec.database.passwordSecret: is a password of "
            "cluster "
            "main (cluster.yaml:1), with which the application would own the whole cluster; write "
            "another name"
        ),
    ),
    "its superuser's password, for the edge": (
        of_main(
            more="edge: {image: e:1, "
            "tls: {mode: certificate, certificate: c, key: pg_superuser_pw}}"
        ),
        (
            "notes.yaml:9: spec.edge.tls.key: is a password of cluster main "
            "(cluster.yaml:1), with which the application would own the whole cluster; write "
            "another name"
        ),
    ),
    "more connections than it has": (
        of_main(more="replicas: 16"),
        (
            "notes.yaml:9: spec.replicas: 16 replicas need 204 connections while they are replaced "
            "(12 each); cluster main (cluster.yaml:1) has 197 (max_connections less those "
            "reserved): "
            "write fewer, or raise it"
        ),
    ),
}


@pytest.mark.parametrize("what", BESIDE_A_CLUSTER)
def test_what_an_application_does_not_share_with_a_cluster(what: str) -> None:
    app, message = BESIDE_A_CLUSTER[what]
    result = with_cluster(app)
    assert told(result) == [message]
    assert "NotesApp" not in {one.kind for one in result.documents}


def test_a_database_that_the_clusters_file_gives_to_somebody_else() -> None:
    theirs = (
        "  roles: [{name: shop, passwordSecret: shop_pw}]\n"
        "  databases: [{name: notes, owner: shop}]\n"
    )
    assert told(with_cluster(APP_OF_MAIN, cluster=BASE + theirs)) == [
        (
            'notes.yaml:7: spec.database.role: "notes" is not the owner of database notes in '
            "cluster "
            "main (cluster.yaml:1), which is shop; write one of the two otherwise"
        )
    ]


ROLE = "  roles: [{name: shop, passwordSecret: shop_pw}]\n"


def test_a_password_that_a_role_of_the_cluster_has_too() -> None:
    app = of_main(("{cluster: main}", "{cluster: main, passwordSecret: shop_pw}"))
    result = with_cluster(app, cluster=BASE + ROLE)
    assert told(result) == [
        (
            "notes.yaml:7: spec.database.passwordSecret: warning: is also the password "
            "of role shop of cluster main (cluster.yaml:1): who learns the one has the other too; "
            "write another name"
        )
    ]
    assert "NotesApp" in {one.kind for one in result.documents}


@pytest.mark.parametrize(
    ("app", "field"),
    [
        (of_main(more="encryptionKey: {secret: shop_pw}"), "notes.yaml:9: spec.encryptionKey"),
        (
            edited_app(("{urlSecret: app_database_url}", "{urlSecret: shop_pw}")),
            "notes.yaml:7: spec.database.urlSecret",
        ),
    ],
)
def test_a_secret_that_the_cluster_makes_for_a_role_is_nothing_else(app: str, field: str) -> None:
    result = with_cluster(app, cluster=BASE + ROLE)
    (line,) = told(result)
    assert line.startswith(field)
    assert "is also the password of role shop of cluster main (cluster.yaml:1)" in line
    assert "NotesApp" not in {one.kind for one in result.documents}


def test_the_applications_own_login_may_stand_in_the_clusters_file() -> None:
    database = with_cluster(APP_OF_MAIN).documents[1].resource.spec.database
    login = login_role(database.role, database.password_secret)
    roles = f"  roles: [{{name: {login}, passwordSecret: notes_db_password}}]\n"
    assert told(with_cluster(APP_OF_MAIN, cluster=BASE + roles)) == []


def test_a_cluster_that_is_refused_itself_is_there_all_the_same() -> None:
    assert {
        problem.file for problem in with_cluster(APP_OF_MAIN, cluster=BASE + "  a: 1\n").problems
    } == {"cluster.yaml"}


def test_what_vrrp_sends_in_clear_text_is_no_key() -> None:
    vip = "  vip: {image: 'v:2', address: 10.77.0.100, interface: eth0, routerId: 51}\n"
    app = of_main(more="encryptionKey: {secret: main_vrrp_pw}")
    (problem,) = told(with_cluster(app, cluster=BASE + vip))
    assert "spec.encryptionKey.secret: is also the VRRP password of" in problem


def test_the_proxies_bound_the_connections_too() -> None:
    cluster = BASE + "    maxConnectionsPerServer: 30\n"
    assert told(with_cluster(APP_OF_MAIN, cluster=cluster)) == [
        (
            "notes.yaml:4: spec.replicas: 2 replicas need 36 connections while they are replaced "
            "(12 "
            "each); cluster main (cluster.yaml:1) has 30 (proxies.maxConnectionsPerServer): write "
            "fewer, or raise it"
        )
    ]


def test_all_applications_of_a_cluster_fit_into_it_together() -> None:
    result = with_cluster(APP_OF_MAIN + "  replicas: 9\n", more=OTHER + "  replicas: 6\n")
    assert told(result) == [
        (
            "wiki.yaml:11: spec.replicas: 6 replicas need 84 connections while they are replaced "
            "(12 "
            "each), 204 with the other applications there; cluster main (cluster.yaml:1) has 197 "
            "(max_connections less those reserved): write fewer, or raise it"
        )
    ]


@pytest.mark.parametrize(
    ("more", "connections"),
    [
        ("", 36),
        ("replicas: 3\nupdate: {parallelism: 2}", 60),
        ("update: {parallelism: 9}", 48),
        ("update: {order: stop-first}", 24),
        ("replicas: 0", 0),
    ],
)
def test_connections_count_replicas_and_those_that_start_before_others_stop(
    more: str, connections: int
) -> None:
    assert connections_needed(document(edited_app(more=more)).resource) == connections
    dumping = edited_app(("{dump: none}", "{dump: {image: 'm:16', node: node4}}"), more=more)
    assert connections_needed(document(dumping).resource) == connections + 1
