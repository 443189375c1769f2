"""Lets a planned move release the leader lock as soon as PostgreSQL has stopped.

Patroni looks each second whether the PostgreSQL that it stops has ended, and gives replicas another
second where the control file says so before the process has. PostgreSQL takes a tenth of that, and
ends by itself only when each connected replica has confirmed all of its WAL. So Patroni looks more
often here, and waits a moment for the end of the process before it takes the slower way, which is
for one that still archives. Invariant: what Patroni does after the stop, and in which order, stays.
"""

import os
from collections.abc import Callable
from typing import Any

POLL_S = 0.1
ENDS_S = 0.3
"""The time for which a PostgreSQL whose control file says "shut down" is waited for: it sends its
replicas the rest, and ends."""

OnShutdown = Callable[[int, int], Any]
"""Called with the WAL positions of the shutdown checkpoint, and of the record before it."""


def unless_it_ends(postmaster: Any, on_shutdown: OnShutdown, limit_s: float = ENDS_S) -> OnShutdown:
    """Return what is called in place of ``on_shutdown``: nothing where the process ends in time."""

    def later(checkpoint: int, before: int) -> Any:
        from psutil import TimeoutExpired  # noqa: PLC0415 - in the image alone, with Patroni

        try:
            postmaster.wait(timeout=limit_s)
        except TimeoutExpired:
            return on_shutdown(checkpoint, before)
        return None

    return later


def look_often(module: Any) -> None:
    """Have Patroni's module ``postgresql`` see the end of a PostgreSQL soon."""
    module.STOP_POLLING_INTERVAL = POLL_S
    stop = module.Postgresql.stop

    def stop_soon(
        self: Any, *given: Any, on_shutdown: OnShutdown | None = None, **named: Any
    ) -> bool:
        postmaster = self.is_running() if on_shutdown is not None else None
        if on_shutdown is not None and postmaster:
            on_shutdown = unless_it_ends(postmaster, on_shutdown)
        return bool(stop(self, *given, on_shutdown=on_shutdown, **named))

    module.Postgresql.stop = stop_soon


def make_quick() -> None:
    """Have the Patroni that this process becomes look often; PID 1 only starts it."""
    if os.getpid() == 1:
        return
    from patroni import postgresql  # noqa: PLC0415 - Patroni sets the umask where it is imported

    look_often(postgresql)
