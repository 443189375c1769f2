"""The services beside the replicas: the edge, kept as it should be whatever happens to them.

Decides after the replicas: an edge is deployed once they are, and goes on while they come and go.
One that the file does not want any more is told, and left to its owner.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import Action
from queenright.core.app.situation import AppSituation
from queenright.core.plan import Hold
from queenright.core.resources import ROLE_LABEL
from queenright.core.servicing import plan_service

EDGE = "edge"


def plan_edge(situation: AppSituation) -> Iterator[Action | Hold]:
    desired, swarm = situation.desired, situation.swarm
    if situation.web is None or situation.missing:
        return
    for service in desired.others:
        if all(swarm.config(item.name) for item in service.configs):
            yield from plan_service(situation, service, obstacle=situation.why_not_served())
    wanted = {service.name for service in desired.services}
    for live in situation.services:
        name = live.value.name
        if live.value.labels.get(ROLE_LABEL) == EDGE and name not in wanted:
            yield Hold(
                f"remove-service/{name}",
                f"the file has no edge any more, and service {name} still runs: when no client "
                f"needs it, remove it (docker service rm {name})",
                wants_attention=True,
            )
