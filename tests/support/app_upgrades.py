"""Plans of an application whose image changes: the images, and short forms of what is planned."""

from __future__ import annotations

from queenright.core.actions import CreateService
from queenright.core.planning.plan import Hold, Plan
from queenright.core.swarm.objects import Service
from tests.support.app_builders import APP, APP_DIGESTS, APP_IMAGE, NEXT_IMAGE, app_plan, served
from tests.support.builders import summary

NEXT = APP.replace(APP_IMAGE, NEXT_IMAGE)
BEFORE = f"{APP_IMAGE}@{APP_DIGESTS[APP_IMAGE]}"
AFTER = f"{NEXT_IMAGE}@{APP_DIGESTS[NEXT_IMAGE]}"
ANCHOR = "notes_application"
NAGS = "key/notes"


def hold(plan: Plan, key: str) -> Hold:
    return next(found for found in plan.holds if found.key == key)


def keys(plan: Plan) -> tuple[list[str], list[str]]:
    actions, holds = summary(plan)
    return actions, [key for key in holds if key != NAGS]


def job_of(text: str = NEXT) -> Service:
    (made,) = (step for step in app_plan(served(), text).actions if isinstance(step, CreateService))
    return made.service
