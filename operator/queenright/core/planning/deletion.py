"""Parts of a removal that are the same for every kind: the grace period, and the nodes' labels.

Decides from the labels on the swarm's objects alone.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from queenright.core.actions import AnyAction, LabelConfig
from queenright.core.observed import Live, SwarmState
from queenright.core.planning.ages import CLOCKS_DIFFER
from queenright.core.planning.node_labels import relabelled_node
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import answered_once
from queenright.core.swarm.label_values import read_moment
from queenright.core.swarm.objects import RETIRING_LABEL, Config

ClaimedLabels: TypeAlias = Container[tuple[str, str]]
"""Nodes and label keys that documents place by: a label that one document gives up may be what
places another's tasks by now."""
NO_LABELS: ClaimedLabels = frozenset()

REMOVE = "remove"
ABSENCE = timedelta(seconds=60)
LONGEST_NOTE = timedelta(hours=1)
"""An absence that was noted longer ago than this was another one: nothing takes so long to remove,
and if something does, the note is written again, and nothing waits for it."""


@dataclass(frozen=True, slots=True)
class Absence:
    """The pass's moment, and for how many seconds this process has known that no document is there;
    None where it only looks."""

    now: datetime
    lasts_s: float | None = None


def owners(label: str, swarm: SwarmState) -> frozenset[str]:
    """Return the owners of services and configs in the swarm, by the label that names them."""
    return _owners(swarm, label)


@answered_once
def _owners(swarm: SwarmState, label: str) -> frozenset[str]:
    labels = [live.value.labels for live in swarm.services]
    labels += [live.value.labels for live in swarm.configs]
    return frozenset(name for found in labels if (name := found.get(label)))


def waiting_step(
    name: str, state_config: Live[Config], absence: Absence, what: str
) -> AnyAction | Hold | None:
    """Step before a removal: annotate the absence, then wait ``ABSENCE``; None once it is over.

    A document may be absent for a moment while files are moved. It counts as removed only after
    this very process has looked for it all that time. The state config keeps since when it is
    absent, for people; an annotation of another time, maybe of an earlier absence, is replaced.
    """
    now = absence.now
    if not is_plausible(state_config.value.labels.get(RETIRING_LABEL, ""), now):
        labels = {**state_config.value.labels, RETIRING_LABEL: now.isoformat()}
        return LabelConfig(
            state_config.id,
            state_config.version,
            replace(state_config.value, labels=labels),
            reason=f"the document of {what} is gone: {what} is removed if it stays gone",
        )
    left = ABSENCE - timedelta(seconds=absence.lasts_s or 0.0)
    if left > timedelta(0):
        due = None if absence.lasts_s is None else now + left
        return Hold(f"retire/{name}", f"{what}: will be removed unless its document is back", due)
    return None


def is_plausible(recorded: str, now: datetime) -> bool:
    """True if the note may be of the absence that lasts now."""
    since = read_moment(recorded)
    return since is not None and -CLOCKS_DIFFER <= now - since <= LONGEST_NOTE


def remove_labels(keys: str, swarm: SwarmState, claimed: ClaimedLabels) -> Iterator[AnyAction]:
    for node in swarm.index.nodes_about((), keys.split(",")):
        present = [
            key for key in keys.split(",") if key in node.labels and (node.name, key) not in claimed
        ]
        if present:
            why = "the cluster that these labels placed is removed"
            yield relabelled_node(node, dict.fromkeys(present), why)
