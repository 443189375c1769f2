"""The outside world as one value: the ports that everything in the engine is given."""

from __future__ import annotations

from dataclasses import dataclass

from queenright.ports.audit import Audit
from queenright.ports.catalogs import Catalogs
from queenright.ports.clock import Clock
from queenright.ports.database import Database
from queenright.ports.last_good import LastGood
from queenright.ports.manifests import Manifests
from queenright.ports.patroni import Patroni
from queenright.ports.readiness import ReadinessProbe
from queenright.ports.secrets import Secrets
from queenright.ports.swarm import Swarm


@dataclass(frozen=True, slots=True)
class Ports:
    """One implementation of each port."""

    swarm: Swarm
    patroni: Patroni
    secrets: Secrets
    database: Database
    catalogs: Catalogs
    readiness: ReadinessProbe
    manifests: Manifests
    last_good: LastGood
    audit: Audit
    clock: Clock


@dataclass(frozen=True, slots=True)
class Tempo:
    """How often the loop looks, in seconds. ``resync_s`` is only the net under the wake-ups."""

    resync_s: float = 15.0
    file_poll_s: float = 0.1
    member_poll_s: float = 1.0
    replica_poll_s: float = 2.0
