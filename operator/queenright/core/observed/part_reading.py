"""A reading of the swarm in which some documents' objects were read again.

Pure. An object belongs to the document whose name it has before the first underscore (decision 10).
One that has no underscore belongs to none: the readings of a part don't list it, and it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace
from operator import is_
from typing import Any

from queenright.core.observed.swarm import SwarmState


def has_owner(owners: Set[str]) -> Callable[[str], bool]:
    """Return a test for the names of objects that belong to one of these documents."""
    beginnings = tuple(f"{owner}_" for owner in owners)
    return lambda name: name.startswith(beginnings)


def with_part(last: SwarmState, fresh: SwarmState, owners: Set[str]) -> SwarmState:
    """Return the last reading with the services, tasks and configs of these documents as they are
    in ``fresh``, and all its nodes, networks and secrets. The tasks of a service that is gone stay
    as they were: whether they still run is for a reading of everything to say."""
    is_owned = has_owner(owners)
    ids = {live.id for live in fresh.services if is_owned(live.value.name)}
    return replace(
        fresh,
        services=merged(last.services, fresh.services, lambda live: is_owned(live.value.name)),
        configs=merged(last.configs, fresh.configs, lambda live: is_owned(live.value.name)),
        tasks=merged(last.tasks, fresh.tasks, lambda task: task.service_id in ids),
        unreadable=last.unreadable,
    )


def merged(
    last: tuple[Any, ...], fresh: tuple[Any, ...], is_read: Callable[[Any], bool]
) -> tuple[Any, ...]:
    """Return the objects that were not read again, and those of the fresh ones that were: each at
    its former place. A list in which nothing has changed is the last one itself, of which nobody
    has to make anything anew."""
    found = {one.id: one for one in fresh if is_read(one)}
    kept = list(last)
    for place in reversed([place for place, one in enumerate(last) if is_read(one)]):
        if (now := found.pop(last[place].id, None)) is None:
            del kept[place]
        else:
            kept[place] = now
    kept += found.values()
    if len(kept) == len(last) and all(map(is_, kept, last)):
        return last
    return tuple(kept)
