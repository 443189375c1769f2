"""The settings that Patroni keeps for a running cluster: where they differ from the file is told.

They were read from the file once, at bootstrap (spec: database-cluster §2.5), and live in Patroni
since. Only what the file owns is compared; what somebody set beside it is theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from queenright.core.actions import Action
from queenright.core.observed import Known
from queenright.core.plan import Hold
from queenright.core.situation import Situation

SWITCH_WORDS = {"true": "on", "yes": "on", "false": "off", "no": "off"}


def plan_settings(situation: Situation) -> Iterator[Action | Hold]:
    match situation.settings:
        case Known(found) if situation.is_bootstrapped:
            different = list(differences(situation.desired.settings, found))
        case _:
            return
    if different:
        yield Hold(
            f"settings/{situation.desired.name}",
            "Patroni keeps other settings than the file says: "
            + "; ".join(different)
            + ". They are not changed on a running cluster by themselves: use patronictl "
            "edit-config in a member's container",
            wants_attention=True,
        )


def differences(
    desired: Mapping[str, object], found: Mapping[str, object], path: str = ""
) -> Iterator[str]:
    """A text like ``ttl is 30, not 20`` for each setting of the file that Patroni has otherwise."""
    for key, wanted in desired.items():
        name, present = f"{path}{key}", found.get(key)
        if isinstance(wanted, Mapping) and isinstance(present, Mapping):
            yield from differences(wanted, present, f"{name}.")
        elif plain(present) != plain(wanted):
            yield f"{name} is {show(present)}, not {show(wanted)}"


def plain(value: object) -> object:
    """A value without the liberties of its spelling: ``on``, ``true`` and True are one."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    text = str(value).strip().lower()
    return SWITCH_WORDS.get(text, text)


def show(value: object) -> str:
    return "not set" if value is None else str(value)
