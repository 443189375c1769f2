"""The level-triggered loop: wake up, run a pass, wait; until it is stopped.

No pass depends on memory that a restart would lose. After a pass that acted another follows at
once, to observe the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

import anyio
import structlog

from queenright.core.audit.record import Trigger
from queenright.core.kinds.postgres_cluster.annotations import Annotations
from queenright.core.kinds.postgres_cluster.canary.canary import leader_change
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.manifest.document import Document
from queenright.core.observed import Known
from queenright.core.observed.readiness import ReadinessTarget
from queenright.engine.canary import Canaries
from queenright.engine.document_store import DesiredState
from queenright.engine.followed import (
    canary_places,
    deployed_members,
    leader_annotations,
    running_replicas,
    undecided,
)
from queenright.engine.give_way import give_way
from queenright.engine.interruption import Interruption
from queenright.engine.lease import ALWAYS, LeaseKeeper, Permission
from queenright.engine.limited import NotAskedError
from queenright.engine.observe_readiness import watch_replicas
from queenright.engine.part import Edits, reconcile_part
from queenright.engine.pass_lines import tell_part, tell_pass
from queenright.engine.reconcile import LoopState, PassResult, Terms, reconcile
from queenright.engine.sight import Sight
from queenright.engine.state_lines import StateLines
from queenright.engine.trigger_queue import Wakeup
from queenright.engine.watchers import MemberAddress, watch_files, watch_members, watch_swarm
from queenright.engine.world import Ports, Tempo

log = structlog.get_logger()

SHORTEST_WAIT_S = 0.05
EDIT_COMES_S = 1.0
"""The longest wait for the trigger of an edit that has ended a pass."""
FIRST_LOOK_S = 3.0
"""The longest wait for the lease before the first pass, which else plans without acting."""


class Loop:
    """The operator's main loop. After ``stop`` the current action is finished."""

    def __init__(
        self,
        ports: Ports,
        state: DesiredState,
        tempo: Tempo,
        ruleset: Ruleset = RULESET,
        *,
        sight: Sight | None = None,
        lease: LeaseKeeper | None = None,
        settled: Callable[[], None] = lambda: None,
    ) -> None:
        """Without ``lease`` it always acts. ``settled`` is called once, after the first pass
        that could read the swarm."""
        self._ports = ports
        self._state = state
        self._tempo = tempo
        self._ruleset = ruleset
        self._sight = sight
        self._lease = lease
        self._tenure = 0
        self._lines = StateLines(ports.clock, lease)
        self._wakeup = Wakeup()
        self._memory = LoopState(absences=state.absences)
        self._edits = Edits()
        self._interruption = Interruption()
        self._state.changed = self._interruption.end
        self._settled, self._has_settled = settled, False
        self._members: tuple[MemberAddress, ...] = ()
        self._replicas: tuple[ReadinessTarget, ...] = ()
        self._edit: Trigger | None = None
        self._stopping = False
        self._canaries: Canaries | None = None
        self._notes: dict[str, Annotations] = {}
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
            group.start_soon(watch_files, self._state, self._wakeup, self._tempo)
            group.start_soon(watch_swarm, self._ports, self._wakeup)
            group.start_soon(
                watch_members, self._ports, self._wakeup, self._tempo, lambda: self._members
            )
            group.start_soon(
                watch_replicas, self._ports, self._wakeup, self._tempo, lambda: self._replicas
            )
            group.start_soon(self._lines.run)
            self._canaries = Canaries(self._ports, group)
            await self._follow_lease()
            wait_s = self._tempo.resync_s
            while not self._stopping:
                trigger = await self._wakeup.wait(wait_s)
                wait_s = self._next_wait_s(await self._passes(trigger))
            await self._end()
            group.cancel_scope.cancel()

    async def _follow_lease(self) -> None:
        """Let the lease wake the loop from now on, and wait for the first look at it."""
        if self._lease is not None:
            self._lease.changed = self._wakeup.notify
            with anyio.move_on_after(FIRST_LOOK_S):
                await self._lease.looked.wait()

    async def _end(self) -> None:
        """Write nothing more, then give the lease up."""
        if self._canaries is not None:
            self._canaries.keep({})
        if self._lease is not None:
            await self._lease.release()

    def _permission(self) -> Permission:
        """Return the next pass's right to act. An operator that begins to act remembers nothing of
        what it saw standing by: it begins its waits again, as after a start."""
        if self._lease is None:
            return ALWAYS
        permission, number = self._lease.permission(), self._lease.tenure.number
        if permission.holds() and number != self._tenure:
            if self._tenure or self.passes:
                self._state.absences.begin_again()
                self._memory = LoopState(absences=self._state.absences)
            self._tenure = number
        return permission

    async def _passes(self, trigger: Trigger) -> PassResult | None:
        """Run passes until one has nothing to do or fails, and return the last result. After a pass
        whose observation was too old to act on, another follows at once."""
        result: PassResult | None = None
        while not self._stopping:
            trigger = self._wakeup.edit() or trigger
            await self._part(trigger)
            result = await self._pass(trigger)
            if result is not None and result.is_ended:
                trigger = await self._wakeup.wait(EDIT_COMES_S)
            elif result is None or result.failures or not (result.has_acted or result.is_too_old):
                break
        return result

    async def _part(self, trigger: Trigger) -> None:
        """Plan the documents that were just edited, and act on them, before the full pass."""
        documents = self._state.documents
        part = self._edits.take(documents)
        permission = self._permission()
        if not part or not permission.holds():
            return
        began = anyio.current_time()
        trigger, is_over = self._with_edit(trigger), self._is_over(documents)
        terms = Terms(trigger, is_over, self._ruleset, permission)
        try:
            result = await reconcile_part(self._ports, documents, part, self._memory, terms)
            tell_part(part, result, began)
        except (Exception, NotAskedError):  # as in a full pass, which follows
            log.exception("edit", broken=True)

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
            await self._follow(result, is_standby=not permission.holds())
            calls = self._ports.swarm.api_calls - calls
            tell_pass(result, trigger, self._state.problems, began, calls)
            end = (result.survey, self._memory.refused, self._state.problems)
            self._lines.note(*end, self._canaries.measured() if self._canaries else {})
            if self._sight is not None:
                self._sight.note(*end)
            if not self._has_settled and isinstance(result.survey.observed.swarm, Known):
                self._has_settled = True
                self._settled()
        except Exception:  # a broken pass must not end a level-triggered operator
            log.exception("pass", trigger=trigger.kind, broken=True)
            return None
        return result

    async def _follow(self, result: PassResult, *, is_standby: bool) -> None:
        """Update watchers and canaries for the next pass; a document's fault stays its own. Between
        two steps the event loop runs whatever else is due."""
        faults = self._memory.faults
        await give_way()
        self._members = deployed_members(result, faults)
        await give_way()
        self._replicas = running_replicas(result, faults)
        await give_way()
        if is_standby and self._canaries is not None:
            self._canaries.keep({})
        else:
            await self._keep_canaries(result)

    async def _keep_canaries(self, result: PassResult) -> None:
        """Run the canaries of the files, and inform them of the leaders that have changed since."""
        if self._canaries is None:
            return
        now = self._ports.clock.now()
        faults = self._memory.faults
        leaders = leader_annotations(result.survey, faults)
        await give_way()
        places = canary_places(result.survey, leaders, now, faults)
        await give_way()
        self._canaries.keep(places, undecided(result.survey))
        for name, seen in leaders.items():
            if (before := self._notes.get(name)) and (change := leader_change(name, before, seen)):
                log.info(
                    "leader",
                    cluster=name,
                    before=change.before,
                    leader=change.after,
                    timeline=change.timeline,
                    cause=change.cause,
                )
                self._canaries.changed(change)
        self._notes |= leaders

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
            return self._tempo.resync_s
        due = [at for view in result.survey.views if (at := view.plan.recheck_at)]
        wait_s = earliest(due, self._ports.clock.now(), self._tempo.resync_s)
        tried = [pair for found in result.results for pair in found.tried]
        retry_s = self._memory.attempts.retry_s(tried)
        return wait_s if retry_s is None else min(wait_s, max(SHORTEST_WAIT_S, retry_s))


def earliest(due: list[datetime], now: datetime, limit_s: float) -> float:
    waits = [(at - now).total_seconds() for at in due]
    return max(SHORTEST_WAIT_S, min([*waits, limit_s]))
