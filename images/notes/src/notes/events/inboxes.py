"""Passes messages that are not stored to the open event streams of this replica.

Invariant: a stream keeps at most one message of a kind for a page, the last one, so a slow client
needs no more memory than the pages that it reads.
"""

import asyncio
from collections.abc import Iterable
from uuid import UUID

import msgspec


class Inbox:
    """The messages that wait for one stream."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, UUID], tuple[UUID, bytes]] = {}
        self._filled = asyncio.Event()

    def put(self, kind: str, node_id: UUID, space_id: UUID, frame: bytes) -> None:
        self._waiting.pop((kind, node_id), None)
        self._waiting[kind, node_id] = (space_id, frame)
        self._filled.set()

    def take(self, space_id: UUID | None) -> bytes:
        """The messages that wait, oldest first; of one space only if it is given."""
        self._filled.clear()
        waiting, self._waiting = self._waiting, {}
        return b"".join(f for space, f in waiting.values() if space_id in {None, space})

    async def wait(self) -> None:
        await self._filled.wait()


class Inboxes:
    """The inboxes of the open streams, by their users."""

    def __init__(self) -> None:
        self._of: dict[UUID, set[Inbox]] = {}

    def open(self, person: UUID) -> Inbox:
        inbox = Inbox()
        self._of.setdefault(person, set()).add(inbox)
        return inbox

    def close(self, person: UUID, inbox: Inbox) -> None:
        self._of[person].discard(inbox)
        if not self._of[person]:
            del self._of[person]

    def has(self, person: UUID) -> bool:
        return person in self._of

    def send(
        self, readers: Iterable[UUID], kind: str, node_id: UUID, space_id: UUID, **data: object
    ) -> None:
        """Passes a message to the streams of people who may read the page."""
        body = msgspec.json.encode({"space_id": space_id, "node_id": node_id, **data}).decode()
        # Without an id: a client that reconnects resumes after the last stored event.
        frame = f"event: {kind}\ndata: {body}\n\n".encode()
        for person in readers:
            for inbox in self._of.get(person, ()):
                inbox.put(kind, node_id, space_id, frame)
