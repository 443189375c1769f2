"""Triggers of the loop besides its timer: a file edit, a Docker event, a change at a member.

Watchers only wake the loop; a pass observes everything itself. Invariant: no failure ends a
watcher, and a watcher that misses events costs only latency.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

import anyio
import structlog
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint

from queenright.core.audit.record import Trigger
from queenright.core.observed import Known, MemberStatus, Unknown, cluster_of
from queenright.engine.document_store import DocumentStore
from queenright.engine.trigger_queue import Wakeup
from queenright.ports import Ports
from queenright.ports.patroni import Patroni
from queenright.ports.swarm import SwarmError
from queenright.settings import PollIntervals

log = structlog.get_logger()

LISTEN_AGAIN_S = 5.0
SILENT: Final = ("unknown",)
"""The signature of a member that did not answer."""
MEMBER_S = 0.01
"""Seconds per member between two requests to one member, if that is longer than the interval: it
limits the CPU time of watching, whatever the number of members."""
FILE_S = 0.0001
"""Seconds per document between two looks at files that do not change, if that is longer than the
interval: a look costs about 5 µs of the processor per file."""
AT_ONCE = 50
"""Requests that are begun before the event loop runs what else is due."""
GATHER_S = 0.25
"""Answers that come within this time wake the loop together."""
LEADS = 4
"""The place of ``holds_lock`` in a signature."""

MemberAddress = tuple[str, str, int]
"""A member's service name, address and REST API port."""


class Trouble:
    """Logs a trouble once, not at every try; again when it is another or has been over."""

    def __init__(self, event: str) -> None:
        self._event = event
        self._told = ""

    def tell(self, error: Exception) -> None:
        text = str(error) if isinstance(error, SwarmError) else f"{type(error).__name__}: {error}"
        if text != self._told:
            log.warning(self._event, error=text)
        self._told = text

    def is_over(self) -> None:
        self._told = ""


async def watch_files(state: DocumentStore, wakeup: Wakeup, intervals: PollIntervals) -> None:
    """Read the files again when two looks in a row found the same new state, so that a file that is
    still being written is left alone. The first look that finds another state than the one that was
    read tells that an edit comes."""
    trouble = Trouble("files can't be watched; falling back to the timer")
    before: str | None = None
    while True:
        try:
            now = await state.fingerprint()
            if now == before and now != state.read_fingerprint:
                wakeup.notify(await state.refresh())
            elif now != before and before == state.read_fingerprint:
                state.changing()
            before = now
            trouble.is_over()
        except Exception as error:  # noqa: BLE001  # a watcher outlives whatever happens in a round
            trouble.tell(error)
        is_quiet = before == state.read_fingerprint
        rest_s = FILE_S * len(state.documents) if is_quiet else 0.0
        await anyio.sleep(max(intervals.file_poll_s, rest_s))


async def watch_swarm(ports: Ports, wakeup: Wakeup) -> None:
    """Follow Docker's events, and follow again whenever the stream ends. A failure is logged once,
    not at every try."""
    trouble = Trouble("Docker event stream unavailable; falling back to the timer")
    while True:
        try:
            async with aclosing(ports.swarm.events()) as events:
                async for text in events:
                    wakeup.notify(Trigger("docker", text), names_in(text))
                    trouble.is_over()
        except Exception as error:  # noqa: BLE001  # as above
            trouble.tell(error)
        await anyio.sleep(LISTEN_AGAIN_S)


def names_in(event: str) -> frozenset[str] | None:
    """Return the name of the object that an event is about; None for a node, which may concern
    every document."""
    kind, _, rest = event.partition(" ")
    name = rest.partition(" ")[0]
    return None if kind == "node" or not name else frozenset({name})


