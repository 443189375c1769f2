"""A program: one real Raft node, made and configured as Patroni makes its own.

`raft_process.py SETTINGS`, in JSON. It prints a line when the node runs; then each line on standard
input is a request: `put VALUE` commits a value and prints True if that was done, `dump` writes a
dump.
"""

from __future__ import annotations

import json
import sys

from patroni.dcs.raft import KVStoreTTL


def main() -> None:
    settings = json.loads(sys.argv[1])
    store = KVStoreTTL(None, None, None, commandsWaitLeader=False, **settings)
    store.startAutoTick()
    print("runs", flush=True)
    for line in sys.stdin:
        match line.split():
            case ["put", value]:
                print(bool(store.set(f"/service/main/{value}", value)), flush=True)
            case ["dump"]:
                store.forceLogCompaction()


if __name__ == "__main__":
    main()
