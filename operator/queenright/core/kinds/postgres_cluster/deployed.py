"""Ports and secrets with which each member was deployed.

Read from the live services and the templates that they mount. Invariant: the operator connects to a
member as that member was deployed, never as the file wants it: in the middle of a rollout, and
while one is held, the two differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from queenright.core.kinds.postgres_cluster.annotations import noted_labels, state_config_name
from queenright.core.kinds.postgres_cluster.checks.backup import REPOSITORY_NAME
from queenright.core.kinds.postgres_cluster.deployed_secrets import secret_at
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster, DesiredMember
from queenright.core.kinds.postgres_cluster.desired.haproxy_cfg import Way
from queenright.core.kinds.postgres_cluster.desired.patroni_yml import bootstraps
from queenright.core.kinds.postgres_cluster.desired.repository import (
    RepositoryPlace,
    place_of,
)
from queenright.core.kinds.postgres_cluster.desired.services import (
    REST_SECRET_TARGET,
    SUPERUSER_TARGET,
    TEMPLATE_TARGET,
    service_name,
)
from queenright.core.kinds.postgres_cluster.in_place.note import WantedRestore, read_restored
from queenright.core.kinds.postgres_cluster.places import DeployedMember
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.topology.replaced import Nodes
from queenright.core.manifest.remembered import MOST_DOCUMENTS
from queenright.core.observed import SwarmState
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import answered_once
from queenright.core.swarm.objects import BOOTSTRAPPED_LABEL, CLUSTER_LABEL, Service

MOST_TEMPLATES = 4 * MOST_DOCUMENTS
LARGEST_TEMPLATE = 1 << 17
"""In bytes; a larger one is none of ours, and takes too long to read."""
HIGHEST_PORT = 65535
MOST_OPENINGS = 1000
"""Characters of a text that may each begin a level; templates have some dozens."""
FAST_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Of libyaml, where PyYAML was built with it."""


@dataclass(frozen=True, slots=True)
class Access:
    """Address, ports and secrets of one member.

    ``rest_secret`` is empty where its REST API asks for no password.
    """

    address: str
    way: Way
    raft_port: int
    rest_secret: str
    superuser_secret: str

    @property
    def postgresql_port(self) -> int:
        return self.way.postgresql

    @property
    def rest_api_port(self) -> int:
        return self.way.rest_api


@dataclass(frozen=True, slots=True)
class Deployed:
    """Facts of a deployed cluster that the desired state depends on.

    ``raft_port`` is 0 where it is not known; ``was_whole`` is True if the cluster was healthy once.
    ``homes`` are the nodes of members that live elsewhere than their lines say. ``restore`` is the
    restore in place with which it begins anew, until it was healthy since. ``repository`` is where
    its repository on a volume is deployed. ``standing`` are the nodes of the file that have a
    proxy.
    """

    raft_port: int = 0
    ways: tuple[Way, ...] = ()
    was_whole: bool = False
    homes: Nodes = ()
    restore: WantedRestore | None = None
    repository: RepositoryPlace | None = None
    standing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Template:
    """Ports and authentication that a member's template sets."""

    way: Way
    asks_password: bool


def access_to(desired: DesiredCluster, member: DesiredMember, swarm: SwarmState) -> Access:
    """The access to a member as it is deployed; as it would be where it is not, or where nothing
    can be told from what is there."""
    return _access_to(swarm, desired, member)


@answered_once
def _access_to(swarm: SwarmState, desired: DesiredCluster, member: DesiredMember) -> Access:
    live = swarm.service(member.service.name)
    if live is None:
        return Access(
            address=member.address,
            way=desired.way,
            raft_port=desired.raft_port,
            rest_secret=desired.rest_secret,
            superuser_secret=desired.superuser_secret,
        )
    service, found = live.value, template_of(live.value, swarm)
    asks = found.asks_password if found is not None else bool(desired.rest_secret)
    rest_secret = secret_at(service, REST_SECRET_TARGET) or desired.rest_secret
    return Access(
        address=member.address,
        way=found.way if found is not None else desired.way,
        raft_port=raft_port_of(service) or desired.raft_port,
        rest_secret=rest_secret if asks else "",
        superuser_secret=secret_at(service, SUPERUSER_TARGET) or desired.superuser_secret,
    )


def deployed_of(
    cluster: PostgresCluster, places: Sequence[DeployedMember], swarm: SwarmState
) -> Deployed:
    """The Raft port of the deployed members, the ways to them, in a fixed order, and whether all of
    them were ever well."""
    return _deployed_of(swarm, cluster.metadata.name, places)


@answered_once
def _deployed_of(swarm: SwarmState, scope: str, places: Sequence[DeployedMember]) -> Deployed:
    services = [*member_services(scope, places, swarm)]
    ports: dict[int, int] = {}
    for service in services:
        if port := raft_port_of(service):
            ports[port] = ports.get(port, 0) + 1
    found = {t.way for service in services if (t := template_of(service, swarm)) is not None}
    is_whole = was_whole(scope, places, swarm)
    return Deployed(
        raft_port=min(ports, key=lambda port: (-ports[port], port), default=0),
        ways=tuple(sorted(found)),
        was_whole=is_whole,
        restore=None if is_whole else noted_restore(scope, swarm),
        repository=deployed_repository(scope, swarm),
    )


