"""Raft nodes that vote and know nothing, and the request to a member to set its Raft log aside.

A node whose dump is lost, or whose log holds an entry that it can't apply, connects, votes and
leads, and its Patroni waits for ever; where it leads, no key expires, and no failover takes place.
The request is a variable of the member's service: the image's entry point obeys each value once,
when the other nodes are a quorum without it. Another request is to a member whose log is lost on
all members, or on all but too few (``Anew``). Invariant: an operator's request is no drift; the
desired service keeps the one that is deployed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import timedelta

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.observed import LiveService, RaftStatus, SwarmState
from queenright.core.swarm.objects import PARTNERS_VARIABLE, RAFT_RESET_VARIABLE, Service

STUCK = timedelta(seconds=15)
"""A node that applies nothing for longer than this, and is behind, will not go on by itself: even
a whole dump and journal are applied within a second or two of a start."""


def is_stuck(status: RaftStatus, seen_s: float | None) -> bool:
    """Return True for a node that has been behind for long; ``seen_s`` are the seconds for which
    this process has seen it behind at the same entry. One that has just started is given time."""
    least_s = STUCK.total_seconds()
    seen_long = seen_s is not None and seen_s >= least_s
    return status.is_behind and seen_long and status.uptime_s >= least_s


def with_request(live: LiveService, before: int = 0) -> Service:
    """Return the service with a request of its own: the version index of the swarm, which is never
    had twice, and where it is not the first in a row, its number."""
    number = f"-{before + 1}" if before else ""
    asked = {**live.value.environment, RAFT_RESET_VARIABLE: f"{live.version}{number}"}
    return dataclasses.replace(live.value, environment=asked)


def requests_in(service: Service) -> int:
    """Return how many requests in a row the service's own was the last of; 0 for none, or one of
    the other kind (``Anew``)."""
    version, _, number = service.environment.get(RAFT_RESET_VARIABLE, "").partition("-")
    if not version.isdecimal():
        return 0
    return int(number) if number.isdecimal() else 1


ANEW, JOIN, FENCE = "anew", "join", "fence"


@dataclass(frozen=True, slots=True)
class Anew:
    """The request to a member whose Raft log is lost to begin one anew.

    ``leader`` is the member that leads on: all others are kept from leading until they stream.
    ``number`` is that of the loss, as the member tells it: it obeys for no other. ``word`` is
    ``join`` where another member has a log, and ``fence`` to that one: it keeps its log, and may
    not lead before it streams."""

    word: str
    leader: str
    number: str

    @property
    def value(self) -> str:
        return f"{self.word}:{self.leader}:{self.number}"

    @classmethod
    def read(cls, service: Service) -> Anew | None:
        """The request that a service has; None for none, or one of the other kind."""
        word, _, rest = service.environment.get(RAFT_RESET_VARIABLE, "").partition(":")
        leader, _, number = rest.rpartition(":")
        is_one = word in {ANEW, JOIN, FENCE} and leader and number
        return cls(word, leader, number) if is_one else None

    def asked_of(self, live: LiveService, partners: str | None = None) -> Service:
        """Return the service with this request, and with these partners: a new log begins with the
        voters that its service names. Without any, it keeps those that it has."""
        asked = {**live.value.environment, RAFT_RESET_VARIABLE: self.value}
        if partners is not None:
            asked[PARTNERS_VARIABLE] = partners
        return dataclasses.replace(live.value, environment=asked)


def with_deployed_requests(desired: DesiredCluster, swarm: SwarmState) -> DesiredCluster:
    """Return the same cluster with the requests that its members were deployed with."""
    found = {
        member.service.name: asked
        for member in desired.members
        if (live := swarm.service(member.service.name)) is not None
        and (asked := live.value.environment.get(RAFT_RESET_VARIABLE)) is not None
    }
    if not found:
        return desired
    members = tuple(
        dataclasses.replace(member, service=_asked(member.service, found.get(member.service.name)))
        for member in desired.members
    )
    return dataclasses.replace(desired, members=members)


def _asked(service: Service, value: str | None) -> Service:
    if value is None:
        return service
    given = {**service.environment, RAFT_RESET_VARIABLE: value}
    return dataclasses.replace(service, environment=given)
