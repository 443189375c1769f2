"""Keep the lease: renew it, wait for it, give it up; and tell a pass if it may act.

Invariants: the right to act is counted from before the renewal was sent, by a clock that also
counts while the machine sleeps; it begins only after the audit trail has the record of the take; it
is asked again right before each action; an operator that can't reach the managers loses it by time.
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
    RENEW_S,
    WAIT_S,
    Ages,
    Lease,
    Step,
    StoredLease,
    decide,
    may_act,
)
from queenright.ports.audit import Audit
from queenright.ports.errors import ConflictError, PortError
from queenright.ports.lease import LeaseStore

log = structlog.get_logger()

GIVEN_UP = "given up at the operator's end"
AT_ONCE_S = 0.02
"""The wait after a lost race, and the shortest of all."""


@dataclass
class Tenure:
    """An operator's right to act, as the clock ``now_s`` has it."""

    now_s: Callable[[], float]
    renewed_s: float | None = None
    """The time just before the last successful renewal was sent; None without a lease."""
    number: int = 0
    """A different one for each time without interruption."""

    @property
    def age_s(self) -> float | None:
        return None if self.renewed_s is None else self.now_s() - self.renewed_s

    def holds(self) -> bool:
        return may_act(self.age_s)

    def renew(self, sent_s: float) -> None:
        if not self.holds():
            self.number += 1
        self.renewed_s = sent_s

    def end(self) -> None:
        self.renewed_s = None


class Permission:
    """One pass's right to act: over when the lease was lost since the pass began, even if the
    operator has it again, because the observation is from before."""

    def holds(self) -> bool:
        """Return True if an action may begin now."""
        return True

    async def confirmed(self) -> bool:
        """Return True if the managers confirm it now, for an action that disrupts."""
        return True


ALWAYS = Permission()
"""The permission of an operator without a lease: of commands and tests."""


class LeasePermission(Permission):
    def __init__(self, keeper: LeaseKeeper) -> None:
        self._keeper = keeper
        self._number = keeper.tenure.number if keeper.tenure.holds() else 0

    def holds(self) -> bool:
        tenure = self._keeper.tenure
        return tenure.holds() and tenure.number == self._number

    async def confirmed(self) -> bool:
        return self.holds() and await self._keeper.renew() and self.holds()


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

    def permission(self) -> Permission:
        return LeasePermission(self)

    def as_line(self) -> dict[str, object]:
        """Return the fields of the log's line `operator`."""
        holder = self.own if self.tenure.holds() else self._other
        return {"acting": self.tenure.holds(), "lease_holder": holder.host}

    async def run(self) -> None:
        """Keep the lease until cancelled. After a fault of the operator's own it runs out."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch)
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
            self._is_over, is_held = True, self.tenure.holds()
            self.tenure.end()
            if not is_held:
                return
            self.audit.lease(acting=False, why=GIVEN_UP, host=self.own.host)
            try:
                seen = await self.store.read()
                if seen is not None and seen.lease.process == self.own.process:
                    given_up = Lease(host=self.own.host, chain=self.audit.end, term=seen.lease.term)
                    await self.store.replace(seen, given_up)
                    log.info("lease", acting=False, why=GIVEN_UP)
            except PortError as error:
                log.warning(
                    "lease", acting=False, error=str(error), why="not given up; it runs out"
                )

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
                seen, self.own, ages, is_first_look=is_first, has_ended=ended, renew_s=renew_s
            )
            if step is Step.STOP:
                self.tenure.end()
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
        lease = replace(self.own, chain=self.audit.end, term=term)
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
        if step is Step.STAND_BY:
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
