"""The states of what is observed, by key (see ``Observed.seen_s_ago``): one walk for each kind."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

from queenright.core.observed import (
    LEADERLESS,
    NODE_DOWN,
    UNLOCKED,
    Known,
    Live,
    LiveService,
    Node,
    Observed,
    Task,
    Unknown,
    cluster_of,
    down_key,
    hung_key,
    joining_key,
    mute_key,
    node_key,
    parameters_key,
    raft_key,
    seen_parameters,
    voters_key,
)
from queenright.core.swarm.objects import Config


def silent_in(observed: Observed) -> tuple[str, ...]:
    """Return the beginnings of the keys of sources that have not answered."""
    return (
        *(f"{name}/" for name, found in observed.settings.items() if isinstance(found, Unknown)),
        *(raft_key(name) for name, found in observed.raft.items() if isinstance(found, Unknown)),
        # A container that its health check ends is silent between two starts, and no better then.
        *(
            key(name)
            for name, found in observed.members.items()
            if isinstance(found, Unknown)
            for key in (down_key, joining_key)
        ),
    )


def keys_about(clusters: Iterable[str]) -> tuple[str, ...]:
    """Return the beginnings of the keys of what these clusters' members say."""
    return tuple(
        beginning
        for name in clusters
        for beginning in (
            f"{name}/",
            *(key(f"{name}_") for key in (raft_key, hung_key, down_key, joining_key, mute_key)),
            f"{LEADERLESS}{name}",
            f"{UNLOCKED}{name}",
        )
    )


def services_of(services: Iterable[LiveService]) -> Iterator[tuple[str, Hashable]]:
    """Yield services with their version."""
    for live in services:
        yield live.id, live.version


def tasks_of(tasks: Iterable[Task]) -> Iterator[tuple[str, Hashable]]:
    """Yield tasks with their states."""
    for task in tasks:
        yield task.id, (task.state, task.desired_state)


def labels_of(configs: Iterable[Live[Config]]) -> Iterator[tuple[str, Hashable]]:
    """Yield configs' labels with values."""
    for config in configs:
        for key, value in config.value.labels.items():
            yield f"{config.id}/{key}", value


def nodes_of(nodes: Iterable[Node]) -> Iterator[tuple[str, Hashable]]:
    """Yield nodes with their version, and nodes that are down, again with their version: one that
    was back between two passes has another."""
    for node in nodes:
        yield node_key(node.id), node.version
        if node.state == "down":
            yield f"{NODE_DOWN}{node.id}", node.version


LISTS: Mapping[str, Callable[[Any], Iterator[tuple[str, Hashable]]]] = {
    "services": services_of,
    "tasks": tasks_of,
    "configs": labels_of,
    "nodes": nodes_of,
}


def unapplied_of(observed: Observed) -> Iterator[tuple[str, Hashable]]:
    """Yield each Raft node that has not applied all, with the last entry that it has applied: one
    that makes progress is in another state each time."""
    for name, reading in observed.raft.items():
        if isinstance(reading, Known) and reading.value.is_behind:
            yield raft_key(name), reading.value.last_applied


def voters_in(observed: Observed) -> Iterator[tuple[str, Hashable]]:
    """Yield the voters that each Raft node lists, and whether it has a quorum."""
    for name, reading in observed.raft.items():
        if isinstance(reading, Known):
            yield voters_key(name), (reading.value.voters, reading.value.has_quorum)


def hung_members(observed: Observed) -> Iterator[tuple[str, Hashable]]:
    """Yield the members that have no data and are not copying any."""
    for name, reading in observed.members.items():
        if isinstance(reading, Known) and reading.value.is_empty:
            yield hung_key(name), True


def down_members(observed: Observed) -> Iterator[tuple[str, Hashable]]:
    """Yield the members that have data, and neither lead nor stream, in whatever state: one that
    can't start does so again and again. One whose Raft node answers, and Patroni does not, counts:
    Patroni answers late, or not at all, where PostgreSQL refuses its connections."""
    for name, reading in observed.members.items():
        match reading, observed.raft.get(name):
            case Known(status), _ if status.is_unserving:
                yield down_key(name), True
            case Unknown(), Known():
                yield down_key(name), True


def joining_members(observed: Observed) -> Iterator[tuple[str, Hashable]]:
    """Yield the members that answer, have data, and do not stream from their cluster's leader, with
    that leader and its timeline: under another one the way back begins again."""
    known = {n: found.value for n, found in observed.members.items() if isinstance(found, Known)}
    joining = [name for name, status in known.items() if status.is_unserving]
    if not joining:  # nearly always
        return
    leaders = {
        cluster_of(n): (n, status.timeline) for n, status in known.items() if status.holds_lock
    }
    for name in joining:
        if (leader := leaders.get(cluster_of(name))) is not None:
            yield joining_key(name), leader


def mute_members(observed: Observed) -> Iterator[tuple[str, Hashable]]:
    """Yield the members whose Patroni answers, and whose Raft node does not."""
    for name, reading in observed.members.items():
        if isinstance(reading, Known) and isinstance(observed.raft.get(name), Unknown):
            yield mute_key(name), True


def settings_of(observed: Observed) -> Iterator[tuple[str, Hashable]]:
    """Yield Patroni's settings that are plain text, as the operator's own are, and PostgreSQL's
    parameters."""
    for name, reading in observed.settings.items():
        if isinstance(reading, Known):
            for key, value in reading.value.items():
                if isinstance(value, str):
                    yield f"{name}/{key}", value
            if (found := seen_parameters(reading.value)) is not None:
                yield parameters_key(name), found


def newest_timelines(observed: Observed) -> Mapping[str, int]:
    """Return the newest timeline that the members of each cluster tell, in one walk over all."""
    found: dict[str, int] = {}
    for name, reading in observed.members.items():
        if isinstance(reading, Known) and reading.value.timeline is not None:
            cluster = cluster_of(name)
            found[cluster] = max(found.get(cluster, 0), reading.value.timeline)
    return found


def unlocked_in(observed: Observed) -> Iterator[tuple[str, Hashable]]:
    """Yield the clusters of which a member with a quorum says that nobody holds the leader lock,
    and no member says otherwise."""
    said: set[str] = set()
    contradicted: set[str] = set()
    for name, reading in observed.members.items() if observed.history else ():
        match reading, observed.raft.get(name):
            case Known(status), _ if status.holds_lock or not status.cluster_unlocked:
                contradicted.add(cluster_of(name))
            case Known(), Known(raft) if raft.has_quorum:
                said.add(cluster_of(name))
            case _:
                pass
    for cluster in sorted((said - contradicted) & observed.history.keys()):
        yield f"{UNLOCKED}{cluster}", True


WALKS = (
    settings_of,
    unapplied_of,
    voters_in,
    hung_members,
    down_members,
    joining_members,
    mute_members,
    unlocked_in,
)
