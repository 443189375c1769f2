"""Count the tries of an action without lasting effect.

A restart loses only this, without harm: the operator then tries at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from queenright.core.actions import AnyAction
from queenright.core.audit.record import Done, Outcome
from queenright.core.observed import Attempt
from queenright.core.planning.backoff import attempt_key, delay_s, forget_after, is_of_value
from queenright.core.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class Tried:
    """The number of tries, the time of the last one, and its error."""

    count: int
    at_s: float
    error: str = ""


@dataclass
class Attempts:
    """Attempts by action key, and when each key was last planned. All moments are readings of a
    monotonic clock."""

    counted: dict[str, Tried] = field(default_factory=dict)
    wanted_s: dict[str, float] = field(default_factory=dict)
    _lasting: set[str] = field(default_factory=set)
    """The keys that no plan of the last full pass had: their action's effect has lasted so far."""

    def as_of(self, now_s: float) -> Mapping[str, Attempt]:
        """Return the attempts in the form for rules."""
        return {
            key: Attempt(tried.count, now_s - tried.at_s, tried.error)
            for key, tried in self.counted.items()
        }

    def record(self, tried: Iterable[tuple[AnyAction, Outcome]], now_s: float) -> None:
        """Record the actions that were just tried."""
        for action, outcome in tried:
            key = attempt_key(action)
            before = self.counted.get(key)
            error = "" if isinstance(outcome, Done) else outcome.error
            self.counted[key] = Tried(before.count + 1 if before else 1, now_s, error)
            self.wanted_s[key] = now_s
            self._lasting.discard(key)

    def forget_satisfied(self, plans: Iterable[Plan], now_s: float) -> None:
        """Drop the keys that no plan has had for a while: the effect of their action has lasted."""
        wanted = {step.key for plan in plans for step in (*plan.actions, *plan.holds)}
        self._lasting = {key for key in self.wanted_s if key.partition("@")[0] not in wanted}
        for key, at_s in list(self.wanted_s.items()):
            if key.partition("@")[0] in wanted:
                self.wanted_s[key] = now_s
            elif now_s - at_s > forget_after(key).total_seconds():
                del self.wanted_s[key]
                self.counted.pop(key, None)

    def begin_anew(self) -> None:
        """Forget, after an edit, the tries of desired values whose effect has lasted until then: if
        the same value is desired again, the owner asked for it, and nothing has undone it."""
        for key in [key for key in self._lasting if is_of_value(key)]:
            self.wanted_s.pop(key, None)
            self.counted.pop(key, None)
        self._lasting.clear()

    def retry_s(self, tried: Iterable[tuple[AnyAction, Outcome]]) -> float | None:
        """Return the seconds until the first failed action may be tried again; None if none
        failed."""
        waits = [
            delay_s(action.key, self.counted[attempt_key(action)].count)
            for action, outcome in tried
            if not isinstance(outcome, Done)
        ]
        return min(waits, default=None)
