"""A person's request for a base backup, or for a drill: a label of the state config with its
moment.

The operator makes one that begins since then, and removes the label once it is noted.
Invariant: a request of the future, or one that is a day old, counts as absent, so that no label
begins what nobody waits for any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from queenright.core.planning.ages import CLOCKS_DIFFER
from queenright.core.swarm.label_values import read_moment

REQUEST_LABEL = "queenright.backup-request"
"""Label of the state config: the moment at which a person asked for a base backup."""
LASTS = timedelta(hours=24)
"""Time for which a request is tried."""


def read_backup_request(
    labels: Mapping[str, str], now: datetime, label: str = REQUEST_LABEL
) -> datetime | None:
    """The request in a state config's labels; one that can't be read counts as absent."""
    at = read_moment(labels.get(label))
    return at if at is not None and now - LASTS < at <= now + CLOCKS_DIFFER else None


def with_backup_request(
    labels: Mapping[str, str], at: datetime | None, label: str = REQUEST_LABEL
) -> dict[str, str]:
    """A state config's labels with this request in place of its own; None removes it."""
    kept = {name: value for name, value in labels.items() if name != label}
    return kept if at is None else {**kept, label: at.isoformat()}
