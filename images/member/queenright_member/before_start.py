"""Has Patroni put the data in order before each start of its PostgreSQL.

The container's entry point is not enough: Patroni starts PostgreSQL again by itself, after a
promotion that it gave up, a rewind or a crash. Invariant: whatever fails here keeps no PostgreSQL
from starting, and nothing is done while one runs.
"""

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .used_timelines import forget

logger = logging.getLogger(__name__)


def put_in_order(data: Path) -> None:
    """Remove what would keep the member from following its leader; a failure is a warning."""
    try:
        for number in forget(data / "pg_wal"):
            logger.info("timeline %s is not skipped any more: no promotion came after", number)
    except (OSError, ValueError) as error:
        logger.warning("skipped timelines are not forgotten: %s", error)


def prepare_starts(kind: Any, prepare: Callable[[Path], None] = put_in_order) -> None:
    """Have Patroni's class ``Postgresql`` put the data in order before it starts one."""
    start = kind.start

    def start_in_order(self: Any, *given: Any, **named: Any) -> Any:
        if not self.is_running():
            prepare(Path(self.data_dir))
        return start(self, *given, **named)

    kind.start = start_in_order


def make_orderly() -> None:
    """Have the Patroni that this process becomes do so; PID 1 only starts it."""
    if os.getpid() == 1:
        return
    from patroni.postgresql import Postgresql  # noqa: PLC0415 - Patroni sets the umask here

    prepare_starts(Postgresql)
