"""Full effects of the actions on members: Patroni's settings, changes of leader, restarts, votes.

Pure: from one observation of the members to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, assert_never

from queenright.core.actions import (
    AnyPatroniAction,
    AnyRaftAction,
    Failover,
    PatchSettings,
    RaftRemove,
    RaftTransfer,
    Reinitialize,
    RestartPostgres,
    Switchover,
)
from queenright.core.forecast.leading import follows, led, remaining, settled
from queenright.core.forecast.members import Members
from queenright.core.forecast.votes import connected, left
from queenright.core.kinds.postgres_cluster.patroni.config_diff import parameters_in
from queenright.core.observed import MemberStatus
from queenright.core.postgres.equal_settings import same_parameter
from queenright.core.postgres.parameters import parameters

DEFAULTS: Mapping[str, str] = {
    "max_connections": "100",
    "max_locks_per_transaction": "64",
    "max_prepared_transactions": "0",
    "max_replication_slots": "10",
    "max_wal_senders": "10",
    "max_worker_processes": "8",
    "wal_level": "replica",
    "hot_standby": "on",
    "wal_log_hints": "on",
    "track_commit_timestamp": "off",
}
"""Patroni's values of parameters that it always sets, where its settings have none."""


def members_after(action: AnyPatroniAction | AnyRaftAction, members: Members) -> Members:
    """Return the members after an action on Patroni or on Raft."""
    match action:
        case PatchSettings(patch=patch):
            return patched(members, patch)
        case Switchover(candidate=name) | Failover(candidate=name):
            return led(members, members.service_named(name))
        case RestartPostgres(member=name):
            return restarted(members, members.service_named(name))
        case Reinitialize(member=name):
            return settled(follows(members, members.service_named(name)))
        case RaftRemove(voter=voter):
            return left(members, voter)
        case RaftTransfer(voter=voter):
            return transferred(members, voter)
        case _:
            assert_never(action)


def merged(settings: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings after ``PATCH /config``: mappings merge, None removes, all else replaces."""
    found = dict(settings)
    for key, value in patch.items():
        present = found.get(key)
        if value is None:
            found.pop(key, None)
        elif isinstance(value, Mapping):
            found[key] = merged(present if isinstance(present, Mapping) else {}, value)
        else:
            found[key] = value
    return found


def patched(members: Members, patch: Mapping[str, Any]) -> Members:
    """Return the members once each of them has taken over what was written."""
    before = members.settings
    after = merged(before, patch)
    members = members.with_settings(after)
    for name in members.services:
        status = members.status(name)
        if status is not None:
            waiting = with_pending(status, before, after)
            taken = replace(waiting, paused=bool(after.get("pause")))
            members = members.with_status(name, taken)
    return settled(members)


def with_pending(
    status: MemberStatus, before: Mapping[str, Any], after: Mapping[str, Any]
) -> MemberStatus:
    """Return a member's answer with the parameters that wait for its restart."""
    old, new = parameters_in(before), parameters_in(after)
    waiting = dict(status.pending_changes)
    for name in {*old, *new}:
        known = parameters().get(name)
        if known is None or not known.needs_restart:
            continue
        present = waiting[name][0] if name in waiting else text_of(name, old.get(name))
        future = text_of(name, new.get(name))
        if same_parameter(name, present, future):
            waiting.pop(name, None)
        elif not same_parameter(name, text_of(name, old.get(name)), future):
            waiting[name] = (present, future)
    return replace(status, pending_restart=bool(waiting), pending_changes=waiting)


def text_of(name: str, value: object) -> str:
    """Return a value as Patroni reports it: ``?`` where neither it nor the table has one."""
    if value is None:
        return DEFAULTS.get(name, "?")
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def restarted(members: Members, service: str) -> Members:
    """Return the members after PostgreSQL of one has started again in its container."""
    status = members.status(service)
    if status is None:
        return members
    waiting = remaining(members, service, status)
    return members.with_status(
        service, replace(status, pending_restart=bool(waiting), pending_changes=waiting)
    )


def transferred(members: Members, voter: str) -> Members:
    """Return the members after another of their Raft nodes leads Raft."""
    known = (members.raft(name) for name in members.services)
    raft = next((one for one in known if one is not None and one.has_quorum), None)
    return connected(members, raft.voters, voter) if raft is not None else members
