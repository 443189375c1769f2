"""The way of all documents to where nothing is left to do: plans, and their effects, in turn.

Pure. Each round expands, plans and judges what the model shows, as a pass does, and takes the full
effects of what it may do. Invariant: what a plan holds, and neither a step nor time ends, is what
stops the way; nothing is guessed about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from queenright.core.actions import AnyAction, CreateService, PatchSettings, UpdateService
from queenright.core.forecast.effects import after
from queenright.core.forecast.model import Effect, Model, Planned
from queenright.core.kinds.registry import needed_by
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.manifest.document import Document
from queenright.core.observed import Observed
from queenright.core.planning.backoff import attempt_key
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.guards import refusal_by
from queenright.core.planning.plan import Hold, Plan, Refusal

STEP = timedelta(seconds=6)
"""The time from a disruption to the next round: longer than the state of a changed service is not
final."""
AT_ONCE = timedelta(seconds=0.5)
"""The time from any other round: the operator looks again at once."""
MOST_ROUNDS = 400
MOST_SAME = 4
"""The number of times for which one action may be planned with the same values."""
MOST_HINTS = 20
"""The same for a hint to the proxies, of which each switchover takes two."""
SHORT_WAITS, LONG_WAITS = 16, 12
SHORT, LONG = timedelta(seconds=5), timedelta(seconds=20)
FURTHEST = timedelta(hours=24)
"""The longest wait for a moment that a hold names."""
LEAST_TOLD = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Step:
    """An action of the way. ``number`` counts the document's actions from 1, ``round`` the passes
    in which something is done.
    ``copies_from`` is the member whose data a new member copies; empty where none does."""

    number: int
    round: int
    action: AnyAction
    copies_from: str = ""


@dataclass(frozen=True, slots=True)
class Wait:
    """A wait before the next step: for at most so long by the operator's clock, as held."""

    hold: Hold
    longest: timedelta


@dataclass(frozen=True, slots=True)
class Way:
    """One document's way. ``stops`` are the holds that neither a step nor time ends, ``refusal`` is
    the guard's that stands at its end; ``ends`` is why the forecast itself goes no further."""

    key: DocumentKey
    document: Document | None
    steps: tuple[Step | Wait, ...] = ()
    stops: tuple[Hold, ...] = ()
    notes: tuple[Hold, ...] = ()
    refusal: Refusal | None = None
    ends: str = ""

    @property
    def actions(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if isinstance(step, Step))

    @property
    def is_whole(self) -> bool:
        """Return True if nothing is left to do at its end."""
        return not (self.stops or self.refusal or self.ends)


@dataclass
class _Course:
    """A way as it grows."""

    document: Document | None
    steps: list[Step | Wait] = field(default_factory=list)
    plan: Plan | None = None
    refusal: Refusal | None = None
    ends: str = ""
    waits: tuple[Hold, datetime] | None = None
    times: Counter[str] = field(default_factory=Counter)

    def note_wait(self, now: datetime) -> None:
        """Note what is waited for, if something is."""
        held = self.plan.held if self.plan is not None else ()
        timed = [hold for hold in held if hold.recheck_at is not None]
        if self.waits is None and timed:
            self.waits = (timed[0], now)

    def end_wait(self, now: datetime) -> None:
        if self.waits is not None and now - self.waits[1] >= LEAST_TOLD:
            self.steps.append(Wait(self.waits[0], now - self.waits[1]))
        self.waits = None

    def way(self, key: DocumentKey) -> Way:
        held, notes = (self.plan.held, self.plan.notes) if self.plan else ((), ())
        return Way(key, self.document, tuple(self.steps), held, notes, self.refusal, self.ends)


