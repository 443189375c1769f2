"""Parameters that wait for a restart of PostgreSQL on a member, and whether one would help.

Decides from the member's own answer (Patroni's ``pending_restart_reason``), from the file, and from
whether Patroni's settings are the file's yet. Invariant: a restart counts as useful only if it
applies values of the file; pending parameters of unknown origin are reported, not acted on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.patroni.config_diff import settings_patch
from queenright.core.kinds.postgres_cluster.patroni.config_keys import read_parameters
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Known, MemberStatus
from queenright.core.postgres.equal_settings import same_parameter
from queenright.core.postgres.parameters import amount_of, parameters

HOT_STANDBY = frozenset(
    {
        "max_connections",
        "max_locks_per_transaction",
        "max_prepared_transactions",
        "max_wal_senders",
        "max_worker_processes",
    }
)
"""A standby never has less of these than its primary (PostgreSQL: "Hot Standby", administrator's
overview): Patroni starts it with the primary's values, and the restart stays pending."""
UNTOLD = frozenset({"", "?"})
"""Texts of Patroni for a future value that it does not know, or that is gone."""


@dataclass(frozen=True, slots=True)
class PendingRestart:
    """Parameters that wait on one member, as sorted names.

    ``owned`` are the file's, and a restart would apply the file's values; ``primary_first`` are
    those of them that only a restart of the leader applies, which has to come before any replica's.
    ``unsettled`` are the file's too, but a restart now would apply another value, or may.
    ``foreign`` are not the file's. ``is_unexplained`` is True when the member doesn't name them.
    """

    owned: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    primary_first: tuple[str, ...] = ()
    unsettled: tuple[str, ...] = ()
    is_unexplained: bool = False


def as_fields(names: Iterable[str]) -> tuple[str, ...]:
    """Return parameters as fields of the file, for messages."""
    return tuple(f"postgresql.parameters.{name}" for name in names)


def pending_restart(state: ClusterState, member: DesiredMember) -> PendingRestart | None:
    """Parameters that wait on a member; None where none do, or the member does not answer."""
    status = state.status(member)
    if status is None or not status.pending_restart:
        return None
    if not status.pending_changes:
        return PendingRestart(is_unexplained=True)
    marked = read_parameters(state.known_settings)
    written = state.desired.settings["postgresql"]["parameters"]
    names = sorted(status.pending_changes)
    ours = tuple(n for n in names if n in written or n in marked.names or n in marked.removed)
    foreign = tuple(name for name in names if name not in ours)
    if any(is_unsettled(state, status, name) for name in ours):
        return PendingRestart(foreign=foreign, unsettled=ours)
    primary_first = tuple(name for name in ours if is_primary_first(state, member, name))
    return PendingRestart(ours, foreign, primary_first)


def is_unsettled(state: ClusterState, status: MemberStatus, name: str) -> bool:
    """True if a restart now would apply another value than the file's, for all that is known."""
    match state.settings:
        case Known(found):
            due = settings_patch(state, found)
        case _:
            return True
    future = status.pending_changes[name][1]
    wanted = state.desired.settings["postgresql"]["parameters"].get(name)
    return bool(due.parameters) or differs(name, wanted, future)


def differs(name: str, wanted: str | float | None, future: str) -> bool:
    """True if the future value is certainly not the wanted one.

    Below zero, a parameter stands for a value that PostgreSQL derives itself.
    """
    parameter = parameters().get(name)
    if parameter is None or parameter.type == "string" or wanted is None or future in UNTOLD:
        return False
    amount = amount_of(parameter, wanted)
    chosen = amount is not None and amount < 0
    return not chosen and not same_parameter(name, wanted, future)


def is_primary_first(state: ClusterState, member: DesiredMember, name: str) -> bool:
    """True if a parameter is lowered that no replica applies before the leader has it."""
    status, leader = state.status(member), state.leader
    if name not in HOT_STANDBY or status is None or len(state.desired.members) == 1:
        return False
    if not is_lowered(state, name, *status.pending_changes[name]):
        return False
    ahead = state.status(leader) if leader is not None else None
    return ahead is None or name in ahead.pending_changes


def is_lowered(state: ClusterState, name: str, present: str, future: str) -> bool:
    """True if the future value is less than the present one, or may be."""
    parameter = parameters()[name]
    wanted = state.desired.settings["postgresql"]["parameters"].get(name, "")
    before = amount_of(parameter, present)
    after = amount_of(parameter, wanted if future in UNTOLD else future)
    return before is None or after is None or after < before
