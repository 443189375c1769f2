"""Rule for the state config: its labels keep what can't be derived from the swarm.

It is created before the first replica: an application that has it may have data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from queenright.core.actions import AnyAction, CreateConfig
from queenright.core.kinds.notes_app.state import AppState
from queenright.core.kinds.notes_app.upgrade.dump import LAST_DUMP_LABEL, dump_notes
from queenright.core.kinds.notes_app.upgrade.rollback import ROLLED_BACK_WHY_LABEL, rollback_notes
from queenright.core.planning.configs import relabelled
from queenright.core.planning.plan import Hold
from queenright.core.swarm.objects import NODE_LABELS_LABEL, RETIRING_LABEL


def plan_annotations(state: AppState) -> Iterator[AnyAction | Hold]:
    state_config = state.desired.state_config
    live = state.swarm.config(state_config.name)
    if live is None:
        if state.swarm.secret(state.desired.key.name):
            yield CreateConfig(
                state_config, reason=f"config {state_config.name} is not in the swarm"
            )
        return
    annotations = {
        **rollback_notes(state),
        **dump_notes(state),
        NODE_LABELS_LABEL: ",".join(sorted(keys_to_note(state))) or None,
        RETIRING_LABEL: None,
    }
    labels = {**live.value.labels, **state_config.labels}
    labels |= {name: text for name, text in annotations.items() if text is not None}
    labels = {
        name: text for name, text in labels.items() if annotations.get(name, text) is not None
    }
    told = f"the operator's annotations in config {state_config.name} change"
    step = relabelled(live, labels, "; ".join([*stories(annotations), told]))
    if step.changes:
        yield step


def keys_to_note(state: AppState) -> frozenset[str]:
    """Keys of node labels that are ours: those of the file, and others that a node still has, and
    has for no other document."""
    present = {
        key
        for key in state.noted_label_keys
        for node in state.swarm.index.nodes_labelled(key)
        if (node.name, key) not in state.claimed
    }
    return state.desired_label_keys | present


def stories(annotations: Mapping[str, str | None]) -> Iterator[str]:
    """Sentences for a person about a rollback or a dump that the annotations record."""
    if why := annotations.get(ROLLED_BACK_WHY_LABEL):
        yield why
    if dumped := annotations.get(LAST_DUMP_LABEL):
        yield f"dumped: {dumped}"
