"""The anchor: a config whose labels keep what the swarm does not tell, once the document is gone.

It is made before the first replica, so that whatever has it may have data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from queenright.core.actions import Action, CreateConfig, LabelConfig
from queenright.core.app.rollbacks import ROLLED_BACK_WHY_LABEL, rollback_notes
from queenright.core.app.situation import AppSituation
from queenright.core.app.upgrades import LAST_DUMP_LABEL, dump_notes
from queenright.core.diff import diff
from queenright.core.plan import Hold
from queenright.core.resources import NODE_LABELS_LABEL, RETIRING_LABEL


def plan_anchor(situation: AppSituation) -> Iterator[Action | Hold]:
    anchor = situation.desired.anchor
    live = situation.swarm.config(anchor.name)
    if live is None:
        if situation.swarm.secret(situation.desired.key.name):
            yield CreateConfig(anchor, reason=f"config {anchor.name} is not in the swarm")
        return
    notes = {
        **rollback_notes(situation),
        **dump_notes(situation),
        NODE_LABELS_LABEL: ",".join(sorted(keys_to_note(situation))) or None,
        RETIRING_LABEL: None,
    }
    labels = {**live.value.labels, **anchor.labels}
    labels |= {name: text for name, text in notes.items() if text is not None}
    labels = {name: text for name, text in labels.items() if notes.get(name, text) is not None}
    wanted = replace(live.value, labels=labels)
    if changes := diff(wanted, live.value):
        yield LabelConfig(
            live.id,
            live.version,
            wanted,
            reason="; ".join(
                [*stories(notes), f"the labels of config {anchor.name} are the operator's notes"]
            ),
            changes=changes,
        )


def keys_to_note(situation: AppSituation) -> frozenset[str]:
    """Keys of node labels that are ours: those of the file, and others that a node still has, and
    has for no other document."""
    present = {
        key
        for node in situation.swarm.nodes
        for key in node.labels
        if (node.name, key) not in situation.claimed
    }
    return situation.desired_label_keys | (situation.noted_label_keys & present)


def stories(notes: Mapping[str, str | None]) -> Iterator[str]:
    """What the notes have to tell a person who reads the log."""
    if why := notes.get(ROLLED_BACK_WHY_LABEL):
        yield why
    if dumped := notes.get(LAST_DUMP_LABEL):
        yield f"dumped: {dumped}"
