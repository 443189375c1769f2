"""Takes back this member's word that it bootstraps the cluster, after it ended in the middle.

Patroni writes an empty `initialize` key when a bootstrap begins, and removes it when that fails; if
the container was killed in between, the key stays, and nobody would ever begin again. A process of
its own removes it through Raft, as `patronictl` would, as soon as there is a quorum.
"""

import os
import sys
from pathlib import Path
from typing import Any

import yaml


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


def give_up(config: dict[str, Any]) -> None:
    """Remove the key if no cluster was initialised."""
    from patroni.dcs import get_dcs  # noqa: PLC0415 - only here, it takes half a second

    dcs = get_dcs({**config, "patronictl": True})
    if dcs.get_cluster().initialize == "":
        dcs.cancel_initialization()
