"""The faults of a run: decided by its seed alone, so that two modes suffer the same."""

from __future__ import annotations

import random
from dataclasses import dataclass

FAULTS = (
    "the leader's node loses power",
    "a replica's node loses power",
    "both replicas' nodes lose power",
    "the leader's and a replica's node lose power",
    "all nodes lose power",
    "the leader's node is cut off",
    "a replica's node is cut off",
    "the leader's node is frozen",
    "a replica's node is frozen",
    "the leader's container is killed",
    "dockerd crashes under the leader",
    "the manager's dockerd crashes",
    "the leader's service is removed",
    "a replica's service is removed",
    "the proxies' service is removed",
    "the operator is killed",
)
EDITS = ("", "", "primary", "stopGracePeriod", "work_mem")
"""Field that is edited shortly before a fault; mostly none."""


@dataclass(frozen=True, slots=True)
class Step:
    """One fault. ``which`` chooses a replica, or an edit's value; ``wait_s`` are the seconds from
    the edit to the fault, ``hold_s`` those from the fault to its repair."""

    number: int
    fault: str
    which: int
    edit: str
    wait_s: float
    hold_s: float


def script(seed: int, count: int) -> list[Step]:
    """Return the steps: every fault once in a random order, then again in another."""
    rng = random.Random(seed)
    faults: list[str] = []
    while len(faults) < count:
        faults += rng.sample(FAULTS, len(FAULTS))
    return [
        Step(
            number,
            fault,
            rng.randrange(1000),
            rng.choice(EDITS),
            rng.uniform(2, 12),
            rng.uniform(5, 45),
        )
        for number, fault in enumerate(faults[:count], start=1)
    ]
