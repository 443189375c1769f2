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
    text, key = state.desired.restore.text, f"restore/{state.desired.name}"
    if not text or (state.is_bootstrapped and state.was_restored):
        return
    about = f"cluster {state.desired.name}:"
    if state.is_bootstrapped:
        reason = (
            f"{about} does not begin with {text}, as it has data (spec.bootstrap has no effect any "
            "more; a backup is restored into a cluster of another name)"
        )
        yield Hold(key, reason, is_informational=True)
    elif not state.is_deployed:
        yield Hold(key, f"{about} is to begin with {text}", is_informational=True)
    else:
        how_far, failed = progress(state)
        yield Hold(
            key,
            f"{about} begins with {text}: {how_far}",
            recheck_at=state.now + LOOK_AGAIN,
            wants_attention=failed,
        )


def progress(state: ClusterState) -> tuple[str, bool]:
    """Return how far the restore is, and whether its last try came to nothing."""
    if state.leader is not None:
        return f"{state.leader.name} is restored, and the other members copy it", False
    first = next((m for m in state.desired.members if URL_VARIABLE in m.service.environment), None)
    if first is None:
        return "no member is there that restores it", False
    status = state.status(first)
    if status is None:
        return f"{first.name} does not answer ({state.why_unknown(first)})", False
    phase = f"{first.name} {PHASES.get(status.state, f'is {status.state}')}"
    if not status.failed_restore:
        return phase, False
    return f"{phase}; its last try came to nothing: {status.failed_restore}", True
