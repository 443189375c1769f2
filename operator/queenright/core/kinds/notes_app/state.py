"""One application's desired state and everything observed, with the questions that its rules ask.

Answers only; decides nothing. Invariant: an answer that rests on an unknown source is the careful
one (not ready, not safe).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from queenright.core.kinds.notes_app.desired.app import DesiredApp
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import (
    ImageFound,
    ImageMissing,
    Known,
    Live,
    LiveService,
    Observed,
    SwarmState,
    Task,
    Unknown,
)
from queenright.core.planning.deletion import NO_LABELS, ClaimedLabels
from queenright.core.planning.service_context import Answers
from queenright.core.postgres.catalog import DesiredRole, Role
from queenright.core.postgres.parameters import amount_of, parameters
from queenright.core.swarm.label_values import read_whole
from queenright.core.swarm.objects import APP_LABEL, NODE_LABELS_LABEL, Config


@dataclass(frozen=True)
class AppState:
    """One application as a rule sees it; ``now`` is the pass's one moment.

    ``cluster`` is the one that has its database, None where the database is elsewhere or the
    cluster is not known.
    """

    desired: DesiredApp
    swarm: SwarmState
    observed: Observed
    now: datetime
    cluster: ClusterState | None = None
    connections: int = 0
    """Connections that all applications of its cluster need at their busiest (spec: §8)."""
    claimed: ClaimedLabels = NO_LABELS
    """Nodes and label keys that other documents of any kind use."""

    @property
    def images(self) -> Mapping[str, Known[ImageFound | ImageMissing] | Unknown]:
        return self.observed.images

    @property
    def seen_s_ago(self) -> Mapping[str, float]:
        return self.observed.seen_s_ago

    @cached_property
    def answers(self) -> Answers:
        """Answers that this state has computed before."""
        return {}

    @property
    def web(self) -> LiveService | None:
        """The replicas' service, as it is deployed."""
        return self.swarm.service(self.desired.web.name)

    @property
    def services(self) -> tuple[LiveService, ...]:
        """All that the application has in the swarm."""
        return self.swarm.index.services_labelled(APP_LABEL, self.desired.name)

    @property
    def configs(self) -> tuple[Live[Config], ...]:
        """Its configs in the swarm."""
        return self.swarm.index.configs_labelled(APP_LABEL, self.desired.name)

    @property
    def desired_label_keys(self) -> frozenset[str]:
        return frozenset(key for item in self.desired.node_labels for key in item.labels)

    @property
    def noted_label_keys(self) -> frozenset[str]:
        """Keys of node labels that were set for this application."""
        state_config = self.swarm.config(self.desired.state_config.name)
        text = state_config.value.labels.get(NODE_LABELS_LABEL, "") if state_config else ""
        return frozenset(key for key in text.split(",") if key)

    @property
    def label_keys(self) -> frozenset[str]:
        return self.desired_label_keys | self.noted_label_keys

    @property
    def has_started(self) -> bool:
        """True if replicas may have written with the present key: the state config comes first."""
        return self.web is not None or self.swarm.config(self.desired.state_config.name) is not None

    @property
    def missing(self) -> tuple[str, ...]:
        """Objects that the replicas' service refers to and that are not there."""
        desired, swarm = self.desired, self.swarm
        secrets = (desired.key.name, *desired.given_secrets)
        has_url = swarm.secret(desired.url_secret.name) is not None
        return (
            *([] if swarm.network(desired.network.name) else [f"network {desired.network.name}"]),
            *(f"secret {name}" for name in secrets if not swarm.secret(name)),
            *([] if has_url else ["its connection string"]),
        )

    def why_no_database(self) -> str | None:
        """Reason why the database can't be worked with now; None when it can, as far as is
        known."""
        desired = self.desired
        if not desired.cluster:
            return None
        if self.cluster is None:
            return f"cluster {desired.cluster}, which has its database, is not deployed yet"
        if self.cluster.leader is None:
            return f"in cluster {desired.cluster} no single member proves the leader lock"
        raft = self.cluster.raft_of(self.cluster.leader)
        if raft is None or not raft.has_quorum:
            # A leader that was cut off, or frozen, still reports itself as leader for a while.
            return (
                f"the Raft node of the leader {self.cluster.leader.name} does not report a quorum"
            )
        return None

    def why_too_few_connections(self) -> str | None:
        """Reason why the running server has too few connections yet; None if it has enough.

        The file's value may be enough already, and wait for a restart.
        """
        cluster = self.cluster
        leader = cluster.leader if cluster else None
        status = cluster.status(leader) if cluster and leader else None
        present, _ = (status.pending_changes if status else {}).get("max_connections", ("", ""))
        limit = read_whole(present)
        if cluster is None or limit is None:
            return None
        written = cluster.desired.settings.get("postgresql", {}).get("parameters", {})
        reserved = sum(
            whole_amount(name, written.get(name, default), default)
            for name, default in (
                ("superuser_reserved_connections", 3),
                ("reserved_connections", 0),
            )
        )
        if limit - reserved >= self.connections:
            return None
        return (
            f"the applications of cluster {cluster.desired.name} need {self.connections} "
            f"connections, and until its restart the server has max_connections {present}, "
            f"{reserved} of them reserved"
        )

    def is_ready(self, task: Task) -> bool:
        """True if a replica itself answers that it is ready."""
        match self.observed.readiness.get(task.id):
            case Known(answer):
                return answer.is_ready
            case _:
                return False

    def why_not_whole(self) -> str | None:
        """Reason why not every wanted replica is known to serve; None when each is."""
        live = self.web
        if live is None:
            return "no replica is deployed"
        ready = sum(self.is_ready(task) for task in self.swarm.running_tasks(live.id))
        if ready < live.value.replicas:
            return f"{ready} of {live.value.replicas} replicas are known to be ready"
        return None

    def why_not_served(self) -> str | None:
        """Reason why clients may not be served at all; None when at least one replica is ready."""
        tasks = self.swarm.running_tasks(self.web.id) if self.web else iter(())
        return None if any(map(self.is_ready, tasks)) else "no replica is known to be ready"

    def why_disrupted(self) -> str | None:
        """Reason why a switchover or an update of the cluster is in progress; None when none is."""
        if self.cluster is None:
            return None
        if (move := self.cluster.annotations.move) is not None:
            return f"a switchover from {move.leader} to {move.candidate} is in progress"
        members = self.cluster.desired.members
        found = (self.cluster.why_changing(member) for member in members)
        return next((why for why in found if why), None)

    def why_not_in_catalog(self) -> str | None:
        """Reason why the database is not known to be as claimed; None when it is."""
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


def why_no_login(wanted: DesiredRole, live: Role | None) -> str | None:
    """Reason why the role can't log in and act for its owner yet; None when it can.

    It may have been retired before, and be claimed again.
    """
    if live is None or not wanted.login:
        return None
    if not live.login:
        return f"role {wanted.name} may not log in yet"
    if live.verifier == "not yet":
        return f"the password of role {wanted.name} is not compared with its secret yet"
    if live.verifier in {"none", "another"}:
        return f"role {wanted.name} does not have the password of its secret yet"
    if not {*(wanted.member_of or ())} <= {*live.member_of}:
        return f"role {wanted.name} is no member of {', '.join(wanted.member_of or ())} yet"
    return None
