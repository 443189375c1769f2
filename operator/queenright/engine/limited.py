"""The observation of some documents only: what was not asked can't be read.

Invariant: a plan or a guard's answer that comes from a limited observation is the one that the
whole observation of that moment gives. Whatever was not asked raises NotAskedError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from queenright.core.kinds.kind import Desired
from queenright.core.kinds.members import with_members
from queenright.core.kinds.registry import kind_of
from queenright.core.manifest.document import Document
from queenright.core.observed import Observed, SwarmState, cluster_of
from queenright.core.planning.faults import DocumentKey

K = TypeVar("K")
T = TypeVar("T")


class NotAskedError(BaseException):
    """A plan needs more than was asked. No ``Exception``: no rule, guard or memory may take it for
    an answer, or for a fault."""


class Limited(Mapping[K, T]):
    """The answers to what was asked. ``covers`` tells for another key that it was asked as well,
    and has no answer."""

    __slots__ = ("_covers", "_found")

    def __init__(self, found: Mapping[K, T], covers: Callable[[K], bool]) -> None:
        self._found = found
        self._covers = covers

    def __getitem__(self, key: K) -> T:
        if key not in self._found and not self._covers(key):
            raise NotAskedError(str(key))
        return self._found[key]

    def __iter__(self) -> Iterator[K]:
        raise NotAskedError("all")

    def __len__(self) -> int:
        raise NotAskedError("all")


def clusters_in(desired: Mapping[DocumentKey, Desired]) -> frozenset[str]:
    """Return the names of the clusters whose members were asked."""
    return frozenset(key.name for key in with_members(desired))


def limited(
    observed: Observed,
    desired: Mapping[DocumentKey, Desired],
    swarm: SwarmState,
    documents: Sequence[Document],
) -> Observed:
    """Return the observation for the plans of documents whose ``desired`` state was computed. The
    swarm is whole, and so are the jobs' output and what the process remembers."""
    clusters = {document.name for document in documents if kind_of(document).has_members}
    unasked = clusters - clusters_in(desired)
    services = [swarm.service(s.name) for one in desired.values() for s in one.services]
    tasks = {task.id for live in services if live is not None for task in swarm.tasks_of(live.id)}

    def is_no_others_member(key: str) -> bool:
        return cluster_of(key) not in unasked

    def is_no_other(key: str) -> bool:
        return key not in unasked

    return replace(
        observed,
        members=Limited(observed.members, is_no_others_member),
        raft=Limited(observed.raft, is_no_others_member),
        settings=Limited(observed.settings, is_no_other),
        catalogs=Limited(observed.catalogs, is_no_other),
        archiving=Limited(observed.archiving, is_no_other),
        history=Limited(observed.history, is_no_other),
        leader_locations=Limited(observed.leader_locations, is_no_other),
        holders=Limited(observed.holders, is_no_other),
        readiness=Limited(observed.readiness, lambda task_id: task_id in tasks),
        images=Limited(observed.images, lambda _: False),
    )
