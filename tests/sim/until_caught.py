"""Lives a history through until it catches a broken operator, and as far with the true one.

What either does after that moment is asked by nobody: histories of the true operator, lived to
their ends, are ``test_histories``'s.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from queenright.core.kinds.ruleset import RULESET, Ruleset
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.broken_passes import broken_passes
from tests.sim.history import heard_by, live_through
from tests.sim.invariants import Invariants
from tests.sim.script import Script
from tests.sim.until_judged import until_judged


@dataclass(frozen=True)
class Lived:
    """The violations until the history was left at ``left_s``; infinity at its end."""

    violations: list[str]
    left_s: float


@dataclass
class Watch:
    """A history's judge besides ``Invariants``: ``tamper`` puts it, or a worse port, into the
    world."""

    tamper: Callable[[World], None] | None = None
    found: Callable[[], list[str]] = list
    at_the_end: Callable[[], None] = lambda: None
    """Called when the history has come to its end."""


def live_until(
    words: str, script: Script, ruleset: Ruleset, watch: Watch, until_s: float = math.inf
) -> Lived:
    """A history to its end, until a violation has the words, or until this moment."""
    holds: list[Invariants] = []

    def told() -> list[str]:
        return [*(text for one in holds for text in one.violations), *watch.found()]

    async def living() -> None:
        await live_through(script, ruleset, holds, watch.tamper)

    with broken_passes(heard_by(holds)) as broken:
        left_s = run_virtual(lambda: until_judged(words, told, living, until_s))
    if left_s == math.inf:
        watch.at_the_end()
    return Lived([*told(), *(f"a pass broke: {line}" for line in broken[:3])], left_s)


def is_caught(
    words: str, script: Script, ruleset: Ruleset, watch: Watch, watch_of_the_true: Watch
) -> bool:
    """Return True if the history fails with these words for the broken operator, and until that
    moment not at all for the true one."""
    lived = live_until(words, script, ruleset, watch)
    if not any(words in text for text in lived.violations):
        return False
    return not live_until("", script, RULESET, watch_of_the_true, lived.left_s).violations
