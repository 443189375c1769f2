"""Reasons against an action or a message where commits wait for replicas, from the true state.

Beside ``PatroniModel.lost``, which names a member that leads without rows that were confirmed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from queenright.core.kinds.postgres_cluster.replication.settings import read_replication
from tests.fakes import synchronous
from tests.sim.subject import Subject

KNOWN_S = 20.0
"""After this time every member's own copy of the key is the present one."""


def is_waiting(subject: Subject, since_s: float) -> bool:
    """Return True if commits have waited for replicas since then, by a key that has not changed."""
    agreed = subject.consensus()
    return synchronous.is_active(agreed) and agreed.sync_changed_s < since_s


def judge_successor(
    subject: Subject, candidate: str, looked_at_s: float, *, is_forced: bool
) -> Iterator[str]:
    """A member outside the key may lack what was acknowledged. The key's own leader is in it, and
    only a failover can be to it."""
    key = subject.consensus().sync
    inside = key.matches(candidate) if is_forced else candidate in key.members
    if is_waiting(subject, looked_at_s - KNOWN_S) and not inside:
        yield f"the lead is to go to {candidate}, which is not in Patroni's /sync key"


def judge_restart(subject: Subject, service: str, looked_at_s: float) -> Iterator[str]:
    """Another replica could confirm commits."""
    leader = subject.leader()
    if leader is None or leader.service == service or not is_waiting(subject, looked_at_s):
        return
    if not can_go_on(subject, {service, leader.service}, looked_at_s):
        yield f"{service} is disrupted while no other replica could confirm commits"


def can_go_on(subject: Subject, without: Collection[str], looked_at_s: float) -> bool:
    fit_s = subject.world.patroni_model.last_fit_s
    left = [service for service in subject.services if service not in without]
    return any(fit_s.get(service, -1.0) >= looked_at_s for service in left)


def judge_powering_off(
    subject: Subject, leader: str, staying: Collection[str], looked_at_s: float
) -> Iterator[str]:
    """Without a quorum Patroni can't release the leader from a replica that is off."""
    if not is_waiting(subject, looked_at_s):
        return
    services = {subject.service(name) for name in staying}
    gone = {service for service in subject.services if service not in services}
    if 2 * len(services) <= len(subject.services):
        yield "commits would wait for replicas that are off, as there is no quorum"
    elif not can_go_on(subject, {*gone, subject.service(leader)}, looked_at_s):
        yield "no replica that stays could confirm commits"


def judge_rest(subject: Subject) -> Iterator[str]:
    """The file's mode is in force, and replicas confirm."""
    agreed = subject.consensus()
    desired = read_replication(subject.desired().settings)
    present = read_replication(agreed.settings)
    if present != desired:
        yield f"replication is {present}, and should be {desired}"
    if desired.is_synchronous and not agreed.sync.members:
        yield "no replica confirms commits"
