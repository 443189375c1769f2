"""Which members have to restart before they are as the file wants them, and for what.

Decides from the services' differences and from the parameters that wait for a restart.
"""

from __future__ import annotations

from queenright.core.actions import RestartPostgres
from queenright.core.desired import DesiredMember
from queenright.core.pending import pending_restart
from queenright.core.pinning import restarting_fields
from queenright.core.situation import Situation


def restart_need(situation: Situation, member: DesiredMember) -> str:
    """What a member has to restart for, as a text for people; empty when for nothing."""
    container = restarting_fields(situation, member.service)
    return ", ".join((*container, *restarting_parameters(situation, member)))


def restarting_parameters(situation: Situation, member: DesiredMember) -> tuple[str, ...]:
    """Parameters of the file that a restart of this member brings into force. One that a replica
    takes only after the primary is not among them: moving the lead would not help it."""
    pending = pending_restart(situation, member)
    if pending is None:
        return ()
    return tuple(name for name in pending.owned if name not in pending.primary_first)


def restart_step(situation: Situation, member: DesiredMember, reason: str) -> RestartPostgres:
    """PostgreSQL restarted in this member, for this reason."""
    return RestartPostgres(
        **situation.desired.asked(member),
        member=member.name,
        reason=reason,
        disturbs=member.service.name,
    )
