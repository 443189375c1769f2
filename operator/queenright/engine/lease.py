"""Keep the lease: renew it, wait for it, give it up; and tell a pass if it may act.

Invariants: the right to act begins only after the audit trail has the record of the take; it is
asked again right before each action; an operator that can't reach the managers loses it by time; it
is handed over between two passes alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import anyio
import structlog

from queenright.core.audit.record import Trigger
from queenright.core.planning.lease import (
    LEASE_S,
    LOOK_S,
    OFFERED,
    RENEW_S,
    WAIT_S,
    Ages,
    Lease,
    Step,
    StoredLease,
    decide,
    offers,
)
from queenright.engine.raft_place import RaftPlace
from queenright.engine.tenure import LeasePermission, Permission, Tenure
from queenright.ports.audit import Audit
from queenright.ports.errors import ConflictError, PortError
from queenright.ports.lease import LeaseStore

log = structlog.get_logger()

GIVEN_UP = "given up at the operator's end"
HANDED_OVER = "handed over, since this node leads the managers' Raft"
AT_ONCE_S = 0.02
"""The wait after a lost race, and the shortest of all."""


@dataclass
class LeaseKeeper:
    """One operator's side of the lease. ``has_ended`` proves that a holder is no process any more;
    ``changed`` is called with a trigger when the operator begins or ceases to act."""

    store: LeaseStore
    own: Lease
    audit: Audit
    tenure: Tenure
    has_ended: Callable[[Lease], bool]
    changed: Callable[[Trigger], None] = lambda _: None
    place: RaftPlace = field(init=False)
    looked: anyio.Event = field(default_factory=anyio.Event)
    """Set after the first look, whatever came of it."""
    seen: StoredLease | None = None
    _since_s: float | None = None
    """The time at which this version of the lease, or its absence, was first seen."""
    _is_over: bool = False
    _lock: anyio.Lock = field(default_factory=anyio.Lock)
    _was_acting: bool = False
    _told: str = ""
    _trouble: str = ""

    def __post_init__(self) -> None:
        self.place = RaftPlace(self.store, self.tenure.now_s)

    def permission(self) -> Permission:
        return LeasePermission(self.tenure, self.renew)

    @property
    def is_asked(self) -> bool:
        """Return True if another operator asks for the lease that this one offers."""
        return self._offers and self.seen is not None and bool(self._wanted_of(self.seen.lease))

    @property
    def _offers(self) -> bool:
        return offers(self.place.leads_s, self.tenure.acts_s)

    def _wanted_of(self, lease: Lease) -> str:
        return lease.wanted if lease.process == self.own.process else ""

    def as_line(self) -> dict[str, object]:
        """Return the fields of the log's line `operator`."""
        holder = self.own if self.tenure.holds() else self._other
        return {"acting": self.tenure.holds(), "lease_holder": holder.host}

    async def run(self) -> None:
        """Keep the lease until cancelled. After a fault of the operator's own it runs out."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch)
            group.start_soon(self.place.run)
            await self._keep()

    async def _watch(self) -> None:
        """Record in time that the lease has run out, also while a call to the managers hangs."""
        while True:
            left_s = LEASE_S - (self.tenure.age_s or 0.0) if self.tenure.holds() else LOOK_S
            await anyio.sleep(max(AT_ONCE_S, left_s))
            if self._was_acting and not self.tenure.holds():
                self._note_change()

    async def _keep(self) -> None:
        while True:
            try:
                pause_s = await self.turn()
            except Exception:
                log.exception("lease", broken=True)
                pause_s = LOOK_S
            await anyio.sleep(pause_s)

    async def turn(self) -> float:
        """Look once, do the next step, and return the seconds until the next look."""
        async with self._lock:
            pause_s = await self._step(RENEW_S)
        self.looked.set()
        self._note_change()
        if self.is_asked:
            self.changed(Trigger("start", "another operator asks for the lease"))
        return pause_s

    async def renew(self) -> bool:
        """Renew the lease now. False if that fails, or another operator has it."""
        async with self._lock:
            before_s = self.tenure.renewed_s
            await self._step(0.0)
        self._note_change()
        return self.tenure.renewed_s is not None and self.tenure.renewed_s != before_s

    async def release(self) -> None:
        """Give the lease up, so that another operator may begin at once. A failure is no fault: the
        others wait then."""
        async with self._lock:
            self._is_over = True
            await self._give_up(GIVEN_UP)

    async def hand_over(self) -> None:
        """Give the lease to the operator that asks for it, if one does. Called between two passes:
        no action is under way. After a failure this operator goes on."""
        async with self._lock:
            if self.is_asked:
                await self._give_up(HANDED_OVER)
        self._note_change()

    async def _give_up(self, why: str) -> None:
        is_held = self.tenure.holds()
        self.tenure.end()
        if not is_held:
            return
        self._was_acting = False
        self.audit.lease(acting=False, why=why, host=self.own.host)
        try:
            seen = await self.store.read()
            if seen is not None and seen.lease.process == self.own.process:
                given_up = Lease(
                    host=self.own.host,
                    chain=self.audit.end,
                    term=seen.lease.term,
                    wanted=seen.lease.wanted,
                )
                await self.store.replace(seen, given_up)
                log.info("lease", acting=False, why=why)
        except PortError as error:
            log.warning("lease", acting=False, error=str(error), why="not given up; it runs out")

    async def _step(self, renew_s: float) -> float:
        """Read the lease, decide, and write it if that is the step."""
        if self._is_over:
            return LOOK_S
        try:
            seen = await self.store.read()
            is_first = self._since_s is None
            self._note_seen(seen)
            ages = Ages(self.tenure.age_s, self._unchanged_s())
            ended = seen is not None and self._has_ended(seen.lease)
            step = decide(
                seen,
                self.own,
                ages,
                is_first_look=is_first,
                has_ended=ended,
                renew_s=renew_s,
                may_ask=self.place.leads_s is None,
            )
            if step is Step.STOP:
                self.tenure.end()
            elif step is Step.ASK and seen is not None:
                await self.store.replace(seen, replace(seen.lease, wanted=self.own.process))
            elif step in (Step.TAKE, Step.RENEW):
                await self._write(step, seen)
        except ConflictError:
            return AT_ONCE_S
        except PortError as error:
            self._note_trouble(str(error))
            return LOOK_S
        self._note_trouble("")
        return self._pause_s(step)

    def _note_seen(self, seen: StoredLease | None) -> None:
        write, known = seen and seen.write, self.seen and self.seen.write
        if self._since_s is None or write != known:
            self._since_s = self.tenure.now_s()
        self.seen = seen

    def _unchanged_s(self) -> float:
        return 0.0 if self._since_s is None else self.tenure.now_s() - self._since_s

    def _has_ended(self, lease: Lease) -> bool:
        is_other = lease.process not in ("", self.own.process)
        return is_other and self.has_ended(lease)

    @property
    def _other(self) -> Lease:
        """Another operator's lease as it was last seen; an empty one if there is none."""
        lease = self.seen.lease if self.seen else Lease()
        return Lease() if lease.process in ("", self.own.process) else lease

    async def _write(self, step: Step, seen: StoredLease | None) -> None:
        """Take or renew the lease. The age counts from here; the record of a take is on the disk
        before the operator may act."""
        former = seen.lease if seen else Lease()
        term = former.next_term if step is Step.TAKE else former.term
        offered = OFFERED if step is Step.RENEW and self._offers else ""
        wanted = self._wanted_of(former) if offered else ""
        lease = replace(self.own, chain=self.audit.end, term=term, offered=offered, wanted=wanted)
        sent_s = self.tenure.now_s()
        if seen is None:
            await self.store.create(lease)
        else:
            await self.store.replace(seen, lease)
        if not self.tenure.holds():
            why = self._why_taken(former)
            other = None if former.process == self.own.process else former
            self.audit.lease(acting=True, why=why, host=lease.host, term=term, other=other)
        self.tenure.renew(sent_s)

    def _why_taken(self, former: Lease) -> str:
        if self.seen is None:
            return "the swarm had no lease"
        if former.process == self.own.process:
            return "renewed after it had run out"
        if not former.process:
            return "the former operator gave it up"
        if self._has_ended(former):
            return "the former operator's process has ended"
        return f"the former operator has not renewed it for {WAIT_S:g} s"

    def _pause_s(self, step: Step) -> float:
        if step in (Step.STAND_BY, Step.ASK):
            return max(AT_ONCE_S, min(LOOK_S, WAIT_S - self._unchanged_s()))
        age_s = self.tenure.age_s
        return AT_ONCE_S if age_s is None else max(AT_ONCE_S, RENEW_S - age_s)

    # -- the log: changes alone --------------------------------------------------------------

    def _note_change(self) -> None:
        """Log the beginning and the end of acting, and another holder."""
        if self._is_over:
            return
        is_acting, holder = self.tenure.holds(), self._other.host
        said = "acts" if is_acting else f"stands by for {holder}" if holder else "has no lease"
        if said == self._told:
            return
        self._told = said
        if is_acting != self._was_acting:
            self._was_acting = is_acting
            if not is_acting:
                self._record_loss()
            self.changed(Trigger("start", f"the operator on {self.own.host} {said}"))
        if is_acting:
            log.info("lease", acting=True, host=self.own.host)
        else:
            log.info("lease", acting=False, holder=holder, doing="stands by, and executes nothing")

    def _record_loss(self) -> None:
        other = self._other
        if other.process:
            why = "another operator has the lease"
            self.audit.lease(acting=False, why=why, host=self.own.host, other=other)
        else:
            why = f"not renewed in time: {self._trouble or 'no answer came in time'}"
            self.audit.lease(acting=False, why=why, host=self.own.host)

    def _note_trouble(self, text: str) -> None:
        if text and text != self._trouble:
            doing = "asks again; without a renewal in time it executes nothing"
            log.warning("lease", acting=self.tenure.holds(), error=text, doing=doing)
        elif self._trouble and not text:
            log.info("lease", acting=self.tenure.holds(), error="none any more")
        self._trouble = text
