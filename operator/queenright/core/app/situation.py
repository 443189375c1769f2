"""One application's desired state and everything observed, with the questions that its rules ask.

Answers only; decides nothing. Invariant: an answer that rests on an unknown source is the careful
one (not ready, not safe).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from queenright.core.app.desired import DesiredApp
from queenright.core.app.readiness import Readiness
from queenright.core.catalog import DesiredRole, Role
from queenright.core.observed import (
    ImageFound,
    ImageMissing,
    Known,
    Live,
    LiveService,
    SwarmState,
    Task,
    Unknown,
)
from queenright.core.resources import APP_LABEL, NODE_LABELS_LABEL, Config
from queenright.core.situation import Situation
from queenright.core.spec.parameter_table import amount_of, parameters


@dataclass(frozen=True, slots=True)
class AppSituation:
    """What an application's rule decides from; ``now`` is the pass's one moment. ``cluster`` is the
    one that has its database, None where the database is elsewhere or the cluster is not known;
    ``readiness`` is each task's own word, by its id."""

    desired: DesiredApp
    swarm: SwarmState
    images: Mapping[str, Known[ImageFound | ImageMissing] | Unknown]
    now: datetime
    cluster: Situation | None = None
    readiness: Mapping[str, Known[Readiness] | Unknown] = field(default_factory=dict)
    outputs: Mapping[str, Known[str] | Unknown] = field(default_factory=dict)
    """The last lines of its jobs that have ended, by the service's id."""
    connections: int = 0
    """Connections that all applications of its cluster need at their busiest (spec: §8)."""
    claimed: frozenset[tuple[str, str]] = frozenset()
    """Nodes and label keys that other documents place by, of either kind."""

    @property
    def web(self) -> LiveService | None:
        """The replicas' service, as it is deployed."""
        return self.swarm.service(self.desired.web.name)

    @property
    def services(self) -> tuple[LiveService, ...]:
        """All that the application has in the swarm."""
        return tuple(
            live
            for live in self.swarm.services
            if live.value.labels.get(APP_LABEL) == self.desired.name
        )

    @property
    def configs(self) -> tuple[Live[Config], ...]:
        """Its configs in the swarm."""
        return tuple(
            live
            for live in self.swarm.configs
            if live.value.labels.get(APP_LABEL) == self.desired.name
        )

    @property
    def desired_label_keys(self) -> frozenset[str]:
        return frozenset(key for item in self.desired.node_labels for key in item.labels)

    @property
    def noted_label_keys(self) -> frozenset[str]:
        """Keys of node labels that were set for this application."""
        anchor = self.swarm.config(self.desired.anchor.name)
        noted = anchor.value.labels.get(NODE_LABELS_LABEL, "") if anchor else ""
        return frozenset(key for key in noted.split(",") if key)

    @property
    def label_keys(self) -> frozenset[str]:
        return self.desired_label_keys | self.noted_label_keys

    @property
    def has_started(self) -> bool:
        """Whether replicas may have written with the present key: the anchor comes first."""
        return self.web is not None or self.swarm.config(self.desired.anchor.name) is not None

    @property
    def missing(self) -> tuple[str, ...]:
        """What the replicas' service refers to and is not there."""
        desired, swarm = self.desired, self.swarm
        secrets = (desired.key.name, *desired.given_secrets)
        has_url = swarm.secret(desired.url_secret.name) is not None
        return (
            *([] if swarm.network(desired.network.name) else [f"network {desired.network.name}"]),
            *(f"secret {name}" for name in secrets if not swarm.secret(name)),
            *([] if has_url else ["its connection string"]),
        )

    def why_no_database(self) -> str | None:
        """Why the database can't be worked with now; None when it can, as far as is known."""
        desired = self.desired
        if not desired.cluster:
            return None
        if self.cluster is None:
            return f"cluster {desired.cluster}, which has its database, is not deployed yet"
        if self.cluster.leader is None:
            return f"cluster {desired.cluster} has no leader that every observation agrees on"
        raft = self.cluster.raft_of(self.cluster.leader)
        if raft is None or not raft.has_quorum:
            # One that was cut off, or frozen, goes on calling itself the leader for a while.
            return f"the Raft node of {self.cluster.leader.name}, which leads, affirms no quorum"
        return None

    def why_too_few_connections(self) -> str | None:
        """Why the server that runs does not take all connections yet, though the file's will: it
        waits for a restart."""
        cluster = self.cluster
        leader = cluster.leader if cluster else None
        status = cluster.status(leader) if cluster and leader else None
        present, _ = (status.pending_changes if status else {}).get("max_connections", ("", ""))
        if not (cluster and present.isdecimal()):
            return None
        written = cluster.desired.settings.get("postgresql", {}).get("parameters", {})
        reserved = sum(
            whole_amount(name, written.get(name, default), default)
            for name, default in (
                ("superuser_reserved_connections", 3),
                ("reserved_connections", 0),
            )
        )
        if int(present) - reserved >= self.connections:
            return None
        return (
            f"the applications of cluster {cluster.desired.name} need {self.connections} "
            f"connections, and its server has max_connections {present}, {reserved} of them "
            "reserved, until it is restarted"
        )

    def is_ready(self, task: Task) -> bool:
        """Whether a replica says so itself."""
        match self.readiness.get(task.id):
            case Known(answer):
                return answer.is_ready
            case _:
                return False

    def why_not_whole(self) -> str | None:
        """Why not every wanted replica is known to serve; None when each is."""
        live = self.web
        if live is None:
            return "no replica is deployed"
        ready = sum(self.is_ready(task) for task in self.swarm.running_tasks(live.id))
        if ready < live.value.replicas:
            return f"{ready} of {live.value.replicas} replicas are known to be ready"
        return None

    def why_not_served(self) -> str | None:
        """Why clients may not be served at all; None when at least one replica is ready."""
        tasks = self.swarm.running_tasks(self.web.id) if self.web else iter(())
        return None if any(map(self.is_ready, tasks)) else "no replica is known to be ready"

    def why_disturbed(self) -> str | None:
        """Why the cluster is in the middle of something; None when it is not."""
        if self.cluster is None:
            return None
        if (move := self.cluster.notes.move) is not None:
            return f"the lead is moving from {move.leader} to {move.candidate}"
        members = self.cluster.desired.members
        found = (self.cluster.why_changing(member) for member in members)
        return next((why for why in found if why), None)

    def why_not_in_catalog(self) -> str | None:
        """Why the database is not known to be as the application needs it; None when it is."""
        if not self.desired.catalog:
            return None
        match self.cluster.catalog if self.cluster else Unknown("its cluster is not known"):
            case Known(catalog):
                for role in self.desired.catalog.roles:
                    if not catalog.has_role(role.name):
                        return f"cluster {self.desired.cluster} has no role {role.name} yet"
                    if why := why_no_login(role, catalog.role(role.name)):
                        return f"cluster {self.desired.cluster}: {why}"
                for database in self.desired.catalog.databases:
                    if catalog.database(database.name) is None:
                        return f"cluster {self.desired.cluster} has no database {database.name} yet"
                return None
            case Unknown(why):
                return f"roles and databases of cluster {self.desired.cluster} are unknown: {why}"


def whole_amount(name: str, value: str | int | float, default: int) -> int:
    """A parameter as PostgreSQL counts it, which takes `0x3` and `3.0` as well as `3`."""
    amount = amount_of(parameters()[name], value)
    return default if amount is None else int(amount)


def why_no_login(wished: DesiredRole, live: Role | None) -> str | None:
    """Why nobody can log in as the role, and act for its owner, yet: one that was retired, say, and
    is asked for again; None when they can, as far as is known."""
    if live is None or not wished.login:
        return None
    if not live.login:
        return f"role {wished.name} may not log in yet"
    if live.verifier == "not yet":
        return f"whether role {wished.name} has the password of its secret is not looked at yet"
    if live.verifier in {"none", "another"}:
        return f"role {wished.name} does not have the password of its secret yet"
    if not {*(wished.member_of or ())} <= {*live.member_of}:
        return f"role {wished.name} is no member of {', '.join(wished.member_of or ())} yet"
    return None