def deployed_repository(scope: str, swarm: SwarmState) -> RepositoryPlace | None:
    """Return the place of the cluster's repository on a volume; None where it has none."""
    live = swarm.service(service_name(scope, REPOSITORY_NAME))
    is_ours = live is not None and live.value.labels.get(CLUSTER_LABEL) == scope
    return place_of(live.value) if live is not None and is_ours else None


def noted_restore(scope: str, swarm: SwarmState) -> WantedRestore | None:
    """The restore in place with which the present data begin; None where there was none."""
    found = read_restored(noted_labels(scope, swarm))
    return found.wanted if found is not None else None


def was_whole(scope: str, places: Sequence[DeployedMember], swarm: SwarmState) -> bool:
    """True if all members were ever well, by the state config's label.

    Without the label, which a person may have removed, by what it has led to: each member's service
    is there and none may initialise a cluster. A service without a state config had one.
    """
    services = [*member_services(scope, places, swarm)]
    state_config = swarm.config(state_config_name(scope))
    if state_config is None:
        return bool(services)
    if BOOTSTRAPPED_LABEL in state_config.value.labels:
        return True
    if read_restored(state_config.value.labels) is not None:
        return False  # the restore in place took the label away itself
    texts = [template_text(service, swarm) for service in services]
    complete = bool(texts) and len(texts) == len(places)
    return complete and not any(text is None or bootstraps(text) for text in texts)


def member_services(
    scope: str, places: Sequence[DeployedMember], swarm: SwarmState
) -> Iterator[Service]:
    for place in places:
        if (live := swarm.service(service_name(scope, place.name))) is not None:
            yield live.value


def with_deployed_raft_port(cluster: PostgresCluster, deployed: Deployed) -> PostgresCluster:
    """The document with the Raft port of the deployed members in place of its own: by that they
    know each other, and by another they would be other voters."""
    if deployed.raft_port in {0, cluster.spec.ports.raft}:
        return cluster
    ports = cluster.spec.ports.model_copy(update={"raft": deployed.raft_port})
    return cluster.model_copy(update={"spec": cluster.spec.model_copy(update={"ports": ports})})


def port_holds(cluster: PostgresCluster, deployed: Deployed) -> Iterator[Hold]:
    """The port of the file that the deployed members do not take."""
    wanted, kept = cluster.spec.ports.raft, deployed.raft_port
    if kept in {0, wanted}:
        return
    yield Hold(
        f"ports/{cluster.metadata.name}",
        f"ports.raft: it would move from {kept} to {wanted}, and the members stay on {kept} (they "
        "know each other in Raft by address and port: on another port they would be other voters); "
        f"write raft: {kept} again",
        wants_attention=True,
    )


def raft_port_of(service: Service) -> int:
    """The port on which the member's Raft node listens; 0 where the service does not say."""
    return port_in(service.environment.get("RAFT_SELF", ""))


def template_of(service: Service, swarm: SwarmState) -> Template | None:
    """Template that the service mounts; None where it is missing, or is no template of ours."""
    text = template_text(service, swarm)
    return read_template(text) if text is not None else None


def template_text(service: Service, swarm: SwarmState) -> bytes | None:
    """Text of the template that the service mounts; None where it is missing."""
    for reference in service.configs:
        live = swarm.config(reference.name)
        if reference.target == TEMPLATE_TARGET and live is not None:
            return live.value.data
    return None


@lru_cache(maxsize=MOST_TEMPLATES)
def read_template(data: bytes) -> Template | None:
    if len(data) > LARGEST_TEMPLATE:
        return None
    try:
        found = yaml.load(data, Loader=loader_for(data))  # noqa: S506  # a safe one
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    rest_api, postgresql = section(found, "restapi"), section(found, "postgresql")
    ports = [port_in(str(part.get("listen", ""))) for part in (postgresql, rest_api)]
    if not all(ports):
        return None
    return Template(Way(*ports), asks_password="authentication" in rest_api)


def loader_for(data: bytes) -> type[Any]:
    """Return the safe loader in C, which is ten times as fast, for a text that is not deep: it
    calls itself for each level, and would end the process on thousands of them. Else that in
    Python. A level takes one of these characters, or a line that is indented deeper."""
    openings = sum(data.count(character) for character in (b"[", b"{", b"-", b"?"))
    return yaml.SafeLoader if openings > MOST_OPENINGS else FAST_LOADER


def section(found: Any, name: str) -> dict[Any, Any]:
    kept = found.get(name) if isinstance(found, dict) else None
    return kept if isinstance(kept, dict) else {}


@lru_cache(maxsize=MOST_TEMPLATES)
def port_in(text: str) -> int:
    """The port at the end of ``host:port``; 0 where there is none."""
    port = text.rpartition(":")[2]
    number = int(port) if port.isascii() and port.isdecimal() and len(port) <= 5 else 0
    return number if number <= HIGHEST_PORT else 0
