"""Updates that swarm took back by itself, and that are not tried again until the file changes.

Decides from swarm's own word on the last update, the tasks that failed, and the anchor's notes.
Invariant: what was taken back once is refused for as long as the file asks for the same, whatever
becomes of the operator or of swarm's memory of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from queenright.core.app.situation import AppSituation
from queenright.core.diff import diff, disturbs
from queenright.core.digest import digest
from queenright.core.observed import NEVER, LiveService, Task
from queenright.core.pinning import pin_image, wanted_service
from queenright.core.plan import Hold
from queenright.core.resources import Service, UpdatePolicy

ROLLED_BACK_LABEL = "queenright.rolled-back"
"""Label of the anchor: digest of what swarm took back."""
ROLLED_BACK_AT_LABEL = "queenright.rolled-back-at"
"""Label of the anchor: which of swarm's updates that was, by its beginning."""
ROLLED_BACK_WHY_LABEL = "queenright.rolled-back-why"
NOTES = (ROLLED_BACK_LABEL, ROLLED_BACK_AT_LABEL, ROLLED_BACK_WHY_LABEL)
BAD_ENDS = frozenset({"failed", "rejected"})
MOST_OF_A_LABEL = 500


@dataclass(frozen=True, slots=True)
class Rollback:
    """What was taken back: the digest of the wanted replica, swarm's update, and the story."""

    digest: str
    at: str
    why: str

    @property
    def labels(self) -> Mapping[str, str]:
        return dict(zip(NOTES, (self.digest, self.at, self.why), strict=True))


def wanted_digest(situation: AppSituation) -> str:
    """What a replica is to be, as far as its tasks tell; empty while its image is not known."""
    live = situation.web
    pinned = pin_image(situation, situation.desired.web, live)
    return "" if live is None or isinstance(pinned, Hold) else task_digest(pinned)


def why_image_unknown(situation: AppSituation) -> str | None:
    """Why it is not known what a replica is to be; None where it is. What was taken back could not
    be told from anything else, so nothing is tried meanwhile."""
    pinned = pin_image(situation, situation.desired.web, situation.web)
    return pinned.reason if isinstance(pinned, Hold) else None


def task_digest(service: Service) -> str:
    """Digest of a service without what changes no task."""
    policy = UpdatePolicy()
    return digest(
        dataclasses.replace(service, labels={}, replicas=1, update=policy, rollback=policy)
    )


def new_rollback(situation: AppSituation) -> Rollback | None:
    """The rollback that swarm tells of and that the anchor has no note of: of what the file asks
    for now. None where the file has moved on to another image since."""
    live, wanted = situation.web, wanted_digest(situation)
    if live is None or not wanted or not is_unnoted(situation, live):
        return None
    at = beginning(live)
    target = wanted_service(situation, situation.desired.web, live)
    if not disturbs(diff(target, live.value)):
        return None
    failed = last_failure(situation, live)
    if failed is not None and failed.image not in {"", live.value.image, target.image}:
        return None
    return Rollback(wanted, at, story(live, target, failed)[:MOST_OF_A_LABEL])


def is_unnoted(situation: AppSituation, live: LiveService) -> bool:
    """Whether swarm tells of a rollback that the anchor has no note of."""
    is_back = live.update_state.startswith("rollback")
    return is_back and noted(situation).get(ROLLED_BACK_AT_LABEL) != beginning(live)


def beginning(live: LiveService) -> str:
    """Which of swarm's updates its last word is on."""
    return "" if live.update_started_at == NEVER else live.update_started_at.isoformat()


def why_not_noted(situation: AppSituation) -> str | None:
    """Why swarm is not to forget yet that it took something back, as it does with any write on the
    service; None where it may."""
    live = situation.web
    if live is None or not is_unnoted(situation, live):
        return None
    if new_rollback(situation) is not None or not wanted_digest(situation):
        return "swarm took an update back, which is to be noted first"
    return None


def last_failure(situation: AppSituation, live: LiveService) -> Task | None:
    """The newest task that ended badly: of another image than the one that is deployed again, where
    there is one."""
    tasks = situation.swarm.tasks_of(live.id)
    since = live.update_started_at  # what failed before it is none of this update's
    bad = [task for task in tasks if task.state in BAD_ENDS and task.at >= since]
    foreign = [task for task in bad if task.image not in {"", live.value.image}]
    return max(foreign or bad, key=lambda task: task.at, default=None)


def story(live: LiveService, target: Service, failed: Task | None) -> str:
    """Which image, to which, and why, in one line."""
    why = f" ({failed.error})" if failed is not None and failed.error else ""
    what = target.image
    if target.image == live.value.image:
        fields = ", ".join(change.path for change in diff(target, live.value) if change.path)
        what = f"the change of {fields}"
    return f"swarm took back {what}, since a replica of it failed{why}: {live.value.image} goes on"


def noted(situation: AppSituation) -> Mapping[str, str]:
    """The anchor's notes of an earlier rollback."""
    anchor = situation.swarm.config(situation.desired.anchor.name)
    labels = anchor.value.labels if anchor else {}
    return {name: labels[name] for name in NOTES if name in labels}


def refusal(situation: AppSituation) -> str | None:
    """Why what the file asks for is not tried again; None where it was not taken back."""
    fresh, note = new_rollback(situation), noted(situation)
    wanted = wanted_digest(situation)
    if fresh is not None:
        why = fresh.why
    elif wanted and note.get(ROLLED_BACK_LABEL) == wanted:
        why = note.get(ROLLED_BACK_WHY_LABEL, "swarm took it back")
    else:
        return None
    return f"{why}. It is not tried again until the file changes"


def rollback_notes(situation: AppSituation) -> Mapping[str, str | None]:
    """What the anchor's labels should say of it; None for a label that is over."""
    fresh = new_rollback(situation)
    if fresh is not None:
        return fresh.labels
    note, wanted = noted(situation), wanted_digest(situation)
    if situation.missing:
        return {}  # what is not there now is no other wish
    if wanted and note.get(ROLLED_BACK_LABEL, wanted) != wanted:
        return {ROLLED_BACK_LABEL: None, ROLLED_BACK_WHY_LABEL: None}
    return {}
