"""Status lines of a cluster: leader, promotion, maintenance, restarts, virtual address.

Decides from the plan's holds, Patroni's settings, the annotations and every member's answer.
Invariant: unknown values are shown as "unknown"; a pause is shown with its owner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from queenright.core.kinds.postgres_cluster.annotations import (
    Annotations,
    noted_labels,
    read_annotations,
)
from queenright.core.kinds.postgres_cluster.backup.archiving import archived_text
from queenright.core.kinds.postgres_cluster.backup.note import read_backup_note
from queenright.core.kinds.postgres_cluster.backup.request import read_backup_request
from queenright.core.kinds.postgres_cluster.backup.summary import base_backup_text
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.drill.note import REQUEST_LABEL, read_drill_note
from queenright.core.kinds.postgres_cluster.drill.summary import drill_text
from queenright.core.kinds.postgres_cluster.in_place.note import read_restored
from queenright.core.kinds.postgres_cluster.in_place.summary import restored_text
from queenright.core.kinds.postgres_cluster.patroni.config_keys import pause_reason
from queenright.core.kinds.postgres_cluster.replication.conditions import replication_texts
from queenright.core.manifest.moments import Pausing, format_moment
from queenright.core.observed import Known, MemberStatus, Observed, SwarmState
from queenright.core.planning.plan import Plan
from queenright.core.planning.status import Line

TOLD_HERE = (
    *("primary", "failover", "promotion", "maintenance", "reconcile", "replication"),
    *("backup", "restore"),
)
"""Kinds of holds that a status line shows."""
RESTORED_LASTS = timedelta(days=30)
"""Time for which the status names the volumes from before a restore in place."""


def conditions(
    desired: DesiredCluster, plan: Plan, observed: Observed, swarm: SwarmState, now: datetime
) -> tuple[Line, ...]:
    """The lines; none for what is as it always is."""
    return (
        *leader_lines(desired, plan, observed, swarm),
        *promotion_lines(desired, plan, observed, now),
        *held_lines("Maintenance", "maintenance", plan),
        *held_lines("Reconcile", "reconcile", plan),
        *replication_lines(desired, plan, observed),
        *held_lines("Restore", "restore", plan),
        *restored_lines(desired, swarm, now),
        *backup_lines(desired, plan, observed),
        *repository_lines(desired, swarm),
        *base_backup_lines(desired, swarm, now),
        *restart_lines(desired, observed),
        *vip_lines(desired, observed, swarm),
    )


def restored_lines(desired: DesiredCluster, swarm: SwarmState, now: datetime) -> Iterator[Line]:
    """The last restore in place, and the volumes with the data before it, for a month."""
    found = read_restored(noted_labels(desired.name, swarm))
    if found is not None and now - found.wanted.at < RESTORED_LASTS:
        yield Line("Restored", restored_text(desired.name, found))


def vip_lines(desired: DesiredCluster, observed: Observed, swarm: SwarmState) -> Iterator[Line]:
    """The node that has the address, and those on which keepalived runs."""
    if desired.vip is None:
        return
    holder = vip_holder(desired, observed)
    held = f"on {holder}" if holder else "its node is unknown"
    live = swarm.service(desired.vip.service.name)
    tasks = swarm.tasks_of(live.id) if live else ()
    up = {t.node_id for t in tasks if swarm.is_running(t)}
    names = sorted(node.name for node in swarm.nodes if node.id in up)
    text = f"keepalived runs on {', '.join(names)}" if names else "keepalived runs on no node"
    yield Line("Virtual IP", f"{desired.vip.address}, {held}; {text}", wants_attention=not names)


def vip_holder(desired: DesiredCluster, observed: Observed) -> str:
    """Return the node that has the virtual address, by the member that answers there; empty where
    it is not known."""
    match observed.holders.get(desired.name):
        case Known(name):
            return next((member.node for member in desired.members if member.name == name), "")
        case _:
            return ""


def told_here(key: str) -> bool:
    """True if a status line shows a hold of this key."""
    return key.partition("/")[0] in TOLD_HERE


def held_lines(about: str, kind: str, plan: Plan) -> Iterator[Line]:
    for hold in plan.holds:
        if hold.key.partition("/")[0] == kind:
            yield Line(about, hold.reason, hold.wants_attention)


def leader_lines(
    desired: DesiredCluster, plan: Plan, observed: Observed, swarm: SwarmState
) -> Iterator[Line]:
    annotations = notes_of(desired, swarm)
    wanted = [*held_lines("Leader", "primary", plan), *held_lines("Leader", "failover", plan)]
    if wanted:
        yield from wanted
    elif desired.policy.primary and any(status.is_leader for status in known(desired, observed)):
        text = f"leader is {desired.policy.primary}, which is spec.primary"
        if leads(desired, observed, desired.policy.primary):
            yield Line("Leader", f"{text}; failback.mode is {desired.policy.failback.mode}")
    if annotations.move is not None:
        move = annotations.move
        text = f"from {move.leader} to {move.candidate}, requested at {format_moment(move.at)}"
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
            yield Line("Promotion", "paused by an unknown owner", wants_attention=True)
    elif reason := pause_reason(settings.value):
        late = "" if len(paused) == len(said) else "; not every member reports it yet"
        yield Line("Promotion", f"paused by the operator, for {reason}{late}")
    elif paused and not settings.value.get("pause"):
        yield Line("Promotion", "resumed; not every member reports it yet")


def replication_lines(desired: DesiredCluster, plan: Plan, observed: Observed) -> Iterator[Line]:
    """The replicas that confirm commits, and what is not in force yet."""
    for text in replication_texts(desired, observed):
        yield Line("Replication", text)
    yield from held_lines("Replication", "replication", plan)


def backup_lines(desired: DesiredCluster, plan: Plan, observed: Observed) -> Iterator[Line]:
    """The last archived file and what waits, with the hold that says why."""
    leaders = [m.name for m in desired.members if leads(desired, observed, m.name)]
    match observed.archiving.get(desired.name):
        case Known(found) if found.is_on and leaders:
            yield Line("Backup", archived_text(found, leaders[0]))
        case _:
            pass
    yield from held_lines("Backup", "backup", plan)


def repository_lines(desired: DesiredCluster, swarm: SwarmState) -> Iterator[Line]:
    """The repository on a volume, and whether its service runs."""
    found = desired.repository
    if found is None:
        return
    live = swarm.service(found.service.name)
    runs = live is not None and any(swarm.running_tasks(live.id))
    does = "runs" if runs else "does not run, so that nothing is archived"
    text = f"repository on {found.node} (volume {found.volume}), {found.endpoint}: {does}"
    yield Line("Backup", text, wants_attention=not runs)


def base_backup_lines(desired: DesiredCluster, swarm: SwarmState, now: datetime) -> Iterator[Line]:
    """The last base backup, a request for one, and the next one; then the same of drills."""
    state_config = swarm.config(desired.state_config.name)
    if desired.base_backups is not None and state_config is not None:
        labels = state_config.value.labels
        note, asked = read_backup_note(labels, now), read_backup_request(labels, now)
        yield Line("Backup", base_backup_text(desired.base_backups, note, now, asked))
        if (drill := desired.base_backups.drill) is not None:
            asked = read_backup_request(labels, now, REQUEST_LABEL)
            yield Line("Backup", drill_text(drill, read_drill_note(labels, now), now, asked))


def until(pausing: Pausing) -> str:
    return f" (until {format_moment(pausing.until)})" if pausing.until else ""


def restart_lines(desired: DesiredCluster, observed: Observed) -> Iterator[Line]:
    """Members whose PostgreSQL waits for a restart, and for what."""
    for member in desired.members:
        reading = observed.members.get(member.service.name)
        if isinstance(reading, Known) and reading.value.pending_restart:
            what = format_changes(reading.value.pending_changes)
            yield Line("Restart", f"{member.name} waits for a restart{what}")


def format_changes(changes: Mapping[str, tuple[str, str]]) -> str:
    parts = [f"{name} {old} -> {new}" for name, (old, new) in sorted(changes.items())]
    return f": {', '.join(parts)}" if parts else ""


def known(desired: DesiredCluster, observed: Observed) -> Iterator[MemberStatus]:
    for member in desired.members:
        reading = observed.members.get(member.service.name)
        if isinstance(reading, Known):
            yield reading.value


def notes_of(desired: DesiredCluster, swarm: SwarmState) -> Annotations:
    return read_annotations(noted_labels(desired.name, swarm))
