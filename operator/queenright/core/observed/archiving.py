"""The leader's answer about its WAL archiving: what is archived, and what waits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Archiving:
    """Archiving on a leader. All moments are by the leader's own clock; ``at`` is its present.

    ``waiting`` counts files that are finished and not archived yet, ``waiting_since`` is when the
    oldest of them was finished. They are what PostgreSQL has in `pg_wal`, so that they grow
    whatever the reason is for which nothing is archived; its counter of failures leaves some out.
    """

    at: datetime
    is_on: bool
    """False where the server was started without ``archive_mode``."""
    last_wal: str = ""
    last_at: datetime | None = None
    failed_wal: str = ""
    failed_at: datetime | None = None
    waiting: int = 0
    waiting_bytes: int = 0
    waiting_since: datetime | None = None
    why: str = ""
    """Cause of the last failure, as the member's program says it; empty where it did not fail."""
    system: str = ""
    """Identifier of the database system, by which the repository's folder is named."""

    @property
    def last_age(self) -> timedelta | None:
        """Time since a file was archived; None where this server has archived none."""
        return None if self.last_at is None else max(self.at - self.last_at, timedelta(0))

    @property
    def waiting_age(self) -> timedelta:
        """Time for which the oldest waiting file has waited."""
        since = self.waiting_since
        return timedelta(0) if since is None else max(self.at - since, timedelta(0))

    @property
    def is_failing(self) -> bool:
        """Return True if the last try failed, and what failed still waits."""
        if self.failed_at is None or not self.waiting:
            return False
        return self.last_at is None or self.failed_at > self.last_at
