"""The proxies' global service: created once the database is whole, then kept whatever happens."""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import Action
from queenright.core.plan import Hold
from queenright.core.servicing import plan_service
from queenright.core.situation import Situation


def plan_proxies(situation: Situation) -> Iterator[Action | Hold]:
    desired, swarm = situation.desired, situation.swarm
    if not (swarm.network(desired.network.name) and swarm.config(desired.haproxy.name)):
        return
    if swarm.service(desired.proxy.name) is None and not situation.is_bootstrapped:
        unwell = next(situation.unwell(), None)
        if not situation.is_deployed or unwell:
            yield Hold(
                f"create-service/{desired.proxy.name}",
                f"{desired.proxy.name} waits until the database is whole",
            )
            return
    yield from plan_service(situation, desired.proxy, obstacle=None)
