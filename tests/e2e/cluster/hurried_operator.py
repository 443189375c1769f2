"""``queenright run`` that waits less between two changes of Raft's voters.

For tests that are not about that wait, a minute a change: what is committed is on disk by then, and
they cut no power.
"""

from __future__ import annotations

from datetime import timedelta

from queenright.cli.main import main
from queenright.core.kinds.postgres_cluster.topology import adding, guards, settled

LASTS = timedelta(seconds=10)
ON_DISK_S = 8.0

if __name__ == "__main__":
    assert adding.LASTS == settled.LASTS > LASTS
    assert settled.LASTS.total_seconds() > guards.ON_DISK_S > ON_DISK_S
    adding.LASTS = settled.LASTS = LASTS
    guards.ON_DISK_S = ON_DISK_S
    main(["run"], prog_name="queenright")
