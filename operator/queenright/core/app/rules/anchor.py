"""The anchor: a config whose labels keep what the swarm does not tell, once the document is gone.

It is made before the first replica, so that whatever has it may have data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from queenright.core.actions import Action, CreateConfig, LabelConfig
from queenright.core.app.situation import AppSituation
from queenright.core.diff import diff
from queenright.core.plan import Hold
from queenright.core.resources import RETIRING_LABEL


def plan_anchor(situation: AppSituation) -> Iterator[Action | Hold]:
    anchor = situation.desired.anchor
    live = situation.swarm.config(anchor.name)
    if live is None:
        if situation.swarm.secret(situation.desired.key.name):
            yield CreateConfig(anchor, reason=f"config {anchor.name} is not in the swarm")
        return
    labels = {**live.value.labels, **anchor.labels}
    labels.pop(RETIRING_LABEL, None)
    wanted = replace(live.value, labels=labels)
    if changes := diff(wanted, live.value):
        yield LabelConfig(
            live.id,
            live.version,
            wanted,
            reason=f"the labels of config {anchor.name} are the operator's notes",
            changes=changes,
        )
