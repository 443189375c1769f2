"""Events as streams send them, and their places in the order of all events.

Events are ordered by (timeline, transaction, number); another epoch begins another order.
"""

from dataclasses import dataclass, field
from typing import Any, LiteralString, NamedTuple
from uuid import UUID

from psycopg.rows import DictRow

END = 2**62
"""A number after those of all events of a transaction."""
OLD_PARTS = 3

COLUMNS: LiteralString = (
    "SELECT e.timeline, e.xid::text::bigint AS xid, e.id, e.kind, e.space_id, e.node_id,"
    " e.user_id, e.data,"
    " e.xid < pg_snapshot_xmin(pg_current_snapshot()) AS settled,"
    # For a page that is deleted, has left, or is now in another space, the permissions at the
    # event's time.
    " CASE WHEN n.space_id = e.space_id AND e.kind <> 'page.left' THEN n.access_root"
    " ELSE e.access_root END AS access_root"
    " FROM events e LEFT JOIN nodes n ON n.id = e.node_id"
)


class Position(NamedTuple):
    """A place in the order of events; `epoch` changes when a new order begins."""

    epoch: int
    timeline: int
    xid: int
    id: int

    def __str__(self) -> str:
        return ".".join(map(str, self))

    @property
    def end(self) -> "Position":
        """The place after all events of the transaction."""
        return self._replace(id=END)

    @classmethod
    def parse(cls, text: str) -> "Position | None":
        parts = text.split(".")
        if not all(p.isascii() and p.isdigit() and len(p) <= len(str(END)) for p in parts):
            return None
        numbers = [int(part) for part in parts]
        if len(numbers) == OLD_PARTS:  # an id from a version without timelines
            numbers.insert(1, 0)
        if len(numbers) != len(cls._fields) or max(numbers) > END or numbers[1] >= 2**31:
            return None
        return cls(*numbers)


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `readers` tells for each user that was checked if they may see it."""

    position: Position
    kind: str
    space_id: UUID | None
    node_id: UUID | None
    user_id: UUID | None
    access_root: UUID | None
    frame: bytes
    readers: dict[UUID, bool] = field(default_factory=dict)

    def is_for(self, person: UUID) -> bool | None:
        """If a person may see it; None while that is not checked."""
        return self.readers.get(person) if self.user_id is None else person == self.user_id

    @property
    def is_internal(self) -> bool:
        """True if it concerns the people in a space, not the content that the space shows."""
        return self.kind.startswith("comment.") or self.kind == "space.members"


def event_of(epoch: int, row: DictRow) -> Event:
    """The event of a row with the `COLUMNS`."""
    position = Position(epoch, row["timeline"], row["xid"], row["id"])
    return Event(
        position,
        row["kind"],
        row["space_id"],
        row["node_id"],
        row["user_id"],
        row["access_root"],
        _frame(position, row),
    )


def _frame(position: Position, row: dict[str, Any]) -> bytes:
    ids = "".join(
        f'"{name}":"{row[name]}",' for name in ("space_id", "node_id") if row[name] is not None
    )
    data = bytes(row["data"]).decode()
    body = f"{{{ids}{data[1:]}" if data != "{}" else f"{{{ids.rstrip(',')}}}"
    return f"id: {position}\nevent: {row['kind']}\ndata: {body}\n\n".encode()
