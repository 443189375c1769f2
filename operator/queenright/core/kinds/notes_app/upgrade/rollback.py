"""Updates that swarm rolled back, and that are not tried again until the file changes.

Decides from swarm's state of the last update, the tasks that failed, and the annotations.
Invariant: what was rolled back once is refused for as long as the file asks for the same, whatever
becomes of the operator or of swarm's record of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from queenright.core.kinds.notes_app.state import AppState
from queenright.core.observed import NEVER, LiveService, Task
from queenright.core.planning.images import pin_image, wanted_service
from queenright.core.planning.plan import Hold
from queenright.core.swarm.diff import diff, disrupts
from queenright.core.swarm.digest import digest
from queenright.core.swarm.objects import Service, UpdatePolicy

ROLLED_BACK_LABEL = "queenright.rolled-back"
"""Label of the state config: digest of what swarm rolled back."""
ROLLED_BACK_AT_LABEL = "queenright.rolled-back-at"
"""Label of the state config: start of the update that swarm rolled back."""
ROLLED_BACK_WHY_LABEL = "queenright.rolled-back-why"
NOTES = (ROLLED_BACK_LABEL, ROLLED_BACK_AT_LABEL, ROLLED_BACK_WHY_LABEL)
BAD_ENDS = frozenset({"failed", "rejected"})
MOST_OF_A_LABEL = 500


@dataclass(frozen=True, slots=True)
class Rollback:
    """A rollback: the digest of the wanted replica, swarm's update, and a sentence about it."""

    digest: str
    at: str
    why: str

    @property
    def labels(self) -> Mapping[str, str]:
        return dict(zip(NOTES, (self.digest, self.at, self.why), strict=True))


def wanted_digest(state: AppState) -> str:
    """Digest of the desired replica; empty while its image is not known."""
    live = state.web
    pinned = pin_image(state, state.desired.web, live)
    return "" if live is None or isinstance(pinned, Hold) else task_digest(pinned)


def why_image_unknown(state: AppState) -> str | None:
    """Reason why the desired image is not known; None where it is.

    A version that was rolled back could not be recognised, so nothing is tried meanwhile.
    """
    pinned = pin_image(state, state.desired.web, state.web)
    return pinned.reason if isinstance(pinned, Hold) else None


def task_digest(service: Service) -> str:
    """Digest of a service without what changes no task."""
    policy = UpdatePolicy()
    return digest(
        dataclasses.replace(service, labels={}, replicas=1, update=policy, rollback=policy)
    )


def new_rollback(state: AppState) -> Rollback | None:
    """Rollback of what the file asks for now that swarm reports and no annotation records.

    None where the file has moved on to another image since.
    """
    live, wanted = state.web, wanted_digest(state)
    if live is None or not wanted or not is_unnoted(state, live):
        return None
    at = beginning(live)
    target = wanted_service(state, state.desired.web, live)
    if not disrupts(diff(target, live.value)):
        return None
    failed = last_failure(state, live)
    if failed is not None and failed.image not in {"", live.value.image, target.image}:
        return None
    return Rollback(wanted, at, story(live, target, failed)[:MOST_OF_A_LABEL])


def is_unnoted(state: AppState, live: LiveService) -> bool:
    """True if swarm reports a rollback that no annotation records."""
    is_back = live.update_state.startswith("rollback")
    return is_back and rollback_annotations(state).get(ROLLED_BACK_AT_LABEL) != beginning(live)


def beginning(live: LiveService) -> str:
    """Start of the update that swarm's state is about."""
    return "" if live.update_started_at == NEVER else live.update_started_at.isoformat()


def why_not_noted(state: AppState) -> str | None:
    """Reason why swarm's record of a rollback must be kept yet; None if it may be overwritten.

    Any write on the service overwrites it.
    """
    live = state.web
    if live is None or not is_unnoted(state, live):
        return None
    if new_rollback(state) is not None or not wanted_digest(state):
        return "swarm rolled an update back, which has to be annotated first"
    return None


def last_failure(state: AppState, live: LiveService) -> Task | None:
    """The newest task that failed in this update, preferably of the image that was tried."""
    tasks = state.swarm.tasks_of(live.id)
    since = live.update_started_at  # an earlier failure does not belong to this update
    bad = [task for task in tasks if task.state in BAD_ENDS and task.at >= since]
    foreign = [task for task in bad if task.image not in {"", live.value.image}]
    return max(foreign or bad, key=lambda task: task.at, default=None)


def story(live: LiveService, target: Service, failed: Task | None) -> str:
    """Sentence with the image that was rolled back, the cause, and the image that runs."""
    why = f" ({failed.error})" if failed is not None and failed.error else ""
    what = target.image
    if target.image == live.value.image:
        fields = ", ".join(change.path for change in diff(target, live.value) if change.path)
        what = f"the change of {fields}"
    return f"swarm rolled back {what}, as a replica of it failed{why}; {live.value.image} goes on"


def rollback_annotations(state: AppState) -> Mapping[str, str]:
    """Annotations of an earlier rollback."""
    state_config = state.swarm.config(state.desired.state_config.name)
    labels = state_config.value.labels if state_config else {}
    return {name: labels[name] for name in NOTES if name in labels}


def rollback_reason(state: AppState) -> str | None:
    """Reason why what the file asks for is not tried again; None where it was not rolled back."""
    fresh, note = new_rollback(state), rollback_annotations(state)
    wanted = wanted_digest(state)
    if fresh is not None:
        why = fresh.why
    elif wanted and note.get(ROLLED_BACK_LABEL) == wanted:
        why = note.get(ROLLED_BACK_WHY_LABEL, "swarm rolled it back")
    else:
        return None
    return f"{why}; it is not tried again until the file changes"


def rollback_notes(state: AppState) -> Mapping[str, str | None]:
    """Annotations of the rollback; None for a label that is to be removed."""
    fresh = new_rollback(state)
    if fresh is not None:
        return fresh.labels
    note, wanted = rollback_annotations(state), wanted_digest(state)
    if state.missing:
        return {}  # a missing object is no change of the file
    if wanted and note.get(ROLLED_BACK_LABEL, wanted) != wanted:
        return {ROLLED_BACK_LABEL: None, ROLLED_BACK_WHY_LABEL: None}
    return {}
