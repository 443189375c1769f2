"""Rule for a new cluster that begins from a backup: how far it is, and why it gets no further.

It plans no action: Patroni restores on the first member, and the others copy that one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from queenright.core.actions import AnyAction
from queenright.core.kinds.postgres_cluster.desired.restore import URL_VARIABLE
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.planning.plan import Hold

LOOK_AGAIN = timedelta(seconds=5)
PHASES: Mapping[str, str] = {
    "running custom bootstrap script": "copies the base backup",
    "starting after custom bootstrap": "replays the archived WAL",
}
"""Patroni's states of the member that restores, in words."""


def plan_restore(state: ClusterState) -> Iterator[AnyAction | Hold]:
    desired = state.desired
    if not desired.restore.text or not state.is_deployed or state.is_bootstrapped:
        return
    first = next(m for m in desired.members if URL_VARIABLE in m.service.environment)
    status = state.status(first)
    failed = status.failed_restore if status is not None else ""
    if state.leader is not None:
        phase, failed = "is restored, and the other members copy it", ""
    elif status is None:
        phase = f"does not answer ({state.why_unknown(first)})"
    else:
        phase = PHASES.get(status.state, f"is {status.state}")
    text = f"cluster {desired.name}: begins with {desired.restore.text}: {first.name} {phase}"
    if failed:
        text += f"; its last try came to nothing: {failed}"
    yield Hold(
        f"restore/{desired.name}",
        text,
        recheck_at=state.now + LOOK_AGAIN,
        wants_attention=bool(failed),
    )
