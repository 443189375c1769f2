"""The database members' services.

Invariant: at most one member is restarted, never the leader, never while another is not well.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from queenright.core.actions import Action
from queenright.core.plan import Hold
from queenright.core.servicing import plan_service
from queenright.core.situation import Situation

CATCH_UP = timedelta(seconds=1)


def plan_members(situation: Situation) -> Iterator[Action | Hold]:
    desired, swarm = situation.desired, situation.swarm
    prepared = (
        swarm.network(desired.network.name)
        and all(swarm.config(config.name) for config in desired.configs)
        and all(swarm.secret(secret.name) for secret in desired.secrets)
    )
    if not prepared:
        return
    for member in desired.members:
        yield from plan_service(situation, member.service, situation.why_not_disturb(member))
    if situation.is_deployed and (unwell := list(situation.unwell())):
        # Nothing tells of a lag that is made up for; until the cluster was whole once, it counts.
        soon = None if situation.is_bootstrapped else situation.now + CATCH_UP
        reason = "the database is not whole: " + "; ".join(unwell)
        yield Hold(f"cluster/{desired.name}", reason, recheck_at=soon)
