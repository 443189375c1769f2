"""Ends the member's process with its Raft node.

Patroni runs its Raft node in a thread, and goes on where that has ended: a node that can't store a
term, since its disk is full, is silent from then on. Its member then has no place in the cluster,
answers its health check, and stays so when there is room again (seen on the lab). A process that
ends is started again, and tells by its exit status that there was no room.
"""

import os
import sys
import traceback
from typing import Any

from .findings import is_full
from .inputs import NO_ROOM, OTHERWISE


def end_with(store: Any) -> None:
    """Have the process end where the thread of Patroni's class ``KVStoreTTL`` fails.

    PostgreSQL ends with the container, as in a crash: a clean stop would wait for the Raft node,
    and for room on the disk.
    """
    run = store._autoTickThread  # noqa: SLF001 - of the library

    def run_or_end(self: Any) -> None:
        try:
            run(self)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the node has ended
            traceback.print_exc()
            print(f"FATAL: the Raft node has ended: {error}", file=sys.stderr, flush=True)
            os._exit(NO_ROOM if isinstance(error, OSError) and is_full(error) else OTHERWISE)

    store._autoTickThread = run_or_end  # noqa: SLF001 - of the library


def end_with_raft() -> None:
    """Have the Patroni that this process becomes end with its Raft node; PID 1 only starts it."""
    if os.getpid() == 1:
        return
    from patroni.dcs.raft import KVStoreTTL  # noqa: PLC0415 - Patroni sets the umask there

    end_with(KVStoreTTL)
