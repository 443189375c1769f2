"""Takes back this member's word that it bootstraps the cluster, after it ended in the middle.

Patroni writes an empty `initialize` key when a bootstrap begins, and removes it when that fails; if
the container was killed in between, the key stays, and nobody would ever begin again. A process of
its own removes it through Raft, as `patronictl` would, as soon as there is a quorum.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

import yaml

TRIES, PAUSE_S = 60, 2.0


def give_up_beside(config: Path) -> None:
    """Start the process that removes the key, which ends by itself.

    Forked twice, so that Patroni has no child that it does not know.
    """
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            return  # `finally` ends it
        give_up(yaml.safe_load(config.read_text(encoding="utf-8")))
    except BaseException as error:  # noqa: BLE001 - the process has no other way to say it
        print(f"WARNING: the bootstrap's key is not removed: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(0)


def give_up(config: dict[str, Any], pause_s: float = PAUSE_S) -> None:
    """Remove the key, if no cluster was initialised, once Raft shows it.

    Where the member's next bootstrap has written it meanwhile, its removal harms nothing: Patroni
    writes the key anew when that has come to its end, and no other member has a bootstrap section.
    """
    from patroni.dcs import get_dcs  # noqa: PLC0415 - only here, it takes half a second

    dcs = get_dcs({**config, "patronictl": True})
    for _ in range(TRIES):
        try:
            key = dcs.get_cluster().initialize
            if key or (key == "" and dcs.cancel_initialization()):
                return
        except Exception as error:  # noqa: BLE001 - of Raft's; it may have no quorum yet
            print(f"WARNING: the bootstrap's key is not removed yet: {error}", file=sys.stderr)
        time.sleep(pause_s)
