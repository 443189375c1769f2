"""Parameters that wait for a restart of PostgreSQL on a member, and whether one would help.

Decides from what the member says of itself (Patroni's ``pending_restart_reason``), from the file,
and from whether Patroni's settings are the file's yet. Invariant: a restart is only found useful
where it brings the file's values into force; what nobody explains is nobody's.
"""

from __future__ import annotations

from dataclasses import dataclass

from queenright.core.desired import DesiredMember
from queenright.core.observed import Known, MemberStatus
from queenright.core.published import read_parameters
from queenright.core.settings_patch import settings_patch
from queenright.core.situation import Situation
from queenright.core.spec.parameter_table import amount_of, parameters
from queenright.core.spellings import same_parameter

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
overview): Patroni starts it with the primary's values, and it goes on waiting."""
UNTOLD = frozenset({"", "?"})
"""What Patroni writes for a future value that it could not find out, or that is gone."""


@dataclass(frozen=True, slots=True)
class PendingRestart:
    """What waits on one member, as sorted names.

    ``owned`` are the file's, and a restart would bring the file's values; ``primary_first`` are
    those of them that a restart brings on the leader alone, which has to come before any replica's.
    ``unsettled`` are the file's too, but a restart now would bring another value, or may.
    ``foreign`` are not the file's. ``is_unexplained`` is when the member doesn't say what waits.
    """

    owned: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    primary_first: tuple[str, ...] = ()
    unsettled: tuple[str, ...] = ()
    is_unexplained: bool = False


def pending_restart(situation: Situation, member: DesiredMember) -> PendingRestart | None:
    """What waits on a member; None where nothing does, or the member does not answer."""
    status = situation.status(member)
    if status is None or not status.pending_restart:
        return None
    if not status.pending_changes:
        return PendingRestart(is_unexplained=True)
    noted = read_parameters(situation.known_settings)
    written = situation.desired.settings["postgresql"]["parameters"]
    names = sorted(status.pending_changes)
    ours = tuple(n for n in names if n in written or n in noted.names or n in noted.removed)
    foreign = tuple(name for name in names if name not in ours)
    if any(is_unsettled(situation, status, name) for name in ours):
        return PendingRestart(foreign=foreign, unsettled=ours)
    primary_first = tuple(name for name in ours if is_primary_first(situation, member, name))
    return PendingRestart(ours, foreign, primary_first)


def is_unsettled(situation: Situation, status: MemberStatus, name: str) -> bool:
    """Whether a restart now would bring another value than the file's, for all that is known."""
    match situation.settings:
        case Known(found):
            due = settings_patch(situation, found)
        case _:
            return True
    future = status.pending_changes[name][1]
    wanted = situation.desired.settings["postgresql"]["parameters"].get(name)
    return bool(due.parameters) or differs(name, wanted, future)


def differs(name: str, wanted: str | float | None, future: str) -> bool:
    """Whether the future value is certainly not the wanted one. Below zero, a parameter stands for
    a value that PostgreSQL works out itself."""
    parameter = parameters().get(name)
    if parameter is None or parameter.type == "string" or wanted is None or future in UNTOLD:
        return False
    amount = amount_of(parameter, wanted)
    chosen = amount is not None and amount < 0
    return not chosen and not same_parameter(name, wanted, future)


def is_primary_first(situation: Situation, member: DesiredMember, name: str) -> bool:
    """Whether a parameter is lowered that no replica takes before the leader has it."""
    status, leader = situation.status(member), situation.leader
    if name not in HOT_STANDBY or status is None or len(situation.desired.members) == 1:
        return False
    if not is_lowered(situation, name, *status.pending_changes[name]):
        return False
    ahead = situation.status(leader) if leader is not None else None
    return ahead is None or name in ahead.pending_changes


def is_lowered(situation: Situation, name: str, present: str, future: str) -> bool:
    """Whether the future value is less than the present one, or may be."""
    parameter = parameters()[name]
    wanted = situation.desired.settings["postgresql"]["parameters"].get(name, "")
    before = amount_of(parameter, present)
    after = amount_of(parameter, wanted if future in UNTOLD else future)
    return before is None or after is None or after < before
