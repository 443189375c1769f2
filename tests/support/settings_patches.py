"""The patch of Patroni's settings that a plan has, and its holds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from queenright.core.actions import PatchSettings
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Known, Observed
from queenright.core.planning.plan import Hold
from tests.support.builders import MANIFEST, NOW, manifest, plan_for
from tests.support.changed import with_settings

EXTRA = manifest(postgresql="{parameters: {log_lock_waits: 'on', max_files_per_process: 2000}}")
NOTE = "queenright_parameters"


def patch_of(observed: Observed, text: str = MANIFEST, now: datetime = NOW) -> PatchSettings | None:
    plan = plan_for(observed, text, now)
    assert first_refusal(plan, observed) is None
    found = [a for a in plan.actions if isinstance(a, PatchSettings) and a.aspect == "settings"]
    assert len(found) <= 1
    return found[0] if found else None


def hold_of(observed: Observed, key: str = "settings/main", text: str = MANIFEST) -> Hold | None:
    return next((hold for hold in plan_for(observed, text).holds if hold.key == key), None)


def with_parameters(observed: Observed, **changed: object) -> Observed:
    kept = observed.settings["main"]
    assert isinstance(kept, Known)
    section: Mapping[str, Any] = kept.value["postgresql"]
    found = {**section["parameters"], **changed}
    found = {name: value for name, value in found.items() if value is not None}
    return with_settings(observed, postgresql={**section, "parameters": found})
