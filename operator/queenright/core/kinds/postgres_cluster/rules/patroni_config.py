"""Rule for the settings that Patroni keeps for a running cluster: they become the file's.

They were read from the file once, at bootstrap (spec: database-cluster §2.5), and are kept in
Patroni since: ttl and its like, PostgreSQL's parameters, access rules. Invariant: what the file
does not own is never written, and nothing is written while the quorum is not certain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from queenright.core.actions import AnyAction, PatchSettings
from queenright.core.kinds.postgres_cluster.patroni.config_diff import (
    TAKES_OVER,
    SettingsPatch,
    parameter_age,
    parameters_in,
    settings_patch,
)
from queenright.core.kinds.postgres_cluster.patroni.config_keys import read_parameters
from queenright.core.kinds.postgres_cluster.patroni.pending_restart import (
    PendingRestart,
    as_fields,
    pending_restart,
)
from queenright.core.kinds.postgres_cluster.patroni.settings_due import why_not_write
from queenright.core.kinds.postgres_cluster.replication.settings import price
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Known, Unknown
from queenright.core.planning.plan import Hold

ASPECT = "settings"


def plan_settings(state: ClusterState) -> Iterator[AnyAction | Hold]:
    match state.settings:
        case Known(found) if state.is_bootstrapped:
            due = settings_patch(state, found)
        case Unknown(why) if state.is_bootstrapped and state.leader is not None:
            reason = f"Patroni's settings: not known, so not compared with the file ({why})"
            yield Hold(f"{ASPECT}/{state.desired.name}", reason)
            return
        case _:
            return
    if due.patch:
        yield write(state, due)
    else:
        yield from not_taken_over(state, found)
    yield from other_access_file(state, found)
    yield from waiting_for_restart(state)


def write(state: ClusterState, due: SettingsPatch) -> AnyAction | Hold:
    """The patch, or why it is not written now."""
    names = ", ".join(change.path for change in due.changes)
    leader, obstacle = state.leader, why_not_write(state)
    if leader is None or obstacle is not None:
        why = obstacle or "no single member proves the leader lock"
        return Hold(
            f"{ASPECT}/{state.desired.name}",
            f"Patroni's settings: {names} differ from the file, and are not written yet ({why})",
        )
    reason = f"Patroni's settings differ from the file in {names}"
    found = state.known_settings
    if told := price(found, {**found, **due.patch}):
        reason += f": {told}"
    return PatchSettings(
        **state.asked(leader),
        aspect=ASPECT,
        patch=due.patch,
        expected=due.expected,
        reason=reason,
        changes=due.changes,
    )


def not_taken_over(state: ClusterState, found: Mapping[str, Any]) -> Iterator[Hold]:
    """Holds on settings that are written, but not yet applied as far as a member reports."""
    key = f"{ASPECT}/{state.desired.name}"
    for member in state.desired.members:
        pending = pending_restart(state, member)
        if pending is not None and pending.unsettled:
            names = ", ".join(as_fields(pending.unsettled))
            yield Hold(key, f"{member.name}: has not loaded the file's {names} yet")
    for name, at in sorted(read_parameters(found).removed.items()):
        left = TAKES_OVER - parameter_age(state, at)
        if left > timedelta(0):
            reason = (
                f"postgresql.parameters.{name}: removed from the file; within a minute each member "
                "reports whether it has to restart for it"
            )
            yield Hold(key, reason, state.now + left)


def other_access_file(state: ClusterState, found: Mapping[str, Any]) -> Iterator[Hold]:
    """Hold for hba_file, the one foreign parameter that replaces what the file owns."""
    if any(name.lower() == "hba_file" for name in parameters_in(found)):
        yield Hold(
            f"access-rules/{state.desired.name}",
            "parameter hba_file: set in Patroni's settings by hand (PostgreSQL reads its access "
            "rules from that file instead of the manifest's); remove it (patronictl edit-config, "
            "in a member's container)",
            wants_attention=True,
        )


def waiting_for_restart(state: ClusterState) -> Iterator[Hold]:
    """Holds on parameters that wait for a restart that the operator does not do."""
    scope = state.desired.name
    found = {
        member.name: pending
        for member in state.desired.members
        if (pending := pending_restart(state, member)) is not None
    }
    yield from leader_first(state, found)
    if untold := ", ".join(name for name, pending in found.items() if pending.is_unexplained):
        yield Hold(
            f"unexplained-restart/{scope}",
            f"{untold}: PostgreSQL waits for a restart, which the operator does not do (Patroni "
            "does not report the parameter); restart it when it suits you with queenright restart "
            "and the member's name, replicas before the leader",
            wants_attention=True,
        )
    foreign = sorted({name for pending in found.values() for name in pending.foreign})
    if foreign:
        where = ", ".join(name for name, pending in found.items() if pending.foreign)
        yield Hold(
            f"foreign-restart/{scope}",
            f"{', '.join(foreign)}: changes when PostgreSQL restarts on {where}; the operator does "
            "not restart for it (the file does not set it)",
        )


def leader_first(state: ClusterState, found: Mapping[str, PendingRestart]) -> Iterator[Hold]:
    """Hold for lowered parameters that only a restart of the leader in its place applies.

    That stops writes for seconds, at a moment that a person should choose.
    """
    leader = state.leader
    names = as_fields(sorted({n for pending in found.values() for n in pending.primary_first}))
    if not names:
        return
    who = leader.name if leader is not None else "the leader"
    yield Hold(
        f"leader-restart/{state.desired.name}",
        f"{', '.join(names)}: lowered in the file, but not applied (a replica may not have less "
        f"than its primary, so a switchover does not help); restart PostgreSQL on {who} when a "
        "write pause of some seconds suits you "
        f"(queenright restart {leader.name if leader is not None else '<leader>'}), and the "
        "replicas follow by themselves",
        wants_attention=True,
    )
