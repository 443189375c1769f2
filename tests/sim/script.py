"""A history as a list of steps, drawn from its seed before it begins.

Each step draws what it does from its own number, so that a history without some of its steps is
still the same history otherwise: that is how the shortest one that fails is found.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.sim.faults import FAULTS, lost_data, total_power_cut
from tests.sim.raft_faults import RAFT_FAULTS
from tests.sim.user_actions import OUTSIDER, OWNER

FAULTS_A_HISTORY = 50

DELAYS_S = (0.01, 0.3, 1.0, 2.0, 4.0, 9.0)
RESTARTS = ("kill", "kill at a call", "kill at a call", "stop")
EVENTS = {
    event.__name__: event
    for event in (*FAULTS, *RAFT_FAULTS, total_power_cut, lost_data, *OWNER, *OUTSIDER)
}
RAFT_RATE = 0.03
"""The share of steps that damage a Raft node's files."""
MOST_RUNS = 80
"""The number of repetitions of a history in search of a shorter one."""


@dataclass(frozen=True)
class Step:
    """A step by its name, after ``delay_s``."""

    number: int
    delay_s: float
    event: str


@dataclass(frozen=True)
class Script:
    """A history's seed and steps. ``waits`` is whether trouble begins when all is well."""

    seed: int
    waits: bool
    steps: tuple[Step, ...]

    def slowed(self, factor: float) -> Script:
        """The same history with its troubles further apart."""
        steps = (replace(step, delay_s=step.delay_s * factor) for step in self.steps)
        return replace(self, steps=tuple(steps))

    def rng(self, step: Step) -> random.Random:
        return random.Random(f"{self.seed}/{step.number}")


def make_script(seed: int, faults: int = FAULTS_A_HISTORY, *, raft: bool = True) -> Script:
    """Without ``raft`` no Raft node's files are damaged."""
    rng = random.Random(f"history {seed}")
    waits = rng.random() < 0.85
    calmness = rng.choice((0.5, 1.0, 1.0, 2.5))
    steps = (Step(number, rng.choice(DELAYS_S) * calmness, draw(rng)) for number in range(faults))
    return Script(seed, waits, tuple(map(with_raft_faults(seed), steps) if raft else steps))


def with_raft_faults(seed: int) -> Callable[[Step], Step]:
    """Returns a function that puts a fault of Raft's files in the place of few steps."""
    rng = random.Random(f"raft {seed}")

    def change(step: Step) -> Step:
        if rng.random() >= RAFT_RATE:
            return step
        return replace(step, event=rng.choice(RAFT_FAULTS).__name__)

    return change


def draw(rng: random.Random) -> str:
    kind = rng.choices((FAULTS, OWNER, OUTSIDER, ()), weights=(48, 26, 16, 10))[0]
    return rng.choice(kind).__name__ if kind else rng.choice(RESTARTS)


def shortest(script: Script, fails: Callable[[Script], bool]) -> Script:
    """The shortest script found that still fails: ever smaller parts of it are left out."""
    runs, part = 0, max(1, len(script.steps) // 2)
    while runs < MOST_RUNS:
        for start in range(0, len(script.steps), part):
            kept = (*script.steps[:start], *script.steps[start + part :])
            runs += 1
            if fails(replace(script, steps=kept)):
                script = replace(script, steps=kept)
                break
            if runs >= MOST_RUNS:
                return script
        else:
            if part == 1:
                break
            part = max(1, part // 2)
    return script