@dataclass
class MemberWatch:
    """Ask every deployed member for its status, and wake the loop at the first answer and at every
    changed one, because a pass may have seen an older status. A silent member delays no request to
    another one."""

    patroni: Patroni
    wakeup: Wakeup
    members: Callable[[], Sequence[MemberAddress]]
    known: dict[str, tuple[object, ...]] = field(default_factory=dict)
    failing: dict[str, Exception] = field(default_factory=dict)
    """Members that can't be asked because of a fault in the operator."""
    asked: dict[str, anyio.Event] = field(default_factory=dict)
    """Members with an open request."""
    changed: set[str] = field(default_factory=set)
    is_gathering: bool = False

    def is_silent(self, name: str) -> bool:
        """Return True if the member of this service name did not answer the last question."""
        return self.known.get(name) == SILENT

    async def run(self, intervals: PollIntervals) -> None:
        trouble = Trouble("member can't be watched; falling back to the timer")
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch_leaders, intervals, group)
            while True:
                await anyio.sleep(self._apart_s(intervals))
                try:
                    await self._round(group)
                    if self.failing:
                        trouble.tell(min(self.failing.values(), key=str))
                    else:
                        trouble.is_over()
                except Exception as error:  # noqa: BLE001  # as above
                    trouble.tell(error)

    def _apart_s(self, intervals: PollIntervals) -> float:
        return max(intervals.member_poll_s, len(self.known) * MEMBER_S)

    async def _watch_leaders(self, intervals: PollIntervals, group: TaskGroup) -> None:
        """Ask every leader whether it leads still, where there are so many members that each is
        asked seldom. The question costs little."""
        trouble = Trouble("leaders can't be watched; falling back to the members' own rounds")
        while True:
            await anyio.sleep(intervals.member_poll_s)
            try:
                if self._apart_s(intervals) > intervals.member_poll_s:
                    await self._leaders_round(group)
                trouble.is_over()
            except Exception as error:  # noqa: BLE001  # as above
                trouble.tell(error)

    async def _leaders_round(self, group: TaskGroup) -> None:
        """Ask all leaders of the last answers, and the members of clusters of which none leads,
        those that had one first: at most ``AT_ONCE``, as in a whole swarm that is cut off."""
        present = self.members()
        leaders = {
            (address, port): cluster_of(name)
            for name, address, port in present
            if (found := self.known.get(name)) is not None and found[LEADS:][:1] == (True,)
        }
        leading = await self.patroni.leading(tuple(leaders)) if leaders else frozenset()
        led = {cluster for place, cluster in leaders.items() if place in leading}
        lost, idle = {*leaders.values()} - led, self.known.keys() - self.asked.keys()
        doubtful = [
            member for member in present if member[0] in idle and cluster_of(member[0]) not in led
        ]
        doubtful.sort(key=lambda member: cluster_of(member[0]) not in lost)
        for member in doubtful[:AT_ONCE]:
            self._begin(member, group)

    def _begin(self, member: MemberAddress, group: TaskGroup) -> None:
        self.asked[member[0]] = anyio.Event()
        group.start_soon(self._ask, *member)

    async def _round(self, group: TaskGroup) -> None:
        """Ask everyone without an open request; wake once for all quick answers."""
        present = self.members()
        names = {name for name, _, _ in present}
        self.known = {name: answer for name, answer in self.known.items() if name in names}
        self.failing = {name: error for name, error in self.failing.items() if name in names}
        self.is_gathering = True
        for number, member in enumerate(present):
            if member[0] not in self.asked:
                self._begin(member, group)
            if number % AT_ONCE == AT_ONCE - 1:
                await checkpoint()
        with anyio.move_on_after(GATHER_S):
            for waited in list(self.asked.values()):
                await waited.wait()
        self.is_gathering = False
        self._wake()

    async def _ask(self, name: str, address: str, port: int) -> None:
        reading: Known[MemberStatus] | Unknown
        try:
            reading = await self.patroni.status(address, port)
            self.failing.pop(name, None)
        except Exception as error:  # noqa: BLE001  # as above
            self.failing[name] = error
            reading = Unknown(str(error))
        found = signature(reading)
        if self.known.get(name) != found:
            self.changed.add(name)
        self.known[name] = found
        self.asked.pop(name).set()
        if not self.is_gathering:
            self._wake()

    def _wake(self) -> None:
        if self.changed:
            names = sorted(self.changed)
            self.wakeup.notify(Trigger("member", ", ".join(names)), names)
            self.changed.clear()


def signature(reading: Known[MemberStatus] | Unknown) -> tuple[object, ...]:
    """Return the part of a member's status that matters: not its WAL position, which always
    moves."""
    if isinstance(reading, Unknown):
        return SILENT
    status = reading.value
    return (
        status.state,
        status.role,
        status.timeline,
        status.replication_state,
        status.holds_lock,
        status.paused,
        status.pending_restart,
        status.synchronous,
    )
