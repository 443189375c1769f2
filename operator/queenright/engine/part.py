"""A pass over the documents that were just edited, before the full pass over all.

Plans them as the full pass would, from a new reading of the swarm and of their own members, and
leaves to it what needs more. Invariant: a full pass follows at once, whatever was done here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from queenright.engine.world import Ports

MOST_EDITED = 8
"""Documents that are planned before the full pass; of more the full pass takes care alone."""


@dataclass
class Edits:
    """The documents of the last full pass, to find the edited ones."""

    _planned: tuple[Document, ...] = field(default=(), init=False)

    def take(self, documents: tuple[Document, ...]) -> tuple[Document, ...]:
        """Return the documents that were edited since the last call, with those that they rest on:
        these first. None at the start, or where many were edited."""
        before, self._planned = self._planned, documents
        if not before or before is documents:
            return ()
        known = {id(document) for document in before}
        edited = [document for document in documents if id(document) not in known]
        if len(edited) > MOST_EDITED:
            return ()
        keys = {key_of(document) for document in edited}
        keys |= {needed for document in edited if (needed := needed_by(document)) is not None}
        found = [document for document in documents if key_of(document) in keys]
        return tuple(document for kind in KINDS.values() for document in of_kind(kind, found))


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
    return await act(ports, found, memory, terms, fresh_s=FRESH_S)


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
