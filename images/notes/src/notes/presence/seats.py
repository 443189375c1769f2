"""The tabs that have pages open, their carets, and until when that is believed.

Decides from its arguments alone.

Invariant: a person holds at most `SEATS` seats, so nobody can fill the memory of the replicas.
"""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

import msgspec

from notes.pages.content import EditNumber

#: A tab that is not heard of for so long has gone.
FORGOTTEN_S = 30.0
SEATS = 20
#: So many carets of a page are shown; of more, the first ones.
CARETS = 20

Position = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class Caret(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The selection in an editor: positions in the page's document after its edit `seq`.

    A caret alone has the same `anchor` and `head`. Nobody checks that the document is so long.
    """

    seq: EditNumber
    anchor: Position
    head: Position


@dataclass(frozen=True, slots=True)
class Place:
    """One tab of one person at one page."""

    node_id: UUID
    person: UUID
    tab: UUID


@dataclass(frozen=True, slots=True)
class _Seat:
    until: float
    caret: Caret | None


class Seats:
    """The tabs that have pages open, on all replicas."""

    def __init__(self) -> None:
        self._of_page: dict[UUID, dict[Place, _Seat]] = {}
        self._moved = set[UUID]()
        # In the order in which they were last heard of.
        self._of_person: dict[UUID, dict[Place, None]] = {}

    def take(self, place: Place, now: float, caret: Caret | None = None) -> set[UUID]:
        """Notes that a tab is at a page; returns the pages whose people have changed."""
        changed = set[UUID]()
        if not self.is_at(place.person, place.node_id):
            changed.add(place.node_id)
        held = self._of_person.setdefault(place.person, {})
        held.pop(place, None)
        held[place] = None
        seats = self._of_page.setdefault(place.node_id, {})
        before = seats.get(place)
        if caret != (before.caret if before else None):
            self._moved.add(place.node_id)
        seats[place] = _Seat(now + FORGOTTEN_S, caret)
        for oldest in list(held)[:-SEATS]:
            changed |= self.leave(oldest)
        return changed

    def leave(self, place: Place) -> set[UUID]:
        """Notes that a tab has left a page; returns the pages whose people have changed."""
        seats = self._of_page.get(place.node_id, {})
        seat = seats.pop(place, None)
        if seat is None:
            return set()
        if seat.caret is not None:
            self._moved.add(place.node_id)
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
            for place, seat in seats.items()
            if seat.until <= now
        ]
        return {node for place in gone for node in self.leave(place)}

    def is_at(self, person: UUID, node_id: UUID) -> bool:
        return any(place.person == person for place in self._of_page.get(node_id, ()))

    def at(self, node_id: UUID) -> list[UUID]:
        """The people at a page, each once."""
        return list(dict.fromkeys(place.person for place in self._of_page.get(node_id, ())))

    def carets(self, node_id: UUID) -> dict[UUID, Caret]:
        """The carets at a page, one for each person, of `CARETS` people at most."""
        seats = self._of_page.get(node_id, {})
        found = {place.person: seat.caret for place, seat in seats.items() if seat.caret}
        return dict(list(found.items())[:CARETS])

    def moved(self) -> set[UUID]:
        """The pages whose carets have changed since this was asked last."""
        moved, self._moved = self._moved, set()
        return moved
