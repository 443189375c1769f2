"""A person's request for a restore in place: why there can be none, its steps, what came of it.

Decides from the same observation and by the same rules as the operator. Invariant: a request is one
label, written with the version index that was read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from queenright.core.actions import LabelConfig
from queenright.core.kinds.postgres_cluster.desired.base_backup import check_job
from queenright.core.kinds.postgres_cluster.desired.restore import PREFIX
from queenright.core.kinds.postgres_cluster.in_place.decision import member_services, why_not_begun
from queenright.core.kinds.postgres_cluster.in_place.note import (
    RestoreRequest,
    WantedRestore,
    with_request,
)
from queenright.core.kinds.postgres_cluster.rules.restore import progress
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.manifest.moments import format_moment
from queenright.core.planning.configs import relabelled
from queenright.core.swarm.label_values import read_json, read_moment, read_whole
from queenright.core.swarm.objects import Service


@dataclass(frozen=True, slots=True)
class Coverage:
    """The repository's answer: the base backup, the timeline along which the WAL is replayed, the
    database system, and how far the archive has come."""

    base: str
    ended: str
    timeline: int
    system: str
    archived_to: str


@dataclass(frozen=True, slots=True)
class Course:
    """The course of a restore: a line about it; ``is_done`` where all members are well again,
    ``failed`` with the reason where a try came to nothing, ``is_gone`` where nothing was begun."""

    line: str = ""
    is_done: bool = False
    failed: str = ""
    is_gone: bool = False


def why_not_asked(state: ClusterState, wanted: WantedRestore) -> str | None:
    """Reason why a request would come to nothing; None where it would not."""
    name = state.desired.name
    if state.is_paused:
        return f"cluster {name}: reconciliation is paused; end the pause in the file first"
    if state.restore_request is not None:
        at = format_moment(state.restore_request.wanted.at)
        return f"cluster {name}: a restore was asked for at {at}, and has not ended"
    why = why_not_begun(state, wanted) or why_left(state, wanted)
    return f"cluster {name}: can't be restored in place now ({why})" if why else None


def why_left(state: ClusterState, wanted: WantedRestore) -> str | None:
    """Reason why a moment is not on the present timeline: the last restore went back behind it."""
    kind, _, value = wanted.target.partition(" ")
    if state.restored is None or state.restored.is_left or kind != "time" or wanted.timeline:
        return None
    last, moment = state.restored.wanted, datetime.fromisoformat(value)
    before, _, end = last.target.partition(" ")
    if before != "time" or not datetime.fromisoformat(end) < moment < last.at:
        return None
    former = f"--timeline {last.timeline}" if last.timeline else "--timeline"
    return (
        f"it was restored to {format_moment(datetime.fromisoformat(end))} at "
        f"{format_moment(last.at)}, so its present timeline has nothing in between; add {former} "
        "for the timeline that it had before"
    )


def with_present_timeline(state: ClusterState, wanted: WantedRestore) -> WantedRestore:
    """Return the restore with the leader's timeline, where it names none and one is known."""
    return (
        wanted
        if wanted.timeline or wanted.is_back
        else replace(wanted, timeline=state.timeline or 0)
    )


def checking_service(state: ClusterState, wanted: WantedRestore, beside: Service) -> Service:
    """The job beside a member that runs."""
    leader = state.leader
    reach = None
    if leader is not None:
        access = state.access(leader)
        reach = (access.address, access.postgresql_port)
    found = {"TARGET": wanted.target, "BACKUP": wanted.base, "TIMELINE": str(wanted.timeline or "")}
    variables = {f"{PREFIX}{name}": text for name, text in found.items() if text}
    return check_job(state.desired.name, beside, reach, variables)


def read_coverage(text: str) -> Coverage | None:
    """Return what `restore-check` has printed; None where its line is not there."""
    for line in text.splitlines():
        match read_json(line.strip()):
            case {"base": str(base), "ended": str(ended), "system": str(system), **rest}:
                timeline = read_whole(rest.get("timeline")) or 0
                return Coverage(base, ended, timeline, system, str(rest.get("archived_to") or ""))
            case _:
                pass
    return None


def request_step(state: ClusterState, wanted: WantedRestore, by: str) -> Iterator[LabelConfig]:
    """The state config with the request."""
    live = state.swarm.config(state.desired.state_config.name)
    if live is not None:
        labels = with_request(live.value.labels, RestoreRequest(wanted))
        yield relabelled(live, labels, f"a restore in place is requested by {by}")


def course_of(state: ClusterState, wanted: WantedRestore, *, has_begun: bool) -> Course:
    """Return how far the restore of this request is. ``has_begun`` is True where it was seen."""
    request = state.restore_request
    if request is not None and request.wanted.at == wanted.at:
        if not request.has_begun:
            why = why_not_begun(state, wanted)
            return Course(f"Not begun yet: {why}." if why else "")
        return Course("The members are stopped.")
    noted = state.restored is not None and state.restored.wanted.at == wanted.at
    if not noted and not has_begun:
        return Course(is_gone=True)
    unwell = next(state.unwell(), None)
    if state.is_bootstrapped and unwell is None:
        return Course(is_done=True)
    if wanted.is_back or state.is_bootstrapped:
        return Course(f"The members start: {unwell}.")
    line, failed = progress(state)
    return Course(f"{line[:1].upper()}{line[1:]}.", failed=line if failed else "")


def volumes_kept(state: ClusterState) -> list[str]:
    """The volumes with the present data, each with its node."""
    node_of = {member.service.name: member.node for member in state.desired.members}
    return [
        f"{mount.source} on {node_of.get(live.value.name, 'its node')}"
        for live in member_services(state)
        for mount in live.value.mounts
        if mount.kind == "volume"
    ]


def read_target(text: str) -> str:
    """Return a moment as a request has it; ValueError with what would be right."""
    found = read_moment(text.replace("Z", "+00:00"))
    if found is None:
        raise ValueError("is no moment with its zone, such as 2026-01-31T11:59:59Z")
    return f"time {found.isoformat()}"
