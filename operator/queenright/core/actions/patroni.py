"""Actions over Patroni's REST API, as values: settings, switchover, failover and restart.

Invariant: an action names the secret with the REST API's password, not the password.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypedDict

from queenright.core.actions.action import Action


class RestEndpoint(TypedDict):
    """The fields of ``PatroniAction`` by name: the REST API to call."""

    cluster: str
    address: str
    port: int
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PatroniAction(Action):
    """An action over Patroni's REST API. ``secret`` names the swarm secret with its password; empty
    where the API has none."""

    cluster: str
    address: str
    port: int
    secret: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchSettings(PatroniAction):
    """Merge ``patch`` into Patroni's cluster-wide settings if they still match ``expected``.

    ``expected`` has the same keys with the observed values (None: absent). ``aspect`` names the
    purpose, because several rules write here."""

    aspect: str
    patch: Mapping[str, Any]
    expected: Mapping[str, Any]

    @property
    def key(self) -> str:
        return f"{self.aspect}/{self.cluster}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Switchover(PatroniAction):
    """A planned change of leader, requested once; later passes observe the result. ``timeline`` is
    the former leader's; ``disrupts`` names its service."""

    leader: str
    candidate: str
    timeline: int

    @property
    def key(self) -> str:
        return f"switchover/{self.cluster}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failover(PatroniAction):
    """A change of leader without the former one. A person's may lose data; the operator plans one
    only while nobody leads, to the member with the newest data of all."""

    candidate: str
    accepted_timeline: int | None = None
    """The candidate's timeline, where the file accepts that what only others had is lost."""

    @property
    def key(self) -> str:
        return f"failover/{self.cluster}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartPostgres(PatroniAction):
    """Restart PostgreSQL in a member whose parameters wait for a restart; its container goes on.
    ``disrupts`` names its service."""

    member: str

    @property
    def key(self) -> str:
        return f"restart-postgres/{self.cluster}_{self.member}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reinitialize(PatroniAction):
    """Let a member begin its base backup anew (``POST /reinitialize`` with ``force``).

    Patroni empties the data directory of whatever member it is sent to: it is for one that has
    never had the cluster's data, and whose copy does not go on."""

    member: str

    @property
    def key(self) -> str:
        return f"reinitialize/{self.cluster}_{self.member}"


AnyPatroniAction: TypeAlias = PatchSettings | Switchover | Failover | RestartPostgres | Reinitialize
