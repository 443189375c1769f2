"""The level-triggered loop: wake, pass, wait; until it is asked to stop.

Nothing is carried from pass to pass that a restart would miss. A pass that acted is followed by
another at once, since its deeds are the next one's observation.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import anyio
import structlog

from queenright.core.app.readiness import Target, targets
from queenright.core.audit import Trigger
from queenright.core.canary import CanaryPlace, canary_place, leader_change
from queenright.core.doctrine import DOCTRINE, Doctrine
from queenright.core.notes import Notes, read_notes
from queenright.core.observed import Known
from queenright.engine.canary import Canaries
from queenright.engine.desired_state import DesiredState
from queenright.engine.reconcile import Memory, PassResult, reconcile
from queenright.engine.replicas import watch_replicas
from queenright.engine.survey import Survey
from queenright.engine.wakeup import Wakeup
from queenright.engine.watchers import MemberAddress, watch_files, watch_members, watch_swarm
from queenright.engine.world import Ports, Tempo

log = structlog.get_logger()

SHORTEST_WAIT_S = 0.05


class Loop:
    """The operator's main loop. ``stop`` lets the step in hand finish."""

    def __init__(
        self, ports: Ports, state: DesiredState, tempo: Tempo, doctrine: Doctrine = DOCTRINE
    ) -> None:
        self._ports = ports
        self._state = state
        self._tempo = tempo
        self._doctrine = doctrine
        self._wakeup = Wakeup()
        self._memory = Memory()
        self._members: tuple[MemberAddress, ...] = ()
        self._replicas: tuple[Target, ...] = ()
        self._edit: Trigger | None = None
        self._stopping = False
        self._canaries: Canaries | None = None
        self._notes: dict[str, Notes] = {}
        self.passes = 0

    def stop(self) -> None:
        self._stopping = True
        self._wakeup.notify(Trigger("command", "stop"))

    async def run(self) -> None:
        """Passes until ``stop``; watchers run beside them and end with them."""
        async with anyio.create_task_group() as group:
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
            self._canaries = Canaries(self._ports, group)
            wait_s = self._tempo.resync_s
            while not self._stopping:
                trigger = await self._wakeup.wait(wait_s)
                wait_s = self._next_wait_s(await self._passes(trigger))
            group.cancel_scope.cancel()

    async def _passes(self, trigger: Trigger) -> PassResult | None:
        """Passes until one has nothing to do or fails; the result of the last. One whose
        observation was too old to act on is followed by another at once."""
        result: PassResult | None = None
        while not self._stopping:
            result = await self._pass(trigger)
            if result is None or result.failures or not (result.has_acted or result.is_too_old):
                break
        return result

    async def _pass(self, trigger: Trigger) -> PassResult | None:
        """One pass and its canonical line; None when it broke, which the next pass survives."""
        trigger = self._with_edit(trigger)
        began, calls = anyio.current_time(), self._ports.swarm.api_calls
        self.passes += 1
        if not self._state.is_known:
            log.warning("pass", trigger=trigger.kind, waiting="for a first valid file")
            return None
        documents = self._state.documents

        def is_over() -> bool:
            """An edit ends the pass in hand before its next action: its own pass follows."""
            return self._stopping or self._state.documents is not documents

        try:
            result = await reconcile(
                self._ports,
                documents,
                trigger,
                self._memory,
                is_over,
                doctrine=self._doctrine,
            )
        except Exception:  # a broken pass must not end a level-triggered operator
            log.exception("pass", trigger=trigger.kind, broken=True)
            return None
        if result.is_converged:
            self._edit = None
        self._members = deployed_members(result)
        self._replicas = running_replicas(result)
        self._keep_canaries(result)
        self._tell(result, trigger, began, calls)
        return result

    def _keep_canaries(self, result: PassResult) -> None:
        """The canaries that the files want, told of the leaders that have changed since."""
        if self._canaries is None:
            return
        now = self._ports.clock.now()
        self._canaries.keep(canary_places(result.survey, now), undecided(result.survey))
        noted = leader_notes(result.survey)
        for name, notes in noted.items():
            if (before := self._notes.get(name)) and (change := leader_change(name, before, notes)):
                log.info(
                    "leader",
                    cluster=name,
                    before=change.before,
                    leader=change.after,
                    timeline=change.timeline,
                    cause=change.cause,
                )
                self._canaries.changed(change)
        self._notes |= noted

    def _with_edit(self, trigger: Trigger) -> Trigger:
        """The trigger with the file and line of the last edit, until that is carried out: whatever
        wakes the later steps of a rollout, it is the edit that they are for."""
        if trigger.file:
            self._edit = trigger
        if trigger.file or self._edit is None:
            return trigger
        return replace(trigger, file=self._edit.file, line=self._edit.line)

    def _tell(self, result: PassResult, trigger: Trigger, began: float, calls: int) -> None:
        views = result.survey.views
        holds = {hold.key: hold.reason for view in views for hold in view.plan.holds}
        log.info(
            "pass",
            trigger=trigger.kind,
            trigger_detail=trigger.detail,
            clusters=[view.name for view in result.survey.clusters],
            apps=[view.name for view in result.survey.apps],
            plan_ids=[view.plan.id for view in views],
            actions=sum(len(found.tried) for found in result.results),
            failures=list(result.failures),
            refusals=[refusal.reason for refusal in result.refusals],
            holds=holds,
            problems=[str(problem) for problem in self._state.problems],
            api_calls=self._ports.swarm.api_calls - calls,
            duration_ms=round((anyio.current_time() - began) * 1000, 1),
            converged=result.is_converged,
        )

    def _next_wait_s(self, result: PassResult | None) -> float:
        """Until the timer, or earlier where time alone may change a hold or allow another try."""
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


