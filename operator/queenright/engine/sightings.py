"""The time for which this process has seen each object in its present state.

Measured by a monotonic clock, so that jumps of other clocks do not matter. A process that has just
begun knows nothing yet: its waits begin anew.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from queenright.core.observed import (
    LEADERLESS,
    NODE_DOWN,
    UNLOCKED,
    Known,
    Observed,
    raft_key,
    voters_key,
)
from queenright.core.observed.ages import Ages
from queenright.engine.sighted import LISTS, WALKS, keys_about, newest_timelines, silent_in

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
