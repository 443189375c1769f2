"""The part of the checkpoints that handlers may use."""

from typing import Protocol
from uuid import UUID

from notes.edits.live import LiveDocuments


class Pending(Protocol):
    """Saves edits that wait, and keeps parsed documents."""

    live: LiveDocuments

    def note(self, node_id: UUID) -> None: ...
    async def save(self, node_id: UUID) -> None: ...
