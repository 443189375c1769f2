"""The answers of a modelled member on ``/patroni`` and ``/primary``."""

from __future__ import annotations

from collections.abc import Mapping

from queenright.core.observed import MemberStatus
from queenright.core.observed.patroni import (
    BEGAN_TAG,
    END_TAG,
    FINDING_TAG,
    RAFT_LOG_LOST,
    RESTORE_TAG,
)
from tests.fakes import synchronous
from tests.fakes.instances import CREATING, FAILED, INITIALIZING, RUNNING, STOPPED, Instance
from tests.fakes.patroni_model import PatroniModel

WITHOUT_DATA = frozenset({"no-control-file", "interrupted-copy"})
"""Damages with which Patroni says of a member that it has no data, and waits for a person. Tried
with Patroni 4.1.5 and PostgreSQL: as the states of the others are."""


def status_of(model: PatroniModel, instance: Instance) -> MemberStatus:
    """Return the answers of ``/patroni`` and ``/primary``."""
    agreed, volume = model.consensus(instance.cluster), instance.volume
    if instance.waits:
        return _waiting(instance)
    tags: dict[str, object] = {"failover_priority": instance.priority, "clonefrom": True}
    if instance.finding:
        tags[FINDING_TAG] = instance.finding
    if volume.raft_began:
        tags[BEGAN_TAG] = volume.raft_began
    if volume.is_fenced:
        tags["nofailover"] = True
    if volume.restore_failed:
        tags[RESTORE_TAG] = volume.restore_failed
    if volume.is_empty:
        first = agreed.initialized_by == instance.name and agreed.timeline == 0
        hangs = model.clones_hang and volume.is_partial and instance.state != CREATING
        state = INITIALIZING if first else STOPPED if hangs else CREATING
        return _without_data(instance, state, tags)
    pending = instance.pending
    is_running = instance.state == RUNNING
    state = instance.state
    if state == FAILED and volume.damage:
        if volume.damage in WITHOUT_DATA:
            return _without_data(instance, STOPPED, tags)
        state = "unknown" if volume.damage == "files" else STOPPED
    return MemberStatus(
        state=state,
        role="primary" if instance.is_primary else "replica",
        timeline=volume.timeline if is_running else None,
        replication_state="streaming" if instance.is_streaming else "",
        holds_lock=instance.answers_primary,
        location=volume.location if is_running else None,
        paused=instance.is_paused,
        pending_restart=bool(pending),
        pending_changes=pending,
        synchronous=synchronous.part_of(instance),
        cluster_unlocked=not agreed.leader or model.now_s >= agreed.lock_until_s,
        version="4.1.5",
        server_version=160014,
        tags=tags,
        scope=instance.cluster,
        name=instance.name,
    )


def _waiting(instance: Instance) -> MemberStatus:
    """The entry point's answer in Patroni's place, as ``raft_wait`` gives it."""
    volume = instance.volume
    end = {
        "number": volume.raft_loss,
        "term": 1,
        "system": str(volume.system or ""),
        "timeline": volume.timeline,
        "location": volume.location,
        "history": "",
    }
    return MemberStatus(
        state="raft log lost",
        role="replica",
        cluster_unlocked=True,
        tags={FINDING_TAG: RAFT_LOG_LOST, END_TAG: end},
        scope=instance.cluster,
        name=instance.name,
    )


def _without_data(instance: Instance, state: str, tags: Mapping[str, object]) -> MemberStatus:
    return MemberStatus(
        state=state,
        role="uninitialized",
        paused=instance.is_paused,
        tags=tags,
        scope=instance.cluster,
        name=instance.name,
    )
