"""Rule for Patroni's pause (maintenance, or promotion paused) and the route pin.

One rule for both, since they write the same keys: at most one write a pass. ``maintenance.pause``
decides the writes, ``maintenance.progress`` reports the maintenance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from queenright.core.actions import AnyAction, PatchSettings
from queenright.core.kinds.postgres_cluster.maintenance.pause import (
    Write,
    next_write,
    pause_owner,
    wanted_reason,
    whom_to_ask,
    why_not_write,
)
from queenright.core.kinds.postgres_cluster.maintenance.progress import maintenance_holds
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Known, Unknown
from queenright.core.planning.plan import Hold


def plan_pauses(state: ClusterState) -> Iterator[AnyAction | Hold]:
    if not state.is_deployed:
        return
    write, asked = next_write(state), whom_to_ask(state)
    if write is not None and asked is not None and why_not_write(state, write) is None:
        yield PatchSettings(
            **state.asked(asked),
            aspect=write.aspect,
            patch=write.patch,
            expected={key: state.known_settings.get(key) for key in write.patch},
            reason=f"{write.what}: {write.why}",
        )
    yield from maintenance_holds(state)
    yield from promotion_holds(state, write)


def promotion_holds(state: ClusterState, write: Write | None) -> Iterator[Hold]:
    """Holds on automatic failover: why there is none now, or why there still is."""
    key, promotion = f"promotion/{state.desired.name}", state.desired.policy.promotion
    wants = promotion.is_paused(state.now)
    until = promotion.until if wants else None
    if write is not None and write.concern == "promotion":
        if obstacle := why_not_write(state, write):
            reason = (
                f"promotion: {write.why}, but the operator can't {write.what} yet ({obstacle.why})"
            )
            hold = Hold(key, reason, until, obstacle.wants_attention)
            yield replace(hold, recheck_at=obstacle.recheck_at or until)
        return
    owner = pause_owner(state)
    if owner == "somebody else":
        reason = "Patroni is paused, and not by the operator, which does not resume it"
        if wanted_reason(state) is None:
            reason += "; there is no automatic failover until somebody resumes it"
        yield Hold(key, reason, until, wants_attention=wanted_reason(state) is None)
    elif isinstance(state.settings, Unknown) and wants:
        yield Hold(key, f"Patroni's settings are not known ({state.settings.why})", until)
    elif owner == "promotion" and state.leader is None and wants:
        reason = (
            "promotion: there is no leader, and Patroni promotes no member (the file pauses "
            "promotion); write promotion: active"
        )
        yield Hold(key, reason, until, wants_attention=True)
    elif owner == "promotion" and isinstance(state.settings, Known):
        yield from paused_as_wanted(state, key)


def paused_as_wanted(state: ClusterState, key: str) -> Iterator[Hold]:
    until = state.desired.policy.promotion.until
    statuses = [(member, state.status(member)) for member in state.desired.members]
    late = [m.name for m, status in statuses if status is not None and not status.paused]
    stopped = [m.name for m, status in statuses if status is not None and not status.is_running]
    if late:
        yield Hold(key, f"promotion: the pause is not reported yet by {', '.join(late)}", until)
    elif stopped:
        reason = f"{', '.join(stopped)}: PostgreSQL does not run (a paused Patroni starts none)"
        yield Hold(key, reason, until, wants_attention=True)
    else:
        reason = "promotion is paused by the file; there is no automatic failover"
        yield Hold(key, reason, until, is_informational=True)
