"""Facts about the lab's swarm and databases, read past the operator."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from http.client import HTTPException
from typing import Any
from urllib.parse import quote

import httpx
import psycopg

from queenright.core.planning.lease import LEASE_CONFIG
from tests.lab.client import Client
from tests.lab.engine import EngineError
from tests.lab.lab import Lab
from tests.lab.node import Node
from tests.lab.settings import LabError
from tests.support import web
from tests.support.asking import pause_s

MEMBER_NODES = ("node2", "node3", "node4")
CLUSTER = """\
apiVersion: queenright/v1alpha1
kind: PostgresCluster
metadata: {{name: main}}
spec:
  image: {registry}/queenright-member:16
  lanSubnet: {subnet}
  members:
    - {{name: member-1, node: node2, failoverPriority: 3}}
    - {{name: member-2, node: node3}}
    - {{name: member-3, node: node4}}
  proxies:
    image: {registry}/queenright-proxy:3.0-alpine
"""

QUICK = {
    "patroni": "{ttl: 20s, loopWait: 2s, retryTimeout: 9s}",
    "healthCheck": "{interval: 4s, retries: 8}",
}
"""Timings of clusters whose tests are not about the contract's timings: a dead leader is found 10 s
sooner, a member that runs is found healthy up to 6 s sooner. On a busy machine a leader does not
give up, and no container is killed as unhealthy, sooner than with the contract's."""

QUICK_PROXIES = """\
    check: {interval: 1s}
    timeouts: {check: 1s}
    update: {delay: 2s}
"""
"""Lines of ``proxies``, for tests in which these are replaced and no client is theirs: 10 s less a
node."""


def manifest(lab: Lab, extra: str = "") -> str:
    """The usual cluster on nodes 2 to 4; ``extra`` is further YAML under ``spec`` or later."""
    text = CLUSTER.format(registry=lab.registry, subnet=lab.settings.subnet)
    return text + extra


def quick_manifest(lab: Lab, extra: str = "") -> str:
    """The usual cluster with ``QUICK`` timings; a field of ``extra`` is taken instead of theirs."""
    quick = [f"  {name}: {value}\n" for name, value in QUICK.items() if f"  {name}:" not in extra]
    return manifest(lab, extra).replace("  members:\n", "".join(quick) + "  members:\n", 1)


def vip_address(lab: Lab) -> str:
    """A free address of the lab's LAN."""
    return str(lab.settings.subnet[100])


def vip_fields(lab: Lab, *further: str) -> str:
    """The lines of ``vip`` for the lab; ``further`` are more of its fields."""
    fields = (
        f"image: {lab.registry}/queenright-vip:2.2",
        f"address: {vip_address(lab)}",
        "interface: eth0",
        "routerId: 51",
        *further,
    )
    return "  vip:\n" + "".join(f"    {field}\n" for field in fields if field)


def vip_manifest(lab: Lab, *further: str) -> str:
    """The usual cluster with a virtual address; ``further`` are fields of ``vip``."""
    return manifest(lab, vip_fields(lab, *further))


def eventually(
    condition: Callable[[], Any], what: str, timeout_s: float = 30, every_s: float = 0.1
) -> Any:
    """The condition's first truthy value; AssertionError after ``timeout_s`` seconds. It is asked
    for again after ``every_s`` seconds, and up to 0.3 s in a long wait; one that starts a program
    is to be asked for more rarely."""
    began = time.monotonic()
    while True:
        found = condition()
        if found:
            return found
        waited_s = time.monotonic() - began
        if waited_s > timeout_s:
            raise AssertionError(f"waited {timeout_s:.0f} s for {what}")
        time.sleep(pause_s(waited_s, every_s))


def patroni(lab: Lab, node: str) -> dict[str, Any]:
    """A member's own status, empty when it does not answer."""
    try:
        found: dict[str, Any] = web.get(
            f"http://{lab.node(node).address}:8008/patroni", timeout=2
        ).json()
    except (httpx.HTTPError, ValueError):
        return {}
    return found


def leader_node(lab: Lab) -> str:
    """The node of the member whose ``/primary`` answers 200; empty when none does."""
    for node in MEMBER_NODES:
        try:
            answer = web.get(f"http://{lab.node(node).address}:8008/primary", timeout=2)
        except httpx.HTTPError:
            continue
        if answer.status_code == httpx.codes.OK:
            return node
    return ""


def cluster_table(
    lab: Lab, nodes: Iterable[str] = MEMBER_NODES, port: int = 8008
) -> list[dict[str, Any]]:
    """The members as Patroni lists them on the first of these nodes that answers."""
    for node in nodes:
        try:
            answer = web.get(f"http://{lab.node(node).address}:{port}/cluster", timeout=2)
            return list(answer.json()["members"])
        except (httpx.HTTPError, ValueError, KeyError):
            continue
    return []


def is_whole(lab: Lab, port: int = 8008) -> bool:
    """One leader and two streaming replicas with lag 0, in Patroni's own words."""
    members = cluster_table(lab, port=port)
    leaders = [m for m in members if m["role"] == "leader" and m["state"] == "running"]
    replicas = [m for m in members if m.get("state") == "streaming" and m.get("lag") == 0]
    return len(leaders) == 1 and len(replicas) == len(MEMBER_NODES) - 1


STANDBY_ROLES = {
    "asynchronous": ["replica", "replica"],
    "synchronous": ["replica", "sync_standby"],
    "quorum": ["quorum_standby", "quorum_standby"],
}


