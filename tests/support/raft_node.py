"""A program: one real Raft node (pysyncobj) with a store, configured as Patroni configures its own.

`raft_node.py OWN PARTNERS DIRECTORY [PASSWORD]`; a line `put N [VALUE]` on standard input commits
entries, `compact` makes a dump and empties the journal of what is in it, `show FILE` writes the
keys and values that the node has applied.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from pysyncobj import SyncObj, SyncObjConf, replicated


class Store(SyncObj):  # type: ignore[misc]  # pysyncobj has no types
    """Patroni's ``KVStoreTTL`` without the times."""

    def __init__(self, own: str, partners: list[str], directory: str, password: str | None) -> None:
        stem = os.path.join(directory, own)  # noqa: PTH118 - as Patroni does
        conf = SyncObjConf(
            password=password,
            autoTick=False,
            appendEntriesUseBatch=False,
            commandsWaitLeader=False,
            fullDumpFile=f"{stem}.dump",
            journalFile=f"{stem}.journal",
            dynamicMembershipChange=True,
        )
        super().__init__(own, partners, conf)
        self.kept: dict[str, Any] = {}

    @replicated  # type: ignore[untyped-decorator]  # as above
    def put(self, key: str, value: str) -> None:
        self.kept[key] = value


def commit(store: Store, count: int, value: str) -> None:
    """Commit entries one after another, each tried until a leader takes it."""
    for number in range(count):
        done = threading.Event()
        while not done.is_set():
            store.put(
                f"/service/main/members/{number}",
                value,
                callback=lambda _, error, done=done: None if error else done.set(),
            )
            done.wait(1)


def main() -> None:
    own, partners, directory, *password = sys.argv[1:]
    store = Store(own, partners.split(","), directory, password[0] if password else None)

    def tick() -> None:
        while True:
            store.doTick(0.05)

    threading.Thread(target=tick, daemon=True).start()
    for line in sys.stdin:
        match line.split():
            case ["put", count, *value]:
                commit(store, int(count), value[0] if value else "x" * 200)
            case ["show", file]:
                Path(file).write_text(json.dumps(store.kept))
            case ["compact"]:
                store.forceLogCompaction()
        print("done", flush=True)
    while True:
        time.sleep(1)


if __name__ == "__main__":
    main()
