"""The database members' services.

Invariant: at most one member is restarted, never the leader, never while another is not well.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import Action
from queenright.core.desired import ADDRESS_LABEL, ROLE_LABEL, DesiredMember
from queenright.core.plan import Hold
from queenright.core.resources import CLUSTER_LABEL
from queenright.core.servicing import plan_service
from queenright.core.situation import Situation


def plan_members(situation: Situation) -> Iterator[Action | Hold]:
    desired, swarm = situation.desired, situation.swarm
    prepared = (
        swarm.network(desired.network.name)
        and all(swarm.config(config.name) for config in desired.configs)
        and all(swarm.secret(secret.name) for secret in desired.secrets)
    )
    if not prepared:
        return
    moved = [hold for member in desired.members if (hold := address_moved(situation, member))]
    yield from moved
    for member in desired.members if not moved else ():  # each names all others' addresses
        yield from plan_service(situation, member.service, situation.why_not_disturb(member))
    yield from removed_members(situation)
    if situation.is_deployed and (unwell := list(situation.unwell())):
        yield Hold(f"cluster/{desired.name}", "the database is not whole: " + "; ".join(unwell))


def address_moved(situation: Situation, member: DesiredMember) -> Hold | None:
    """A member under a new address is a new member to Raft, which keeps the old one for ever."""
    live = situation.swarm.service(member.service.name)
    if live is None:
        return None
    deployed = live.value.labels.get(ADDRESS_LABEL, member.address)
    if deployed == member.address:
        return None
    return Hold(
        f"update-service/{member.service.name}",
        f"{member.name} would move from {deployed} to {member.address}: the other members know it "
        f"in Raft by its old address. Give it back, or set its address to {deployed} in the file",
        wants_attention=True,
    )


def removed_members(situation: Situation) -> Iterator[Hold]:
    """Members that left the file keep running: removing one is not a matter of a missing line."""
    desired = situation.desired
    wanted = {service.name for service in desired.services}
    for live in situation.swarm.services:
        labels = live.value.labels
        if (
            labels.get(CLUSTER_LABEL) == desired.name
            and labels.get(ROLE_LABEL) == "member"
            and live.value.name not in wanted
        ):
            yield Hold(
                f"remove-service/{live.value.name}",
                f"{live.value.name} is no longer in the file, and is kept: remove its service by "
                "hand when its data is not needed",
                wants_attention=True,
            )
