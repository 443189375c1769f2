"""Facts of one cluster: what is desired, and what was observed of it, by name.

Looks up and decides nothing. Invariant: an answer that is unknown is never taken for "down" or
"absent".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from queenright.core.actions import RestEndpoint
from queenright.core.kinds.postgres_cluster.annotations import (
    Annotations,
    noted_labels,
    read_annotations,
)
from queenright.core.kinds.postgres_cluster.backup.note import BackupNote, read_backup_note
from queenright.core.kinds.postgres_cluster.backup.request import read_backup_request
from queenright.core.kinds.postgres_cluster.databases.annotations import (
    CatalogNote,
    read_catalog_note,
)
from queenright.core.kinds.postgres_cluster.deployed import Access, access_to
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster, DesiredMember
from queenright.core.kinds.postgres_cluster.desired.restore import URL_VARIABLE
from queenright.core.kinds.postgres_cluster.drill.note import (
    REQUEST_LABEL,
    DrillNote,
    read_drill_note,
)
from queenright.core.kinds.postgres_cluster.in_place.note import (
    Restored,
    RestoreRequest,
    read_request,
    read_restored,
)
from queenright.core.kinds.postgres_cluster.replication.settings import (
    Replication,
    read_replication,
)
from queenright.core.observed import (
    Archiving,
    ImageFound,
    ImageMissing,
    Known,
    MemberStatus,
    Observed,
    RaftStatus,
    SwarmState,
    Unknown,
)
from queenright.core.planning.service_context import Answers, answered_once
from queenright.core.postgres.catalog import Catalog
from queenright.core.swarm.objects import BOOTSTRAPPED_LABEL

NOT_ASKED = Unknown("not asked yet")


@dataclass(frozen=True)
class ClusterFacts:
    """Lookups in what is desired and observed; ``now`` is the pass's one moment."""

    desired: DesiredCluster
    swarm: SwarmState
    """The swarm that was observed, in an order that does not matter."""
    observed: Observed
    now: datetime

    @property
    def images(self) -> Mapping[str, Known[ImageFound | ImageMissing] | Unknown]:
        return self.observed.images

    @property
    def seen_s_ago(self) -> Mapping[str, float]:
        return self.observed.seen_s_ago

    @property
    def settings(self) -> Known[Mapping[str, Any]] | Unknown:
        """Patroni's settings of the whole cluster."""
        return self.observed.settings.get(self.desired.name, NOT_ASKED)

    @property
    def catalog(self) -> Known[Catalog] | Unknown:
        """The roles and databases that the leader has."""
        return self.observed.catalogs.get(self.desired.name, NOT_ASKED)

    @property
    def archiving(self) -> Known[Archiving] | Unknown:
        """The archiving of WAL on the leader."""
        return self.observed.archiving.get(self.desired.name, NOT_ASKED)

    @cached_property
    def answers(self) -> Answers:
        """Answers that this state has computed before."""
        return {}

    @cached_property
    def noted_labels(self) -> Mapping[str, str]:
        """The labels of the state config; none where it is not there."""
        return noted_labels(self.desired.name, self.swarm)

    @cached_property
    def annotations(self) -> Annotations:
        """The operator's annotations of this cluster."""
        return read_annotations(self.noted_labels)

    @cached_property
    def catalog_note(self) -> CatalogNote:
        """The roles and databases that the file has had."""
        return read_catalog_note(self.noted_labels)

    @cached_property
    def backup_note(self) -> BackupNote:
        """The last base backup, and the failures since."""
        return read_backup_note(self.noted_labels, self.now)

    @cached_property
    def backup_request(self) -> datetime | None:
        """The moment at which a person asked for a base backup; None where nobody has."""
        return read_backup_request(self.noted_labels, self.now)

    @cached_property
    def drill_note(self) -> DrillNote:
        """The last proven restore, and the failures since."""
        return read_drill_note(self.noted_labels, self.now)

    @cached_property
    def drill_request(self) -> datetime | None:
        """The moment at which a person asked for a drill; None where nobody has."""
        return read_backup_request(self.noted_labels, self.now, REQUEST_LABEL)

    @cached_property
    def restore_request(self) -> RestoreRequest | None:
        """The restore in place that a person asked for; None where nobody has."""
        return read_request(self.noted_labels, self.now)

    @cached_property
    def restored(self) -> Restored | None:
        """The restore in place with which the present data begin; None where there was none."""
        return read_restored(self.noted_labels)

    @property
    def is_paused(self) -> bool:
        """True if the manifest pauses reconciliation of this cluster now."""
        return self.desired.policy.reconcile.is_paused(self.now)

    @property
    def known_settings(self) -> Mapping[str, Any]:
        """Patroni's settings; empty where they are not known, so ask ``settings`` before acting."""
        match self.settings:
            case Known(found):
                return found
            case _:
                return {}

    @cached_property
    def replication(self) -> Replication:
        """The replication in force, by Patroni's settings; where it is asynchronous, or not known,
        the file's, which is about to be."""
        present = read_replication(self.known_settings)
        return present if present.is_synchronous else read_replication(self.desired.settings)

    @cached_property
    def maintained(self) -> tuple[str, ...]:
        """Names of the nodes in maintenance now."""
        return self.desired.policy.maintenance.nodes_at(self.now)

    def member(self, name: str) -> DesiredMember | None:
        return next((member for member in self.desired.members if member.name == name), None)

    @answered_once
    def access(self, member: DesiredMember) -> Access:
        """Address, ports and secrets of a member, as it is deployed."""
        return access_to(self.desired, member, self.swarm)

    def asked(self, member: DesiredMember) -> RestEndpoint:
        """Fields of an action that calls a member's REST API."""
        access = self.access(member)
        return RestEndpoint(
            cluster=self.desired.name,
            address=access.address,
            port=access.rest_api_port,
            secret=access.rest_secret,
        )

    def raft_of(self, member: DesiredMember) -> RaftStatus | None:
        match self.observed.raft.get(member.service.name):
            case Known(status):
                return status
            case _:
                return None

    @cached_property
    def is_deployed(self) -> bool:
        """True if any member's service is there: from then on data may exist."""
        return any(self.swarm.service(member.service.name) for member in self.desired.members)

    @cached_property
    def is_prepared(self) -> bool:
        """True if everything is there that a member's service refers to."""
        desired, swarm = self.desired, self.swarm
        return (
            swarm.network(desired.network.name) is not None
            and all(swarm.config(config.name) for config in desired.configs)
            and all(swarm.secret(secret.name) for secret in desired.secrets)
            and not self.missing_given_secrets
        )

    @cached_property
    def missing_given_secrets(self) -> tuple[str, ...]:
        """Names of the secrets that the file names, somebody else makes, and nobody has made."""
        return tuple(n for n in self.desired.given_secrets if self.swarm.secret(n) is None)

    @property
    def has_started(self) -> bool:
        """True if members may have been started with the present secrets."""
        return self.is_deployed or self.swarm.config(self.desired.state_config.name) is not None

    @cached_property
    def is_bootstrapped(self) -> bool:
        """True if the cluster was healthy once."""
        return BOOTSTRAPPED_LABEL in self.noted_labels

    @property
    def was_restored(self) -> bool:
        """True if the cluster began, or begins, from another one's backup."""
        return any(URL_VARIABLE in m.service.environment for m in self.desired.members)

    def status(self, member: DesiredMember) -> MemberStatus | None:
        match self.observed.members.get(member.service.name):
            case Known(status):
                return status
            case _:
                return None

    def why_unknown(self, member: DesiredMember) -> str:
        match self.observed.members.get(member.service.name):
            case Unknown(why):
                return why
            case _:
                return "not asked yet"

    @cached_property
    def leader(self) -> DesiredMember | None:
        """The one member that proves the lock; None when there is none, or more than one claim."""
        claims = self.claims
        return claims[0] if len(claims) == 1 else None

    @cached_property
    def claims(self) -> tuple[DesiredMember, ...]:
        """Members that prove the leader lock, each by its own answer."""
        return tuple(m for m in self.desired.members if (s := self.status(m)) and s.is_leader)

    @property
    def timeline(self) -> int | None:
        """The leader's timeline; None where nobody leads, or it does not say."""
        status = self.status(self.leader) if self.leader else None
        return status.timeline if status else None

    def is_leader(self, member: DesiredMember) -> bool:
        status = self.status(member)
        return status is not None and (status.is_leader or status.holds_lock)

    def seen_setting(self, key: str) -> float | None:
        """Seconds for which this process has seen one of Patroni's settings unchanged."""
        return self.seen_s_ago.get(f"{self.desired.name}/{key}")
