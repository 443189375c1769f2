"""Keeps a member that began a Raft log anew from leading until it streams from a leader.

With Raft's log its history of timelines is lost, too, by which Patroni tells old data from new. The
operator has compared the ends of all members' data and named the one that leads on; all others
start with Patroni's tag ``nofailover``, and so does one that waited with a lost log and has it from
those that began anew. A small process beside Patroni has it take the tag away (SIGHUP, which makes
Patroni read its file again) when this member streams. Invariant: the fence is on the disk before
Patroni starts: no restart ends it.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import yaml

from .raft_anew import BEGAN_TAG
from .raft_aside import sync_directory

STEP_S, ANSWER_S = 2.0, 5.0
ANSWER_BYTES = 1 << 20
STREAMS = "streaming"


def fenced(text: str) -> str:
    """Patroni's configuration with the tag."""
    configuration = yaml.safe_load(text)
    if not isinstance(configuration, dict):
        return text  # Patroni says what is wrong with it
    tags = configuration.get("tags")
    configuration["tags"] = {**(tags if isinstance(tags, dict) else {}), "nofailover": True}
    return str(yaml.safe_dump(configuration, sort_keys=False))


def lift_beside(config: Path, open_text: str, fence: Path, port: int) -> None:
    """Start the process that ends the fence, for the one that calls this, which then becomes
    Patroni. Forked twice, so that Patroni has no child that it does not know."""
    patroni = os.getpid()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            return  # `finally` ends it
        while not streams(port):
            time.sleep(STEP_S)
            os.kill(patroni, 0)  # it ends with Patroni
        lift(config, open_text, fence)
        os.kill(patroni, signal.SIGHUP)
    except BaseException as error:  # noqa: BLE001 - the process has no other way to say it
        print(f"WARNING: nofailover is not taken away: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(0)


def lift(config: Path, open_text: str, fence: Path) -> None:
    """Give Patroni the configuration without the tag, and end the fence on the disk."""
    new = config.with_name(f"{config.name}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(open_text)
    new.replace(config)
    fence.unlink(missing_ok=True)
    sync_directory(fence.parent)


def streams(port: int) -> bool:
    """Return True if this member's own Patroni says that it streams from a leader."""
    return answer_of("127.0.0.1", port).get("replication_state") == STREAMS


def any_began(partners: Iterable[str], port: int) -> bool:
    """Return True if a partner (``host:port`` of its Raft node) says that its log began anew: the
    operator has then compared all members' data, and this one may not lead before it streams."""
    tags = (answer_of(host, port).get("tags") for host in hosts_of(partners))
    return any(isinstance(found, dict) and BEGAN_TAG in found for found in tags)


def hosts_of(partners: Iterable[str]) -> list[str]:
    """The hosts of Raft nodes (``host:port``), on which their members' Patroni answers, too."""
    return [partner.rpartition(":")[0].strip("[]") for partner in partners]


def answer_of(host: str, port: int, limit_s: float = ANSWER_S) -> Mapping[str, object]:
    """The answer of a member's Patroni on ``/patroni``; empty where it gives none."""
    connection = HTTPConnection(host, port, timeout=limit_s)
    try:
        connection.request("GET", "/patroni")
        found = json.loads(connection.getresponse().read(ANSWER_BYTES))
    except (OSError, HTTPException, ValueError):
        return {}
    finally:
        connection.close()
    return found if isinstance(found, dict) else {}
