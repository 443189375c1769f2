"""Keeps a member from leading after a loss of all members until it has heard the others' positions.

Patroni lets a member that is ahead go first, but asks only the members that it knows, and one that
does not answer, or whose PostgreSQL still starts, keeps nobody from leading. After a loss of power
of all nodes a quorum then elects before the member with the newest rows is back. So a Patroni that
has never led or streamed since it started asks all its partners before it takes the leader lock:
one that is silent is waited for `SILENT_S`, one that answers, and may be ahead, `ALIVE_S`.

Invariant: a member that has led or streamed waits for nobody, so that a failover takes no longer
than before; no wait is without a limit; and a leader that is asked for by name does not wait.
"""

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer
from typing import Any

from .fence import STREAMS, answer_of, hosts_of
from .findings import TAG
from .raft_wait import END_TAG, FINDING, address_in

SILENT_S, ALIVE_S = 60.0, 120.0
STEP_S, WAKE_S, ANSWER_S = 1.0, 1.1, 2.0
"""The least time between two looks, the time to the next, and the limit of an answer."""
SILENT = "does not answer"
STARTING = "is starting"
MOVES = "still reads its WAL"
LEADS = "says that it leads"
STRANGE = "gives an answer that is not Patroni's"
UNKNOWN = "waits with data whose end is unknown"

Position = tuple[int, int]
"""A timeline, and a position in the WAL in bytes."""
Ask = Callable[[str], Mapping[str, Any]]

logger = logging.getLogger(__name__)


def position_of(answer: Mapping[str, Any]) -> Position | str | None:
    """Return where the data of a member end, by its answer on ``/patroni``; a text where that is
    not known yet, and None for one that can't lead."""
    try:
        return read(answer)
    except (TypeError, ValueError):
        return STRANGE


def read(answer: Mapping[str, Any]) -> Position | str | None:
    """Do what ``position_of`` does; TypeError or ValueError where numbers are expected and others
    are there."""
    tags = answer.get("tags")
    tags = tags if isinstance(tags, dict) else {}
    if not answer:
        return SILENT
    if tags.get("nofailover") or answer.get("role") == "uninitialized":
        return None
    if tags.get(TAG) == FINDING:
        return end_in(tags.get(END_TAG)) or UNKNOWN
    if tags.get(TAG):
        return None  # its PostgreSQL will not start
    wal = answer.get("xlog")
    if not isinstance(wal, dict):
        return STARTING
    if wal.get("location") or answer.get("role") in {"primary", "master"}:
        return LEADS
    places = ("received_location", "replayed_location")
    return int(answer.get("timeline") or 0), max(int(wal.get(name) or 0) for name in places)


def end_in(end: object) -> Position | None:
    """The end of the data that a member with a lost Raft log tells; None where it can't tell it."""
    if not isinstance(end, dict) or "timeline" not in end or "location" not in end:
        return None
    return int(end["timeline"]), int(end["location"])


def why_not(mine: Position, others: Mapping[str, Position | str | None], waited_s: float) -> str:
    """Return why a member with this position does not lead yet; empty where it may."""
    for name, found in sorted(others.items()):
        limit_s = SILENT_S if found == SILENT else ALIVE_S
        if waited_s >= limit_s:
            continue
        if isinstance(found, str):
            return f"{name} {found}; it is waited for until {limit_s:.0f} s have passed"
        if found is not None and found > mine:
            return f"{name} is ahead; it goes first until {limit_s:.0f} s have passed"
    return ""


class FirstRace:
    """The members that one Patroni has to hear before it leads for the first time."""

    def __init__(
        self, partners: Iterable[str], ask: Ask, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.partners, self.ask, self.clock = list(partners), ask, clock
        self.has_followed = False
        self.since_s: float | None = None
        self.looked_s = float("-inf")
        self.before: dict[str, Position | str | None] = {}
        self.said = ""

    def note(self, ha: Any) -> None:
        """Note whether this Patroni leads, or streams from a leader."""
        try:
            self.has_followed |= ha.is_leader() or ha.state_handler.replication_state() == STREAMS
        except Exception:  # noqa: BLE001 - Patroni's own, where PostgreSQL does not run
            return

    def is_over(self, ha: Any) -> bool:
        """Return True if this Patroni may take the leader lock, which it thinks it should."""
        if self.has_followed or not self.partners:
            return True
        if ha.is_paused() or ha.cluster.failover or ha.sync_mode_is_active():
            return True
        now_s = self.clock()
        self.since_s = now_s if self.since_s is None else self.since_s
        if now_s - self.looked_s < STEP_S:
            return False  # woken by something else; a position that stays needs some time to show
        self.looked_s = now_s
        mine = (ha._last_timeline or 0, ha.state_handler.last_operation())  # noqa: SLF001
        why = why_not(mine, self.heard(mine), now_s - self.since_s)
        if why and why != self.said:
            logger.info("does not lead yet (%s)", why)
        self.said = why
        if why:
            timer = Timer(WAKE_S, ha.wakeup)
            timer.daemon = True
            timer.start()
        return not why

    def heard(self, mine: Position) -> Mapping[str, Position | str | None]:
        """Ask all partners at once; a position counts when it is the same at two looks."""
        with ThreadPoolExecutor(len(self.partners)) as pool:
            answers = pool.map(self.ask, self.partners)
            found = dict(zip(self.partners, map(position_of, answers), strict=True))
        found["this member"] = mine
        moved = {name for name, at in found.items() if at != self.before.get(name)}
        self.before = found
        return {
            name: MOVES if name in moved and isinstance(at, tuple) else at
            for name, at in found.items()
        }


def hear_first(kind: Any, race: FirstRace) -> None:
    """Have Patroni's class ``Ha`` keep to the race."""
    decide, run_cycle = kind.is_healthiest_node, kind.run_cycle

    def is_healthiest_node(self: Any) -> bool:
        return bool(decide(self)) and race.is_over(self)

    def run_and_note(self: Any) -> str:
        said = str(run_cycle(self))
        if not race.has_followed:
            race.note(self)
        return said

    kind.is_healthiest_node, kind.run_cycle = is_healthiest_node, run_and_note


def keep_to_it() -> None:
    """Have the Patroni that this process becomes keep to the race; PID 1 only starts it."""
    if os.getpid() == 1:
        return
    from patroni import api  # noqa: F401, PLC0415 - Patroni's modules are in a circle from `ha` on
    from patroni.ha import Ha  # noqa: PLC0415

    hear_first(Ha, of_this_member())


def of_this_member() -> FirstRace:
    """The race of the member whose Patroni this process becomes, by its environment and file."""
    port = address_in(Path(sys.argv[1]))[1]
    hosts = hosts_of(json.loads(os.environ["RAFT_PARTNERS"]))
    return FirstRace(hosts, lambda host: answer_of(host, port, ANSWER_S))
