"""The route hint in Patroni's settings, by which the proxies follow a switchover at once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from queenright.core.actions import AnyAction, PatchSettings
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.patroni.config_keys import (
    FOLLOW_S,
    ROUTE_KEY,
    Route,
    read_route,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.planning.plan import Hold

PROXIES_READ = timedelta(seconds=1.5)
"""Time in which the proxies read a hint: they check once a second."""
HINT_LIFE = timedelta(seconds=FOLLOW_S / 2)
"""Greatest age of a hint on which a switchover relies."""


def write_route_hint(
    state: ClusterState, leader: DesiredMember, candidate: str
) -> PatchSettings | Hold | None:
    """Write of the route hint, by which the proxies follow a switchover at once.

    None when they have it, or are not to have it.
    """
    if not state.desired.policy.fast_switchover:
        return None
    settings = state.known_settings
    route = read_route(settings)
    fresh = (
        route is not None
        and (route.kind, route.member) == ("follow", candidate)
        and timedelta(0) <= state.now - route.at < HINT_LIFE
    )
    if route is not None and fresh:
        ready_at = route.at + PROXIES_READ
        if state.now >= ready_at:
            return None
        reason = f"switchover to {candidate}: the proxies are reading the route hint"
        return Hold(f"switchover/{state.desired.name}", reason, ready_at)
    hint = Route("follow", candidate, state.now)
    return write_hint(
        state,
        leader,
        str(hint),
        f"switchover to {candidate}: proxies check every second until it is done",
    )


def clear_route_hint(state: ClusterState) -> Iterator[AnyAction]:
    """Remove a route hint that no switchover needs: its member leads, or it is too old.

    A younger one may be that of a command, whose switchover is not annotated yet.
    """
    leader, route = state.leader, read_route(state.known_settings)
    if leader is None or route is None or route.kind != "follow":
        return
    if state.why_no_quorum() is not None:
        return  # a hint expires by itself
    if leader.name == route.member:
        why = f"switchover to {route.member} is done: proxies check at their usual interval"
        yield write_hint(state, leader, None, why)
    elif abs(state.now - route.at) >= HINT_LIFE:
        why = f"no switchover to {route.member}: proxies check at their usual interval"
        yield write_hint(state, leader, None, why)


def write_hint(
    state: ClusterState, leader: DesiredMember, hint: str | None, reason: str
) -> PatchSettings:
    """The write of the hint, or of its removal, over the one that was observed."""
    present = state.known_settings.get(ROUTE_KEY)
    return PatchSettings(
        **state.asked(leader),
        aspect="route",
        patch={ROUTE_KEY: hint},
        expected={ROUTE_KEY: present},
        reason=reason,
    )
