"""A pass over some documents: those that were edited, or that an event or an answer names.

Plans them as the full pass would, from a new reading of the swarm and of their own members, and
leaves to it what needs more. Invariant: a full pass follows, whatever was done here
(``engine/full_passes`` tells when).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from queenright.core.kinds.registry import KINDS, key_of, needed_by, of_kind
from queenright.core.manifest.document import Document
from queenright.core.observed import Known
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.preflight import engine_hold
from queenright.engine.execute import FRESH_S, is_stale
from queenright.engine.give_way import give_way
from queenright.engine.limited import Limited, NotAskedError, clusters_in, limited
from queenright.engine.observe import observe
from queenright.engine.planning import PlannedObject, PlannedPass, Planning
from queenright.engine.reconcile import LoopState, PassResult, Terms, act
from queenright.ports import Ports

MOST_CHANGED = 8
"""Documents that are planned before the full pass; of more the full pass takes care alone."""


@dataclass
class Changes:
    """The documents of the last pass, to find the edited ones."""

    _planned: tuple[Document, ...] = field(default=(), init=False)

    def take(
        self, documents: tuple[Document, ...], names: AbstractSet[str] = frozenset()
    ) -> tuple[Document, ...] | None:
        """Return the documents that were edited since the last call, or to which one of ``names``,
        of objects in the swarm, belongs; with those that they rest on: these first. None at the
        start, or where many have changed: that is a matter for the full pass alone."""
        before, self._planned = self._planned, documents
        if not before:
            return None
        known = {id(document) for document in before} if before is not documents else None
        owners = owners_of(names)
        changed = [
            document
            for document in documents
            if document.name in owners or (known is not None and id(document) not in known)
        ]
        if len(changed) > MOST_CHANGED:
            return None
        keys = {key_of(document) for document in changed}
        keys |= {needed for document in changed if (needed := needed_by(document)) is not None}
        found = [document for document in documents if key_of(document) in keys]
        return tuple(document for kind in KINDS.values() for document in of_kind(kind, found))


def owners_of(names: AbstractSet[str]) -> frozenset[str]:
    """Return the names that the documents of these objects have, if there are any: an object is
    called as its document, and what follows an underscore (decision 10)."""
    return frozenset(name.partition("_")[0] for name in names)


async def reconcile_part(
    ports: Ports,
    documents: Sequence[Document],
    part: Sequence[Document],
    memory: LoopState,
    terms: Terms,
) -> PassResult | None:
    """A pass over some of the documents, in the order of their kinds. None if the swarm can't be
    read, or it took too long: the full pass, which has more patience, then decides."""
    memory.absences.note(documents, ports.clock.monotonic_s())
    attempts = memory.attempts.as_of(ports.clock.monotonic_s())
    memory.faults.begin()
    began_s = anyio.current_time()
    look = await observe(
        ports,
        documents,
        attempts,
        faults=memory.faults,
        remembered=memory.remembered,
        part=part,
    )
    swarm = look.observed.swarm
    if not isinstance(swarm, Known) or engine_hold(swarm.value.engine) or is_stale(began_s):
        return None
    seen = await memory.with_memory(
        look.observed, ports.clock.monotonic_s(), clusters_in(look.desired)
    )
    await give_way()
    keys = frozenset(map(key_of, part))
    look = replace(
        look,
        observed=limited(seen, look.desired, swarm.value, documents),
        desired=Limited(look.desired, keys.__contains__),
        began_s=began_s,
    )
    await give_way()
    now = ports.clock.now()
    planning = Planning(documents, look, now, terms.ruleset, memory.faults, memory.remembered)
    views = tuple(views_of(planning, part))
    found = PlannedPass(look.observed, views, began_s)
    result = await act(ports, found, memory, terms, fresh_s=FRESH_S)
    result.left |= keys - {view.key for view in views}
    return result


def views_of(planning: Planning, part: Sequence[Document]) -> Iterator[PlannedObject[Any]]:
    """Yield the views of those documents that can be planned from what was asked. One that rests on
    a document which can't is left to the full pass, too."""
    left: set[DocumentKey] = set()
    swarm = planning.swarm
    for document in part:
        if needed_by(document) in left:
            left.add(key_of(document))
            continue
        try:
            yield planning.described(document, swarm)
        except NotAskedError:
            left.add(key_of(document))
