"""How a running cluster stands with its owner's wishes, in a few labelled lines.

Decides from the plan's holds, Patroni's settings, the notes in the anchor and what every member
says. Invariant: what is not known is called unknown; a pause is told with whose it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from queenright.core.desired import DesiredCluster
from queenright.core.notes import Notes, read_notes
from queenright.core.observed import Known, MemberStatus, Observed, SwarmState
from queenright.core.plan import Plan
from queenright.core.published import pause_reason
from queenright.core.spec.operations import Pausing, format_moment

TOLD_HERE = ("primary", "promotion", "maintenance", "reconcile")
"""Kinds of holds that are told by a line of their own."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: what it is about, how it stands, and whether it needs a person."""

    about: str
    text: str
    wants_attention: bool = False


def standing(
    desired: DesiredCluster, plan: Plan, observed: Observed, swarm: SwarmState, now: datetime
) -> tuple[Line, ...]:
    """The lines; none for what is as it always is."""
    return (
        *leader_lines(desired, plan, observed, swarm),
        *promotion_lines(desired, plan, observed, now),
        *held_lines("Maintenance", "maintenance", plan),
        *held_lines("Reconcile", "reconcile", plan),
        *restart_lines(desired, observed),
        *vip_lines(desired, swarm),
    )


def vip_lines(desired: DesiredCluster, swarm: SwarmState) -> Iterator[Line]:
    """On which nodes keepalived runs. Which of them has the address, only they know."""
    if desired.vip is None:
        return
    live = swarm.service(desired.vip.service.name)
    tasks = swarm.tasks_of(live.id) if live else ()
    up = {t.node_id for t in tasks if t.state == "running" and swarm.runs(t)}
    names = sorted(node.name for node in swarm.nodes if node.id in up)
    text = f"keepalived runs on {', '.join(names)}" if names else "keepalived runs nowhere"
    yield Line("Virtual IP", f"{desired.vip.address}, {text}", wants_attention=not names)


def told_here(key: str) -> bool:
    """Whether a hold of this key is told by a line."""
    return key.partition("/")[0] in TOLD_HERE


def held_lines(about: str, kind: str, plan: Plan) -> Iterator[Line]:
    for hold in plan.holds:
        if hold.key.partition("/")[0] == kind:
            yield Line(about, hold.reason, hold.wants_attention)


def leader_lines(
    desired: DesiredCluster, plan: Plan, observed: Observed, swarm: SwarmState
) -> Iterator[Line]:
    notes = notes_of(desired, swarm)
    wished = [*held_lines("Leader", "primary", plan)]
    if wished:
        yield from wished
    elif desired.policy.primary and any(status.is_leader for status in known(desired, observed)):
        text = f"{desired.policy.primary} is wished, failback {desired.policy.failback.mode}"
        if leads(desired, observed, desired.policy.primary):
            yield Line("Leader", f"{text}; it leads")
    if notes.move is not None:
        move = notes.move
        text = f"from {move.leader} to {move.candidate}, asked for at {format_moment(move.at)}"
        yield Line("Move", f"{text} ({move.kind})")


def leads(desired: DesiredCluster, observed: Observed, name: str) -> bool:
    reading = observed.members.get(f"{desired.name}_{name}")
    return isinstance(reading, Known) and reading.value.is_leader


def promotion_lines(
    desired: DesiredCluster, plan: Plan, observed: Observed, now: datetime
) -> Iterator[Line]:
    """Patroni's pause: whose it is, until when, and what it means."""
    policy = desired.policy.promotion
    held = [*held_lines("Promotion", "promotion", plan)]
    if held:
        end = until(policy) if policy.is_paused(now) else ""
        yield from (Line(line.about, line.text + end, line.wants_attention) for line in held)
        return
    said = [*known(desired, observed)]
    paused = [status for status in said if status.paused]
    settings = observed.settings.get(desired.name)
    if not isinstance(settings, Known):
        if paused:
            yield Line("Promotion", "paused, it is not known by whom", wants_attention=True)
    elif reason := pause_reason(settings.value):
        late = "" if len(paused) == len(said) else "; not every member has taken it up yet"
        yield Line("Promotion", f"paused by the operator, for {reason}{late}")
    elif paused and not settings.value.get("pause"):
        yield Line("Promotion", "resumed, and not every member has taken it up yet")


def until(pausing: Pausing) -> str:
    return f" (until {format_moment(pausing.until)})" if pausing.until else ""


def restart_lines(desired: DesiredCluster, observed: Observed) -> Iterator[Line]:
    """Members whose PostgreSQL waits for a restart, and for what."""
    for member in desired.members:
        reading = observed.members.get(member.service.name)
        if isinstance(reading, Known) and reading.value.pending_restart:
            what = shown(reading.value.pending_changes)
            yield Line("Restart", f"{member.name} waits for one{what}")


def shown(changes: Mapping[str, tuple[str, str]]) -> str:
    parts = [f"{name} {old} -> {new}" for name, (old, new) in sorted(changes.items())]
    return f": {', '.join(parts)}" if parts else ""


def known(desired: DesiredCluster, observed: Observed) -> Iterator[MemberStatus]:
    for member in desired.members:
        reading = observed.members.get(member.service.name)
        if isinstance(reading, Known):
            yield reading.value


def notes_of(desired: DesiredCluster, swarm: SwarmState) -> Notes:
    anchor = swarm.config(desired.anchor.name)
    return read_notes(anchor.value.labels) if anchor is not None else Notes()
