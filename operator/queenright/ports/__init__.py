"""Protocols of the outside world, in the terms of the core; ``Ports`` has one of each."""

from __future__ import annotations

from dataclasses import dataclass

from queenright.ports.archiving import ArchiveStatus
from queenright.ports.audit import Audit
from queenright.ports.clock import Clock
from queenright.ports.database import Database
from queenright.ports.databases import Catalogs
from queenright.ports.last_known_good import LastGood
from queenright.ports.manifests import Manifests
from queenright.ports.patroni import Patroni
from queenright.ports.raft_membership import RaftMembership
from queenright.ports.readiness import ReadinessProbe
from queenright.ports.secrets import Secrets
from queenright.ports.swarm import Swarm


@dataclass(frozen=True, slots=True)
class Ports:
    """One implementation of each port. ``patroni_watch`` asks between passes: its requests and
    those of a pass do not wait for each other."""

    swarm: Swarm
    patroni: Patroni
    patroni_watch: Patroni
    raft: RaftMembership
    secrets: Secrets
    database: Database
    catalogs: Catalogs
    archiving: ArchiveStatus
    readiness: ReadinessProbe
    manifests: Manifests
    last_good: LastGood
    audit: Audit
    clock: Clock
