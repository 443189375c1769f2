"""Patroni's pause, for maintenance or because the owner wants it, and the pin that goes with it.

One rule for both wishes, since they write the same keys: at most one write a pass. The decision is
``core.pausing``'s, what it means for a maintenance ``core.maintenance``'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from queenright.core.actions import Action, PatchSettings
from queenright.core.maintenance import maintenance_holds
from queenright.core.observed import Known, Unknown
from queenright.core.pausing import (
    Write,
    next_write,
    pause_owner,
    wanted_reason,
    whom_to_ask,
    why_not_write,
)
from queenright.core.plan import Hold
from queenright.core.situation import Situation


def plan_pauses(situation: Situation) -> Iterator[Action | Hold]:
    if not situation.is_deployed:
        return
    write, asked = next_write(situation), whom_to_ask(situation)
    if write is not None and asked is not None and why_not_write(situation, write) is None:
        yield PatchSettings(
            **situation.desired.asked(asked),
            aspect=write.aspect,
            patch=write.patch,
            expected={key: situation.known_settings.get(key) for key in write.patch},
            reason=f"{write.what}: {write.why}",
        )
    yield from maintenance_holds(situation)
    yield from promotion_holds(situation, write)


def promotion_holds(situation: Situation, write: Write | None) -> Iterator[Hold]:
    """Why there is no automatic failover now, or why there still is one."""
    key, promotion = f"promotion/{situation.desired.name}", situation.desired.policy.promotion
    wants = promotion.is_paused(situation.now)
    until = promotion.until if wants else None
    if write is not None and write.concern == "promotion":
        if obstacle := why_not_write(situation, write):
            reason = f"{write.why}; before {write.what}: {obstacle.why}"
            hold = Hold(key, reason, until, obstacle.wants_attention)
            yield replace(hold, recheck_at=obstacle.recheck_at or until)
        return
    owner = pause_owner(situation)
    if owner == "somebody else":
        reason = "Patroni is paused, and not by the operator, which does not lift that"
        if wanted_reason(situation) is None:
            reason += ": there is no automatic failover until it is resumed by hand"
        yield Hold(key, reason, until, wants_attention=wanted_reason(situation) is None)
    elif isinstance(situation.settings, Unknown) and wants:
        yield Hold(key, f"Patroni's settings are not known ({situation.settings.why})", until)
    elif owner == "promotion" and situation.leader is None and wants:
        reason = (
            "nobody leads, and the file pauses promotion: Patroni promotes no member until it says "
            "promotion: active"
        )
        yield Hold(key, reason, until, wants_attention=True)
    elif owner == "promotion" and isinstance(situation.settings, Known):
        yield from paused_as_wanted(situation, key)


def paused_as_wanted(situation: Situation, key: str) -> Iterator[Hold]:
    until = situation.desired.policy.promotion.until
    statuses = [(member, situation.status(member)) for member in situation.desired.members]
    late = [m.name for m, status in statuses if status is not None and not status.paused]
    stopped = [m.name for m, status in statuses if status is not None and not status.is_running]
    if late:
        yield Hold(key, f"the pause is not in force yet at {', '.join(late)}", until)
    elif stopped:
        reason = f"PostgreSQL does not run at {', '.join(stopped)}: paused, Patroni starts none"
        yield Hold(key, reason, until, wants_attention=True)
    else:
        reason = "promotion is paused, as the file wants it: there is no automatic failover"
        yield Hold(key, reason, until, is_news=True)