def deployed_members(result: PassResult) -> tuple[MemberAddress, ...]:
    """The members that a watcher can ask: those whose service is in the swarm."""
    swarm = result.survey.observed.swarm
    if not isinstance(swarm, Known):
        return ()
    return tuple(
        (member.service.name, member.address, view.desired.rest_api_port)
        for view in result.survey.clusters
        if view.desired
        for member in view.desired.members
        if swarm.value.service(member.service.name)
    )


def running_replicas(result: PassResult) -> tuple[Target, ...]:
    """The replicas that a watcher can ask."""
    swarm = result.survey.observed.swarm
    if not isinstance(swarm, Known):
        return ()
    desired = [view.desired for view in result.survey.apps if view.desired]
    return tuple(target for app in desired for target in targets(app, swarm.value))


def leader_notes(survey: Survey) -> dict[str, Notes]:
    """The notes of each deployed cluster that is described."""
    if not isinstance(survey.observed.swarm, Known):
        return {}
    swarm = survey.observed.swarm.value
    anchors = {v.name: swarm.config(v.desired.anchor.name) for v in survey.clusters if v.desired}
    return {name: read_notes(live.value.labels) for name, live in anchors.items() if live}


def undecided(survey: Survey) -> frozenset[str]:
    """Described clusters of which this pass could not tell how they should be: not seeing the swarm
    is no reason to stop measuring."""
    return frozenset(v.name for v in survey.clusters if v.document and v.desired is None)


def canary_places(survey: Survey, now: datetime) -> dict[str, CanaryPlace]:
    """Where canaries are to write now: in clusters that have had a leader, and whose owner has not
    paused the operator."""
    if not isinstance(survey.observed.swarm, Known):
        return {}
    nodes = {node.name: node.address for node in survey.observed.swarm.value.nodes}
    led = {name for name, notes in leader_notes(survey).items() if notes.leader}
    found = {}
    for view in survey.clusters:
        if view.desired is None or view.name not in led:
            continue
        place = canary_place(view.desired, nodes)
        if place is not None and not view.desired.policy.reconcile.is_paused(now):
            found[view.name] = place
    return found