@dataclass
class Forecast:
    """The ways of some documents from one observation. ``stopped`` are the plans of those that the
    operator can't plan at all now."""

    documents: Sequence[Document]
    observed: Observed
    now: datetime
    ruleset: Ruleset = RULESET
    stopped: Mapping[DocumentKey, Plan] = field(default_factory=dict)
    effect: Effect = after

    def ways(self) -> tuple[Way, ...]:
        """Return each document's way, in the order in which they are planned."""
        model = Model.begun(self.documents, self.observed, self.now, self.ruleset, {*self.stopped})
        courses: dict[DocumentKey, _Course] = {}
        due: set[DocumentKey] | None = None
        idle, passes, is_sure, has_arrived = 0, 1, False, False
        for _ in range(MOST_ROUNDS):
            views = [*model.planned(due)]
            model, acted, is_disrupted = self._passed(model, views, courses, passes)
            held = {view.key for view in views if view.plan.held}
            forget_gone(courses, {view.key for view in views})
            if acted:
                model = model.after(STEP if is_disrupted else AT_ONCE)
                passes, idle, due, is_sure = passes + 1, 0, acted | held, False
                has_arrived = False
            elif not is_sure and due is not None:
                due, is_sure = None, True  # of the others, something may wait for what was done
            elif held and not has_arrived and (calm := model.arrived()) is not None:
                model, idle, due, is_sure, has_arrived = calm.after(STEP), 0, None, False, True
            else:
                idle, due, is_sure = idle + 1, None if model.late else held, True
                later = next_moment(views, model, idle)
                if later is None:
                    break
                model = model.after(later - model.now)
        else:
            for course in courses.values():
                course.ends = course.ends or f"it takes more than {MOST_ROUNDS} passes"
        found = {key: course.way(key) for key, course in courses.items()}
        stopped = (Way(key, None, stops=plan.held) for key, plan in self.stopped.items())
        return (*stopped, *found.values())

    def _passed(
        self,
        model: Model,
        views: Sequence[Planned],
        courses: dict[DocumentKey, _Course],
        number: int,
    ) -> tuple[Model, set[DocumentKey], bool]:
        """Return the model after one pass, the documents that did something in it, and True if the
        operator then waits for what it changed. A document that rests on what was disrupted waits
        for the next pass."""
        acted: set[DocumentKey] = set()
        disrupted: set[DocumentKey] = set()
        is_disrupted = False
        for view in views:
            course = courses.setdefault(view.key, _Course(view.document))
            course.plan, course.refusal = view.plan, None
            if view.document is not None and needed_by(view.document) in disrupted:
                acted.add(view.key)  # it is planned again
                continue
            if not course.ends:
                course.refusal = refusal_by(self.ruleset.guards, view.plan, view.observed)
            if course.refusal is not None or course.ends or not view.plan.actions:
                course.note_wait(model.now)
                continue
            model = self._done(model, view, course, number)
            acted.add(view.key)
            if any(action.disrupts for action in view.plan.actions):
                disrupted.add(view.key)
            is_disrupted |= any(map(takes_time, view.plan.actions))
        return model, acted, is_disrupted

    def _done(self, model: Model, view: Planned, course: _Course, number: int) -> Model:
        """Return the model after a plan was carried out, up to an action that comes again and
        again. A container that is started in the same pass as Patroni's settings are written finds
        them: they are there long before."""
        course.end_wait(model.now)
        done: list[AnyAction] = []
        for action in view.plan.actions:
            name = attempt_key(action)
            course.times[name] += 1
            most = MOST_HINTS if name.startswith("route/") else MOST_SAME
            if course.times[name] > most:
                course.ends = f"{action.key} comes again and again: its effect is not modelled"
                break
            made = sum(isinstance(step, Step) for step in course.steps) + 1
            course.steps.append(Step(made, number, action, model.source_of(action)))
            done.append(action)
        for action in sorted(done, key=lambda one: not isinstance(one, PatchSettings)):
            model = model.with_effect(action, self.effect)
        return model


def forget_gone(courses: Mapping[DocumentKey, _Course], seen: Collection[DocumentKey]) -> None:
    """Forget the plan of what had no document, and is removed by now."""
    for key, course in courses.items():
        if course.document is None and key not in seen:
            course.plan = None


def takes_time(action: AnyAction) -> bool:
    """Return True for an action after which the operator waits for what it changed."""
    return bool(action.disrupts) or isinstance(action, CreateService | UpdateService)


def next_moment(views: Sequence[Planned], model: Model, idle: int) -> datetime | None:
    """Return when to look again after a round in which nothing was done; None where nothing waits,
    or all waits were in vain: after short ones, only a moment that a hold names is waited for."""
    now = model.now
    held = [hold for view in views for hold in view.plan.held]
    heard = [one.due for one in model.late]
    named = sorted(hold.recheck_at for hold in held if hold.recheck_at is not None)
    if not held:
        return min(heard, default=None)
    if idle <= SHORT_WAITS:
        soon = [at for at in (*named, *heard) if at >= now + AT_ONCE]
        return min((*soon, now + SHORT))
    if idle <= SHORT_WAITS + LONG_WAITS:
        return now + LONG
    far = (at for at in named if now + LONG < at <= now + FURTHEST)
    return next(far, None) if idle <= SHORT_WAITS + 2 * LONG_WAITS else None
