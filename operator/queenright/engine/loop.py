"""The level-triggered loop: wake up, run a pass, wait; until it is stopped.

No pass depends on memory that a restart would lose. After a pass that acted another follows at
once, to observe the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import anyio
import structlog

from queenright.core.audit.record import Trigger
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.manifest.document import Document
from queenright.core.observed import Known
from queenright.engine.canary import Canaries
from queenright.engine.document_store import DocumentStore
from queenright.engine.followed import Followed
from queenright.engine.full_passes import SHORTEST_WAIT_S, FullPasses, earliest, goes_on
from queenright.engine.interruption import Interruption
from queenright.engine.lease import LeaseKeeper
from queenright.engine.limited import NotAskedError
from queenright.engine.observe_readiness import ReplicaWatch
from queenright.engine.part import MOST_CHANGED, Changes, owners_of, reconcile_part
from queenright.engine.pass_lines import tell_part, tell_pass
from queenright.engine.reconcile import NOTHING, LoopState, PassResult, Terms, reconcile
from queenright.engine.remembered import Remembered
from queenright.engine.sight import Sight
from queenright.engine.silence import leaving_out
from queenright.engine.state_lines import StateLines
from queenright.engine.tenure import ALWAYS, Permission
from queenright.engine.trigger_queue import Wakeup
from queenright.engine.watchers import MemberWatch, watch_files, watch_swarm
from queenright.ports import Ports
from queenright.settings import PollIntervals

log = structlog.get_logger()

NEWS_COME_S = 1.0
"""The longest wait for the trigger that has ended a pass."""
SETTLED_S = 60.0
"""The time after the first pass by which the operator has seen each object for long enough to plan
as it always will."""
FIRST_LOOK_S = 3.0
"""The longest wait for the lease before the first pass, which else plans without acting."""


class Loop:
    """The operator's main loop. After ``stop`` the current action is finished."""

    def __init__(
        self,
        ports: Ports,
        state: DocumentStore,
        intervals: PollIntervals,
        ruleset: Ruleset = RULESET,
        *,
        sight: Sight | None = None,
        lease: LeaseKeeper | None = None,
        settled: Callable[[], None] = lambda: None,
    ) -> None:
        """Without ``lease`` it always acts. ``settled`` is called after the first pass that could
        read the swarm, and after one ``SETTLED_S`` later."""
        self._ports = ports
        self._state = state
        self._intervals = intervals
        self._ruleset = ruleset
        self._sight = sight
        self._lease = lease
        self._tenure = 0
        self._lines = StateLines(ports.clock, lease)
        self._wakeup = Wakeup()
        self._memory = LoopState(absences=state.absences)
        self._changes = Changes()
        self._full = FullPasses()
        self._interruption = Interruption()
        self._state.changed = self._take_edit
        self._state.changing = self._interruption.end_for_edit
        self._wakeup.heard = self._hear
        self._settled, self._settles_s = settled, float("-inf")
        self._followed = followed = Followed(ports.clock)
        self._members = MemberWatch(ports.patroni_watch, self._wakeup, lambda: followed.members)
        self._replicas = ReplicaWatch(ports, self._wakeup, lambda: followed.replicas)
        self._edit: Trigger | None = None
        self._stopping = False
        self.passes = 0

    def stop(self) -> None:
        self._stopping = True
        self._wakeup.notify(Trigger("command", "stop"))

    async def run(self) -> None:
        """Run passes until ``stop``; watchers run beside them and end with them."""
        async with anyio.create_task_group() as group:
            if self._lease is not None:
                group.start_soon(self._lease.run)
            await self._state.restore()
            self._wakeup.notify(await self._state.refresh(Trigger("start")))
            group.start_soon(watch_files, self._state, self._wakeup, self._intervals)
            group.start_soon(watch_swarm, self._ports, self._wakeup)
            group.start_soon(self._members.run, self._intervals)
            group.start_soon(self._replicas.run, self._intervals)
            group.start_soon(self._lines.run)
            self._followed.canaries = Canaries(self._ports, group)
            await self._follow_lease()
            while not self._stopping:
                wait_s = max(SHORTEST_WAIT_S, self._full.due_in_s())
                trigger = await self._wakeup.wait(wait_s)
                await self._hand_over()
                await self._passes(trigger)
            await self._end()
            group.cancel_scope.cancel()

    async def _follow_lease(self) -> None:
        """Let the lease wake the loop from now on, and wait for the first look at it."""
        if self._lease is not None:
            self._lease.changed = self._take_turn
            with anyio.move_on_after(FIRST_LOOK_S):
                await self._lease.looked.wait()

    def _take_turn(self, trigger: Trigger) -> None:
        """Begin a pass at once where this operator begins to act: one that began before may not
        act, and may still wait for a member of the former one's node for seconds."""
        self._wakeup.notify(trigger)
        if self._lease is not None and self._lease.tenure.number != self._tenure:
            self._interruption.end_in_any_case()

    async def _hand_over(self) -> None:
        """Give the lease to the operator that asks for it, if one does; this one stands by then."""
        if self._lease is not None and self._lease.is_asked:
            self._followed.end_canaries()
            await self._lease.hand_over()

    async def _end(self) -> None:
        """Write nothing more, then give the lease up."""
        self._followed.end_canaries()
        if self._lease is not None:
            await self._lease.release()

    def _permission(self) -> Permission:
        """Return the next pass's right to act. An operator that begins to act remembers nothing of
        what it saw standing by: it begins its waits again, as after a start. Members that did not
        answer are left out at first: the former one's node is often theirs, too."""
        if self._lease is None:
            return ALWAYS
        permission, number = self._lease.permission(), self._lease.tenure.number
        if permission.holds() and number != self._tenure:
            if self._tenure or self.passes:
                self._state.absences.begin_again()
                remembered = Remembered(is_silent=leaving_out(self._members, self._replicas))
                self._memory = LoopState(absences=self._state.absences, remembered=remembered)
            self._tenure = number
        return permission

    def _take_edit(self) -> None:
        """Let an edit end a full pass that has not begun to act, and count its tries anew."""
        self._memory.attempts.begin_anew()
        self._interruption.end_for_edit()

    def _hear(self, names: AbstractSet[str]) -> None:
        """Let a trigger that names few of many documents end a full pass that has not begun to
        act, so that these are planned first. Of a few documents the pass is over soon, and an
        operator that stands by plans no part."""
        if self._lease is not None and not self._lease.permission().holds():
            return
        documents, owners = self._state.documents, owners_of(names)
        if len(documents) > MOST_CHANGED and (
            0 < sum(document.name in owners for document in documents) <= MOST_CHANGED
        ):
            self._interruption.end()

    async def _passes(self, trigger: Trigger) -> None:
        """Run passes until one has nothing to do or fails: over what the triggers name, then, if
        it may not wait, over everything. After a pass whose observation was too old to act on,
        another follows at once."""
        names: frozenset[str] = frozenset()
        while not self._stopping:
            trigger, told = self._wakeup.edit() or trigger, self._wakeup.take_names()
            names |= told or frozenset()
            part, count = await self._part(trigger, names), len(self._state.documents)
            if part is not None and self._full.may_wait(trigger, told, count):
                self._full.owe(trigger, count, self._next_wait_s(part))
                if not goes_on(part):
                    break
                continue
            names, trigger = frozenset(), self._full.cause(trigger)
            result = await self._pass(trigger)
            if result is not None and result.is_ended:
                self._full.hasten()
                trigger = await self._wakeup.wait(NEWS_COME_S)
                continue
            self._full.ended(self._next_wait_s(result))
            if not goes_on(result):
                break

    async def _part(self, trigger: Trigger, names: AbstractSet[str]) -> PassResult | None:
        """Plan the documents that were just edited, or to which one of ``names`` belongs, and act
        on them. None if that is left to the full pass, in whole or in part."""
        documents = self._state.documents
        part = self._changes.take(documents, names)
        permission = self._permission()
        if part is None or len(part) == len(documents) or not permission.holds():
            return None
        if not part:
            return NOTHING
        began = anyio.current_time()
        trigger, is_over = self._with_edit(trigger), self._is_over(documents)
        terms = Terms(trigger, is_over, self._ruleset, permission)
        try:
            result = await reconcile_part(self._ports, documents, part, self._memory, terms)
            tell_part(part, result, trigger, began)
            if result is not None:
                self._followed.tell_leaders(result.survey, self._memory.faults)
        except (Exception, NotAskedError):  # as in a full pass, which follows
            log.exception("part", broken=True)
            return None
        return None if result is None or result.left or result.is_too_old else result

    def _is_over(self, documents: Sequence[Document]) -> Callable[[], bool]:
        """Return a test for the end of a pass over these documents: after an edit it ends before
        its next action, another one follows."""
        return lambda: self._stopping or self._state.documents is not documents

    async def _pass(self, trigger: Trigger) -> PassResult | None:
        """Run one pass and log its line; None if it broke, after which the loop goes on."""
        trigger, permission = self._with_edit(trigger), self._permission()
        began, calls = anyio.current_time(), self._ports.swarm.api_calls
        self.passes += 1
        if not self._state.is_known:
            log.warning("pass", trigger=trigger.kind, waiting="for a first valid file")
            if self._sight is not None:
                self._sight.wait_for_file(self._state.problems)
            return None
        documents = self._state.documents
        try:
            result = await reconcile(
                self._ports,
                documents,
                trigger,
                self._memory,
                self._is_over(documents),
                ruleset=self._ruleset,
                permission=permission,
                interruption=self._interruption,
            )
            if result.is_ended:
                return result
            if result.is_converged:
                self._edit = None
            faults, is_standby = self._memory.faults, not permission.holds()
            await self._followed.follow(result.survey, faults, is_standby=is_standby)
            calls = self._ports.swarm.api_calls - calls
            tell_pass(result, trigger, self._state.problems, began, calls)
            end = (result.survey, self._memory.refused, self._state.problems)
            self._lines.note(*end, self._followed.measured())
            if self._sight is not None:
                self._sight.note(*end)
            if isinstance(result.survey.observed.swarm, Known):
                self._settle()
        except Exception:  # a broken pass must not end a level-triggered operator
            log.exception("pass", trigger=trigger.kind, broken=True)
            return None
        return result

    def _settle(self) -> None:
        """Tell that what lasts has been made: by the first pass, and once more when each plan was
        made anew because the operator has seen the swarm for long enough."""
        now_s = self._ports.clock.monotonic_s()
        if now_s >= self._settles_s:
            is_first = self._settles_s == float("-inf")
            self._settles_s = now_s + SETTLED_S if is_first else float("inf")
            self._settled()

    def _with_edit(self, trigger: Trigger) -> Trigger:
        """Return the trigger with the file and line of the last edit, until that is carried out:
        later steps of a rollout belong to the edit, whatever event starts their pass."""
        if trigger.file:
            self._edit = trigger
        if trigger.file or self._edit is None:
            return trigger
        edit = self._edit
        return replace(trigger, file=edit.file, line=edit.line, edits=edit.edits)

    def _next_wait_s(self, result: PassResult | None) -> float:
        """Return the wait until the timer, or until a hold or a retry may change by time alone."""
        if result is None:
            return self._intervals.resync_s
        due = [at for view in result.survey.views if (at := view.plan.recheck_at)]
        wait_s = earliest(due, self._ports.clock.now(), self._intervals.resync_s)
        tried = [pair for found in result.results for pair in found.tried]
        retry_s = self._memory.attempts.retry_s(tried)
        return wait_s if retry_s is None else min(wait_s, max(SHORTEST_WAIT_S, retry_s))
