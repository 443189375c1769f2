"""Compares what `queenright plan --forecast` says of an edit with what the operator then does.

As in the simulation (`tests/sim/forecast_judge`): actions that create, update, restart or remove a
service, restart PostgreSQL, move the lead, begin a copy anew or take a vote, by kind and target and
as often as they are done. Their order is not compared, nor who takes the lead.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator

from tests.e2e.cluster.deployment import Deployment
from tests.sim.forecast_judge import JOBS

KINDS = (
    "create-service",
    "failover",
    "raft-remove",
    "reinitialize",
    "remove-service",
    "restart-postgres",
    "restart-service",
    "switchover",
    "update-service",
)


def disrupting(keys: Iterable[str]) -> Counter[str]:
    """Count the keys of actions that disrupt."""
    return Counter(
        key
        for key in keys
        if key.partition("/")[0] in KINDS and not any(part in key for part in JOBS)
    )


def forecast(deployment: Deployment, text: str) -> Counter[str]:
    """Return the disrupting actions that the command expects of a file that is not yet written."""
    told = deployment.operator.command("plan", "--forecast", "--json", "-", given=text)
    assert told.returncode in (0, 2), told.stderr
    found = json.loads(told.stdout)
    steps = [step for way in found["clusters"] for step in way["steps"] if "key" in step]
    ends = [way["ends"] or way["refusal"] for way in found["clusters"]]
    assert not any(ends), f"the forecast ends: {ends}"
    return disrupting(step["key"] for step in steps)


def done(deployment: Deployment, since: int) -> Counter[str]:
    """Return the disrupting actions that were done after the first ``since`` outcomes."""
    return disrupting(deployment.operator.done(since))


def differences(expected: Counter[str], done: Counter[str]) -> Iterator[str]:
    """Yield where what was done differs from the forecast. Of several updates of one service fewer
    may be done: on a busy machine one that waits for another step comes with the next."""
    missing = {
        step: times
        for step, times in (expected - done).items()
        if not (step.startswith("update-service/") and done[step])
    }
    if missing:
        yield f"forecast, and not done: {missing}"
    if more := done - expected:
        yield f"done, and not forecast: {dict(more)}"
