"""The notes application on a bare swarm: one command, and what it survives (spec: notes-app).

The operator is given the cluster's file and the application's at once, and does all of it.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest

from tests.e2e.notes_client import (
    QUICK,
    WEB,
    PageWriter,
    app_manifest,
    is_served,
    readiness,
    replica_nodes,
    secrets_of,
)
from tests.e2e.running_operator import QUICK_RESYNC_S, RunningOperator
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    connect,
    container_of,
    eventually,
    is_whole,
    leader_node,
    quick_manifest,
    service,
    versions,
)
from tests.lab.lab import Lab
from tests.lab.product_images import publish

pytestmark = [pytest.mark.lab, pytest.mark.images]

SECOND = 1_000_000_000


@dataclass(frozen=True)
class Notes:
    """A lab on which the application was deployed; ``took_s`` from the command to all ready."""

    lab: Lab
    operator: RunningOperator
    image: str
    took_s: float


@pytest.fixture(scope="module")
def notes(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notes]:
    images = publish(lab.registry, ["member", "proxy", "notes"], lab.settings)
    lab.reset()
    operator = RunningOperator(lab, tmp_path_factory.mktemp("operator"), resync_s=QUICK_RESYNC_S)
    operator.write(quick_manifest(lab))
    operator.write(app_manifest(images["notes"], QUICK), "notes.yaml")
    began = time.monotonic()
    with operator:
        eventually(lambda: is_served(lab), "both replicas to be ready", 180)
        took_s = time.monotonic() - began
        operator.wait_converged()
        yield Notes(lab, operator, images["notes"], took_s)


@pytest.fixture
def served(notes: Notes) -> Notes:
    """Served and whole, whatever an earlier test did."""
    eventually(lambda: is_served(notes.lab), "both replicas to be ready", 120)
    eventually(lambda: is_whole(notes.lab), "a whole cluster", 180)
    return notes


def test_from_a_bare_swarm_to_ready_replicas_with_one_command(notes: Notes) -> None:
    print(f"bare swarm to 200 on /readyz of every replica: {notes.took_s:.1f} s")
    nodes = replica_nodes(notes.lab)
    assert len(set(nodes)) == 2
    assert [readiness(notes.lab, node) for node in nodes] == [200, 200]


def test_the_service_has_the_contracts_hardening(served: Notes) -> None:
    spec = service(served.lab, WEB)["Spec"]
    container = spec["TaskTemplate"]["ContainerSpec"]
    assert container["ReadOnly"] is True
    assert container["Init"] is True
    assert container["CapabilityDrop"] == ["ALL"]
    assert {m["Target"]: m["Type"] for m in container["Mounts"]} == {"/tmp": "tmpfs"}
    assert container["StopGracePeriod"] == 30 * SECOND
    files = {item["File"]["Name"]: item["File"] for item in container["Secrets"]}
    assert set(files) == {"app_database_url", "app_encryption_key"}
    assert {(f["UID"], f["GID"], f["Mode"]) for f in files.values()} == {("10001", "10001", 0o400)}
    environment = dict(item.partition("=")[::2] for item in container["Env"])
    assert environment["DATABASE_URL_FILE"] == "/run/secrets/app_database_url"
    assert environment["APP_ENCRYPTION_KEY_FILE"] == "/run/secrets/app_encryption_key"
    assert {"DATABASE_URL", "APP_ENCRYPTION_KEY"}.isdisjoint(environment)
    update = spec["UpdateConfig"]
    # Start-first never proceeds where the old task has the node's port.
    assert (update["Order"], update["FailureAction"]) == ("stop-first", "rollback")


def test_a_container_can_write_nowhere_but_in_tmp(served: Notes) -> None:
    node = served.lab.node(replica_nodes(served.lab)[0])
    container = container_of(node, WEB)
    script = "id -u; grep CapEff /proc/self/status; touch /app/x /etc/x /x; touch /tmp/x && echo ok"
    said = node.docker("exec", container, "sh", "-c", script, check=False)
    assert said.stdout.split() == ["10001", "CapEff:", "0000000000000000", "ok"]
    assert said.stderr.count("Read-only file system") == 3
    processes = node.docker("exec", container, "cat", "/proc/1/comm").stdout.strip()
    assert processes in {"docker-init", "tini"}


def test_its_database_is_its_own(served: Notes) -> None:
    with connect(served.lab, MEMBER_NODES[0]) as connection:
        owner, access = connection.execute(
            "SELECT pg_get_userbyid(datdba), datacl::text FROM pg_database WHERE datname = 'notes'"
        ).fetchone() or ("", "")
        logins = connection.execute(
            "SELECT rolname, rolcanlogin, rolsuper FROM pg_roles"
            " WHERE rolname ~ '^notes' ORDER BY 1"
        ).fetchall()
        sessions = connection.execute(
            "SELECT DISTINCT usename FROM pg_stat_activity WHERE datname = 'notes'"
        ).fetchall()
    assert owner == "notes"
    assert not [item for item in access.strip("{}").split(",") if item.startswith("=")]
    assert [(login, superuser) for _, login, superuser in logins] == [(False, False), (True, False)]
    assert sessions == [(logins[1][0],)]
    url = secrets_of(served.lab, WEB)["app_database_url"]
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(
            host=served.lab.node("node2").address,
            port=5000,
            user=logins[1][0],
            password=url,
            dbname="postgres",
            connect_timeout=5,
        )


def test_what_migrations_made_belongs_to_the_owner(served: Notes) -> None:
    with psycopg.connect(
        host=served.lab.node("node2").address,
        port=5000,
        user="postgres",
        password=superuser_password(served.lab),
        dbname="notes",
        connect_timeout=5,
    ) as connection:
        owners = connection.execute(
            "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
    assert owners == [("notes",)]


def test_nothing_is_written_while_nothing_changes(served: Notes) -> None:
    served.operator.wait_converged(since=len(list(served.operator.passes())) - 1)
    before = versions(served.lab)
    seen = len(list(served.operator.passes()))
    served.operator.wait_for(lambda: len(list(served.operator.passes())) > seen + 3, "3 passes")
    assert versions(served.lab) == before


def test_a_hand_change_is_taken_back(served: Notes) -> None:
    served.lab.manager.docker(
        "service", "update", "--detach", "--env-add", "ODD=1", WEB, check=False
    )

    def environment() -> list[str]:
        found: list[str] = service(served.lab, WEB)["Spec"]["TaskTemplate"]["ContainerSpec"]["Env"]
        return found

    eventually(lambda: "ODD=1" not in environment(), "the change to be taken back", 60)
    eventually(lambda: is_served(served.lab), "both replicas to be ready", 120)


@pytest.mark.quiet
def test_the_leaders_node_is_cut_off_power_under_writes_through_the_application(
    served: Notes,
) -> None:
    lab, away = served.lab, leader_node(served.lab)
    staying = [node for node in ("node1", *MEMBER_NODES) if node != away]
    with PageWriter(
        lab, [node for node in replica_nodes(lab) if node != away] or staying
    ) as writer:
        time.sleep(2)
        began = time.monotonic()
        lab.node(away).power_cut()
        eventually(
            lambda: any(at > began + 3 for at in writer.at), "a page after the power cut", 90
        )
        eventually(
            lambda: away not in replica_nodes(lab) and is_served(lab),
            "both replicas to be ready elsewhere",
            120,
        )
        took_s = time.monotonic() - began
        time.sleep(1)
    gap_s = writer.longest_gap_s()
    lost = writer.lost()
    print(
        f"power cut of the leader's node: no page for {gap_s:.1f} s, every replica ready after "
        f"{took_s:.1f} s; {len(writer.acknowledged)} pages acknowledged, {len(lost)} lost"
    )
    lab.node(away).start()
    eventually(lambda: is_whole(lab), "a whole cluster", 180)
    assert not lost
    served.operator.wait_converged(180, since=len(list(served.operator.passes())))


def test_no_secret_is_anywhere_but_in_its_place(served: Notes) -> None:
    values = secret_values(served.lab)
    assert len(values) >= 5
    assert len(base64.b64decode(values["app_encryption_key"], validate=True)) == 32
    said = "".join(served.operator.lines)
    trail = "".join(
        path.read_text() for path in sorted(served.operator.state.rglob("*")) if path.is_file()
    )
    places = {"the operator's log": said, "its state": trail, **swarm_texts(served.lab)}
    places |= node_texts(served.lab)
    for name, value in values.items():
        assert len(value) > 20, name
        for where, text in places.items():
            assert value not in text, f"{name} is in {where}"


def superuser_password(lab: Lab) -> str:
    return secret_values(lab)["pg_superuser_pw"]


def secret_values(lab: Lab) -> dict[str, str]:
    """Every secret's value by its name, as the containers that have it see it; of a connection
    string its password as well, which another secret has too."""
    found: dict[str, str] = {}
    for name in ("main_member-1", "main_member-2", "main_member-3", WEB):
        for file, secret in secrets_of(lab, name).items():
            for node in (lab.node(item) for item in lab.settings.node_names):
                container = container_of(node, name)
                if container and secret not in found:
                    path = f"/run/secrets/{file}"
                    found[secret] = node.docker("exec", container, "cat", path).stdout
    url = next(value for secret, value in found.items() if "database_url" in secret)
    found["the role's password"] = url.partition("@")[0].rpartition(":")[2]
    return found


def swarm_texts(lab: Lab) -> dict[str, str]:
    """Return all that the managers report of services, tasks, configs, secrets and networks."""
    found = {}
    for kind in ("service", "config", "secret", "network", "node"):
        ids = lab.manager.docker(kind, "ls", "-q").stdout.split()
        found[f"docker {kind} inspect"] = lab.manager.docker(kind, "inspect", *ids).stdout
    raws = json.loads(found["docker config inspect"])
    found["the configs' content"] = "".join(
        base64.b64decode(raw["Spec"].get("Data") or "").decode() for raw in raws
    )
    return found


def node_texts(lab: Lab) -> dict[str, str]:
    """Return the nodes' data: containers' logs, environments and labels, and all processes."""
    found = {}
    for name in lab.settings.node_names:
        node = lab.node(name)
        containers = node.docker("ps", "-aq").stdout.split()
        text = node.docker("inspect", *containers).stdout if containers else ""
        for container in containers:
            logs = node.docker("logs", container, check=False)
            text += logs.stdout + logs.stderr
        text += node.exec("ps", "axwwe").stdout
        found[name] = text
    return found
