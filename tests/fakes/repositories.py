"""Repositories on volumes: an S3 server answers while a task of its service runs.

One that starts does not answer yet: the real one needs some seconds for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from queenright.core.swarm.objects import ADDRESS_LABEL, Service
from tests.fakes.swarm_store import SwarmStore

LAN = "10.77.0."
Place = tuple[str, ...]
"""The node and the volume of a repository."""


@dataclass
class Repositories:
    """The servers of one swarm, told apart by their address in the LAN. Storage elsewhere is not
    of this swarm, and answers."""

    store: SwarmStore

    def answers(self, environment: Mapping[str, str]) -> bool:
        """Return True if the repository that a container's environment names answers now."""
        return not is_on_a_volume(environment) or self.serving(environment) is not None

    def serving(self, environment: Mapping[str, str]) -> Place | None:
        """Return where the repository on a volume that a container's environment names has its
        data; None where none answers."""
        scheme, _, place = environment.get("BACKUP_ENDPOINT", "").partition("://")
        for task in self.store.tasks.values():
            template = task.template
            if not is_repository(template) or task.state != "running":
                continue
            node, live = (
                self.store.nodes.get(task.node_id),
                self.store.services.get(task.service_id),
            )
            if live is None or not is_at_home(template, node):
                continue
            host = live.value.labels.get(ADDRESS_LABEL, "")
            if place == f"{host}:{port_of(template, live.value, scheme)}":
                volumes = [mount.source for mount in template.mounts if mount.kind == "volume"]
                return (node.name if node is not None else "", *volumes)
        return None


def is_on_a_volume(environment: Mapping[str, str]) -> bool:
    _, _, place = environment.get("BACKUP_ENDPOINT", "").partition("://")
    return place.startswith(LAN)


def is_repository(service: Service) -> bool:
    """Return True for a task's template, which has none of its service's labels."""
    return "REPOSITORY_PORT" in service.environment


def why_no_server(service: Service) -> str:
    """Return the refusal of the repository's image; empty where it serves."""
    targets = {file.target for file in service.secrets if file.uid == "10003"}
    volumes = [mount.target for mount in service.mounts if mount.kind == "volume"]
    port = service.environment.get("REPOSITORY_PORT", "")
    if "backup_credentials" not in targets or volumes != ["/data"] or not port.isdecimal():
        return "FATAL: the credentials, the volume or the port is missing"
    published = [one.target for one in service.ports]
    return "" if published == [int(port)] else "FATAL: its port is not published"


def port_of(template: Service, service: Service, scheme: str) -> int:
    """Return the published port of a server that speaks a scheme; 0 where it speaks another."""
    is_tls = any(file.target == "repository_certificate" for file in template.secrets)
    if scheme != ("https" if is_tls else "http") or not service.ports:
        return 0
    return service.ports[0].published


def is_at_home(service: Service, node: object) -> bool:
    """Return True if the service's container is on the node that the service names."""
    name = getattr(node, "name", "")
    return service.constraints == (f"node.hostname=={name}",)
