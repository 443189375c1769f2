"""The time for which this process has seen each object in its present state.

Measured by a monotonic clock, so that jumps of other clocks do not matter. A process that has just
begun knows nothing yet: its waits begin anew.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

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
from queenright.core.observed.ages import Ages
from queenright.core.swarm.objects import Config

Sighted: TypeAlias = dict[str, tuple[Hashable, float]]
"""States and the times since them, by key."""
Lists: TypeAlias = dict[str, tuple[tuple[Any, ...], Sighted]]
"""Each list of a reading of the swarm, and its objects."""


@dataclass
class Sightings:
    """Each object's last state, and the time since it, by key (see ``Observed.seen_s_ago``)."""

    found: dict[str, tuple[Hashable, float]] = field(default_factory=dict)
    _of_lists: Lists = field(default_factory=dict)
    """The lists of the last reading of the swarm, and their objects: one that stays is not walked
    over again."""
    _objects: Sighted = field(default_factory=dict)
    """All of them together."""

    def note(self, observed: Observed, now_s: float) -> Mapping[str, float]:
        """Return the seconds since each object was first seen in its present state. A source
        without an answer keeps its last state; an object that is gone is forgotten. So is a
        time without a leader, or for which the members say so, in a pass that does not observe
        that, and the time for which a node is down, in a pass in which swarm does not say so."""
        for _ in self.noting(observed, now_s):
            pass
        return self.ages(now_s)

    def noting(
        self, observed: Observed, now_s: float, part: frozenset[str] | None = None
    ) -> Iterator[None]:
        """Do what ``note`` does in steps, between which the event loop may run. Where only the
        clusters of ``part`` were asked, all others' objects stay as they were seen."""
        present: Sighted = {}
        for walk in WALKS:
            present |= self._since(walk(observed), now_s)
            yield
        present |= self._leaderless(observed, now_s)
        match observed.swarm:
            case Known(swarm):
                lists: Lists = {}
                for name, walk_list in LISTS.items():
                    listed, known = getattr(swarm, name), self._of_lists.get(name)
                    if known is None or known[0] is not listed:
                        known = (listed, self._since(walk_list(listed), now_s))
                    lists[name] = known
                    yield
                objects, gone = self._objects, self._objects
                if any(lists[name] is not self._of_lists.get(name) for name in LISTS):
                    objects = {key: at for _, found in lists.values() for key, at in found.items()}
                silent = silent_in(observed)
                asked = ("",) if part is None else keys_about(part)
                kept = {
                    key: at
                    for key, at in self.found.items()
                    if (key not in gone and not key.startswith(asked)) or key.startswith(silent)
                }
            case _:
                lists, objects = {}, {}
                forgotten = (LEADERLESS, UNLOCKED, NODE_DOWN)
                kept = {k: at for k, at in self.found.items() if not k.startswith(forgotten)}
        yield
        self._of_lists, self._objects = lists, objects
        self.found = {**kept, **present, **objects}

    def forget_voters(self, cluster: str) -> None:
        """Forget for how long a cluster's Raft nodes have listed the same voters. After a request
        to change them the next look begins anew: a vote that was taken, and came back before that
        look, would show the list of before."""
        begin, end = raft_key(f"{cluster}_"), voters_key("").removeprefix(raft_key(""))
        self.found = {
            key: seen
            for key, seen in self.found.items()
            if not (key.startswith(begin) and key.endswith(end))
        }

    def ages(self, now_s: float) -> Mapping[str, float]:
        """Return the seconds since each object was first seen in its present state."""
        return Ages({key: since_s for key, (_, since_s) in self.found.items()}, now_s)

    def _leaderless(self, observed: Observed, now_s: float) -> Sighted:
        """Return the newest timeline of each cluster of which no member proves the leader lock, and
        the time since nobody leads. A timeline that is newer than any before tells that somebody
        led between two passes."""
        found: Sighted = {}
        newest = newest_timelines(observed) if observed.history else {}
        for name in observed.history:
            key, told = f"{LEADERLESS}{name}", newest.get(name, 0)
            state, since_s = self.found.get(key, (0, now_s))
            known = state if isinstance(state, int) else 0
            found[key] = max(told, known), now_s if 0 < known < told else since_s
        return found

    def _since(self, present: Iterable[tuple[str, Hashable]], now_s: float) -> Sighted:
        """Return each present state with the time since it."""
        return {
            key: before
            if (before := self.found.get(key)) is not None and before[0] == how
            else (how, now_s)
            for key, how in present
        }


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
    leaders = {
        cluster_of(name): (name, found.value.timeline)
        for name, found in observed.members.items()
        if isinstance(found, Known) and found.value.holds_lock
    }
    for name, reading in observed.members.items():
        if isinstance(reading, Known) and reading.value.is_unserving:
            leader = leaders.get(cluster_of(name))
            if leader is not None:
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
