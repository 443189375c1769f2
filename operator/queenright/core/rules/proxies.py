"""The proxies' global service: there from the beginning, and kept whatever happens to members.

A proxy routes to nobody before it has checked, so it may start before its database does, and has
passed its two checks by the time there is a leader.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import Action
from queenright.core.plan import Hold
from queenright.core.servicing import plan_service
from queenright.core.situation import Situation


def plan_proxies(situation: Situation) -> Iterator[Action | Hold]:
    desired, swarm = situation.desired, situation.swarm
    files = (desired.haproxy, desired.route)
    if swarm.network(desired.network.name) and all(swarm.config(file.name) for file in files):
        yield from plan_service(situation, desired.proxy, obstacle=None)
