"""Things that two applications do not share."""

import pytest

from tests.support.app_conflicts import OTHER, of_main, told, with_cluster
from tests.support.documents import APP, APP_OF_MAIN

WHOSE = "app notes (notes.yaml:1)"


BESIDE_AN_APPLICATION = {
    "port": (
        ("port: 3001", "port: 3000"),
        f"wiki.yaml:9: spec.publish.port: 3000 is also used by {WHOSE}; write another port",
    ),
    "database": (
        ("{cluster: main}", "{cluster: main, name: notes, role: wiki}"),
        (
            f'wiki.yaml:7: spec.database.name: "notes" in cluster main is also the database of '
            f"{WHOSE}"
            "; write another name"
        ),
    ),
    "role": (
        ("{cluster: main}", "{cluster: main, role: notes}"),
        (
            f'wiki.yaml:7: spec.database.role: "notes" in cluster main is also the role of '
            f"{WHOSE}; "
            "write another name"
        ),
    ),
    "network": (
        ("  publish:", "  network: {name: notes_app}\n  publish:"),
        (
            f'wiki.yaml:9: spec.network.name: "notes_app" is also the network of {WHOSE}; write '
            "another name"
        ),
    ),
    "label": (
        ("  publish:", "  placement: {label: notes-node}\n  publish:"),
        (
            f'wiki.yaml:9: spec.placement.label: "notes-node" also places the tasks of {WHOSE}; '
            f"write "
            "another key"
        ),
    ),
    "key": (
        ("wiki_encryption_key", "app_encryption_key"),
        (
            f"wiki.yaml:10: spec.encryptionKey.secret: warning: is also the "
            f"key "
            f"of {WHOSE}: who learns the one has the other too; write another name such as "
            '"wiki_encryption_key"'
        ),
    ),
    "password": (
        ("{cluster: main}", "{cluster: main, passwordSecret: notes_db_password}"),
        (
            f"wiki.yaml:7: spec.database.passwordSecret: warning: is also the "
            f"password of {WHOSE}: who learns the one has the other too; write another name"
        ),
    ),
}


@pytest.mark.parametrize("what", BESIDE_AN_APPLICATION)
def test_what_applications_do_not_share(what: str) -> None:
    (old, new), message = BESIDE_AN_APPLICATION[what]
    assert old in OTHER
    result = with_cluster(APP_OF_MAIN, more=OTHER.replace(old, new, 1))
    assert told(result) == [message]
    is_warning = ": warning: " in message
    assert sum(one.kind == "NotesApp" for one in result.documents) == (2 if is_warning else 0)


def test_one_database_elsewhere_is_not_for_two() -> None:
    second = APP.replace("{name: notes}", "{name: wiki}") + "  publish: {port: 3001}\n"
    second += "  encryptionKey: {secret: another}\n"
    assert told(with_cluster(APP, more=second)) == [
        (
            f"wiki.yaml:7: spec.database.urlSecret: is also the database of "
            f"{WHOSE}"
            "; each needs its own"
        )
    ]


def test_an_edge_without_tls_leaves_the_https_port_to_others() -> None:
    plain = "edge: {image: e:1, nodes: [node2], tls: 'off', trustedProxies: [192.0.2.0/28]}"
    first = APP_OF_MAIN + f"  {plain}\n"
    tls = "edge: {image: e:1, nodes: [node2], ports: {http: 8081}}"
    second = OTHER.replace("publish: {port: 3001}", tls)
    assert second != OTHER
    assert told(with_cluster(first, more=second)) == []


def test_ports_that_swarm_places_anywhere_are_no_clash() -> None:
    first = APP_OF_MAIN + "  publish: host\n"
    second = OTHER.replace("publish: {port: 3001}", "publish: host")
    assert told(with_cluster(first, more=second)) == []
    assert told(with_cluster(of_main(more="publish: {mode: host, port: 5000}"))) == []