def has_mode(lab: Lab, mode: str) -> bool:
    """Both replicas have the roles of this mode of replication, in Patroni's own words."""
    roles = sorted(member["role"] for member in cluster_table(lab) if member["role"] != "leader")
    return roles == STANDBY_ROLES[mode]


def container_of(node: Node, service: str) -> str:
    """Short id of the service's running container on the node, empty when there is none; LabError
    when the node does not answer. Tests ask for it in loops: no client process is started."""
    chosen = json.dumps({"label": [f"com.docker.swarm.service.name={service}"]})
    try:
        listed = node.engine.get(f"/containers/json?filters={quote(chosen)}", timeout_s=60)
    except (OSError, EngineError, HTTPException) as error:
        raise LabError(f"{node.name}: its containers are not listed ({error})") from error
    return str(listed[0]["Id"])[:12] if listed else ""


def read_secret(lab: Lab, name: str, cluster: str = "main") -> str:
    """A secret's value, as a member on a node that is on sees it."""
    for number, node in enumerate(MEMBER_NODES, start=1):
        if not lab.node(node).is_up():
            continue
        found = container_of(lab.node(node), f"{cluster}_member-{number}")
        if found and (text := _secret_in(lab.node(node), found, name)) is not None:
            return text
    raise AssertionError("no member runs")


_secrets: dict[tuple[str, str], str] = {}
"""Values by container and name: a container's secrets are what they were at its start, and nearly
every look into the database asks for one."""


def _secret_in(node: Node, container: str, name: str) -> str | None:
    if (container, name) not in _secrets:
        read = node.docker("exec", container, "cat", f"/run/secrets/{name}", check=False)
        if read.returncode != 0:
            return None
        _secrets[container, name] = read.stdout
    return _secrets[container, name]


def connect(
    lab: Lab, node: str, port: int = 5000, timeout_s: int = 5
) -> psycopg.Connection[tuple[Any, ...]]:
    """A superuser's connection through a node's proxy, in autocommit."""
    return psycopg.connect(
        host=lab.node(node).address,
        port=port,
        user="postgres",
        password=read_secret(lab, "pg_superuser_pw"),
        dbname="postgres",
        connect_timeout=timeout_s,
        autocommit=True,
    )


def serves(lab: Lab, node: str) -> bool:
    """Return True if the node's proxy passes a connection on to the leader. HAProxy finds a leader
    by its checks, so some seconds after the cluster is whole."""
    try:
        with connect(lab, node) as connection:
            return bool(connection.execute("SELECT 1").fetchall())
    except psycopg.OperationalError:
        return False


def fetch(client: Client, url: str) -> dict[str, Any]:
    """Status, headers and text of a GET from where the client stands."""
    program = (
        "import httpx, json, sys; r = httpx.get(sys.argv[1], timeout=5, trust_env=False);"
        " print(json.dumps([r.status_code, dict(r.headers), r.text]))"
    )
    answer = client.run(sys.executable, "-c", program, url)
    return dict(zip(("status", "headers", "text"), json.loads(answer.stdout), strict=True))


def service(lab: Lab, name: str) -> dict[str, Any]:
    """Return what ``docker service inspect`` shows; empty when there is no such service or the
    manager does not answer. It is asked for in loops, so that no client process is started."""
    return _asked(lab, f"/services/{name}?insertDefaults=true")


def cluster_labels(lab: Lab, cluster: str = "main") -> dict[str, str]:
    """The labels of a cluster's state config, empty when there is no such config."""
    return dict(_asked(lab, f"/configs/{cluster}_cluster").get("Spec", {}).get("Labels") or {})


def tasks_of(lab: Lab, service: str) -> list[tuple[str, str, str]]:
    """Node, image and state of each task of a service that is to run; empty when there is none or
    the manager does not answer."""
    chosen = quote(json.dumps({"service": [service], "desired-state": ["running"]}))
    tasks = _asked_for_all(lab, f"/tasks?filters={chosen}")
    found = _asked_for_all(lab, "/nodes") if tasks else []
    names = {node["ID"]: str(node["Description"].get("Hostname", "")) for node in found}
    return [
        (
            names.get(task.get("NodeID", ""), ""),
            str(task["Spec"]["ContainerSpec"]["Image"]),
            str(task["Status"]["State"]),
        )
        for task in tasks
    ]


def service_names(lab: Lab) -> list[str]:
    return [str(found["Spec"]["Name"]) for found in _asked_for_all(lab, "/services")]


def _asked(lab: Lab, resource: str) -> dict[str, Any]:
    try:
        return dict(lab.manager.engine.get(resource, timeout_s=60))
    except (OSError, EngineError, HTTPException):
        return {}


def _asked_for_all(lab: Lab, resource: str) -> list[dict[str, Any]]:
    try:
        return list(lab.manager.engine.get(resource, timeout_s=60))
    except (OSError, EngineError, HTTPException):
        return []


def versions(lab: Lab) -> dict[str, int]:
    """The version index of every object in the swarm: any write moves one of them. The operators'
    lease, which is renewed every two seconds, is left out."""
    found: dict[str, int] = {}
    for kind in ("service", "secret", "config", "node"):
        ids = lab.manager.docker(kind, "ls", "-q").stdout.split()
        for raw in json.loads(lab.manager.docker(kind, "inspect", *ids).stdout) if ids else []:
            if raw["Spec"].get("Name") != LEASE_CONFIG:
                found[f"{kind}/{raw['ID']}"] = raw["Version"]["Index"]
    return found
