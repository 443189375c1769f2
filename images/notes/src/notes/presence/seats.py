"""The tabs that have pages open, and until when that is believed. Decides from its arguments alone.

Invariant: a person holds at most `SEATS` seats, so nobody can fill the memory of the replicas.
"""

from dataclasses import dataclass
from uuid import UUID

#: A tab that is not heard of for so long has gone.
FORGOTTEN_S = 30.0
SEATS = 20


@dataclass(frozen=True, slots=True)
class Place:
    """One tab of one person at one page."""

    node_id: UUID
    person: UUID
    tab: UUID


class Seats:
    """The tabs that have pages open, on all replicas."""

    def __init__(self) -> None:
        self._of_page: dict[UUID, dict[Place, float]] = {}
        # In the order in which they were last heard of.
        self._of_person: dict[UUID, dict[Place, None]] = {}

    def take(self, place: Place, now: float) -> set[UUID]:
        """Notes that a tab is at a page; returns the pages whose people have changed."""
        changed = set[UUID]()
        if not self.is_at(place.person, place.node_id):
            changed.add(place.node_id)
        held = self._of_person.setdefault(place.person, {})
        held.pop(place, None)
        held[place] = None
        self._of_page.setdefault(place.node_id, {})[place] = now + FORGOTTEN_S
        for oldest in list(held)[:-SEATS]:
            changed |= self.leave(oldest)
        return changed

    def leave(self, place: Place) -> set[UUID]:
        """Notes that a tab has left a page; returns the pages whose people have changed."""
        seats = self._of_page.get(place.node_id, {})
        if seats.pop(place, None) is None:
            return set()
        if not seats:
            del self._of_page[place.node_id]
        held = self._of_person[place.person]
        held.pop(place)
        if not held:
            del self._of_person[place.person]
        return set() if self.is_at(place.person, place.node_id) else {place.node_id}

    def expire(self, now: float) -> set[UUID]:
        """Forgets tabs that were not heard of; returns the pages whose people have changed."""
        gone = [
            place
            for seats in self._of_page.values()
            for place, until in seats.items()
            if until <= now
        ]
        return {node for place in gone for node in self.leave(place)}

    def is_at(self, person: UUID, node_id: UUID) -> bool:
        return any(place.person == person for place in self._of_page.get(node_id, ()))

    def at(self, node_id: UUID) -> list[UUID]:
        """The people at a page, each once."""
        return list(dict.fromkeys(place.person for place in self._of_page.get(node_id, ())))
