"""The smallest patch that makes Patroni's settings what the file says, and what it rests on.

Decides from the file's settings, from what Patroni keeps, and from the note there of the parameters
that are the file's own. Invariant: it names nothing that is not, and never was, the file's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from queenright.core.actions import FieldChange
from queenright.core.diff import ABSENT, CONCEALED
from queenright.core.published import PARAMETERS_KEY, OwnParameters, read_parameters
from queenright.core.situation import Situation
from queenright.core.spec.parameter_table import parameters
from queenright.core.spellings import lines, same_parameter, same_rules, same_setting

TAKES_OVER = timedelta(seconds=60)
"""How long a member may need to tell that a parameter waits for a restart: it hears of new settings
in its next round at the latest (spec: database-cluster §2.5, loop_wait), then reloads."""

_PARAMETERS = ("postgresql", "parameters")
_RULES = ("postgresql", "pg_hba")


@dataclass(frozen=True, slots=True)
class SettingsPatch:
    """``patch`` and ``expected`` have the same keys: values to write, and values that were
    observed. None removes, and stands for an absent key. Empty where nothing differs."""

    patch: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, Any] = field(default_factory=dict)
    changes: tuple[FieldChange, ...] = ()

    @property
    def parameters(self) -> frozenset[str]:
        """Names of the parameters of PostgreSQL that it writes or removes."""
        section = self.patch.get("postgresql", {})
        return frozenset(section.get("parameters", {})) if section else frozenset()


def settings_patch(situation: Situation, found: Mapping[str, Any]) -> SettingsPatch:
    """What differs in ``found``, Patroni's settings, from the file."""
    written = situation.desired.settings
    present = parameters_in(found)
    noted = read_parameters(found)
    section: Mapping[str, Any] = written["postgresql"]
    wanted = {
        **written,
        "postgresql": {
            **section,
            "parameters": {
                **unwanted(section["parameters"], present, noted),
                **section["parameters"],
            },
        },
        PARAMETERS_KEY: str(own_parameters(situation, present, noted)) or None,
    }
    return compared((), wanted, found)


def parameters_in(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """PostgreSQL's parameters in Patroni's settings."""
    section = found.get("postgresql")
    present = section.get("parameters") if isinstance(section, Mapping) else None
    return present if isinstance(present, Mapping) else {}


def unwanted(
    written: Mapping[str, Any], present: Mapping[str, Any], noted: OwnParameters
) -> dict[str, None]:
    """Parameters to take away: the file's of before, and others that are the file's in all but
    upper and lower case, which PostgreSQL and Patroni don't tell apart."""
    ours = {name.lower() for name in (*written, *noted.names)}
    return {name: None for name in present if name not in written and name.lower() in ours}


def own_parameters(
    situation: Situation, present: Mapping[str, Any], noted: OwnParameters
) -> OwnParameters:
    """The note as it should be. One that left the file stays in it while a member may still wait
    for the restart that it takes, so that the wait is known for the file's doing."""
    desired = situation.desired.settings
    written = desired["postgresql"]["parameters"]
    named = read_parameters(desired).names
    gone = {
        name: situation.now
        for name in noted.names
        if name not in written and name in present and may_need_restart(name)
    }
    kept = {
        name: at
        for name, at in noted.removed.items()
        if name not in written and name not in present and is_awaited(situation, name, noted)
    }
    return OwnParameters(named, {**kept, **gone})


def may_need_restart(name: str) -> bool:
    """Whether PostgreSQL may take a change of the parameter only at its start; of extensions'
    parameters that is not known."""
    parameter = parameters().get(name)
    return parameter is None or parameter.needs_restart


def is_awaited(situation: Situation, name: str, noted: OwnParameters) -> bool:
    """Whether a member waits for a restart because this parameter was removed, or might."""
    if situation.now - noted.removed[name] < TAKES_OVER:
        return True
    statuses = [situation.status(member) for member in situation.desired.members]
    return any(status is None or name in status.pending_changes for status in statuses)


def compared(
    path: tuple[str, ...], wanted: Mapping[str, Any], found: Mapping[str, Any]
) -> SettingsPatch:
    """The differences of one level and of those below it."""
    patch: dict[str, Any] = {}
    expected: dict[str, Any] = {}
    changes: list[FieldChange] = []
    for key, value in wanted.items():
        here, present = (*path, key), found.get(key)
        if isinstance(value, Mapping) and isinstance(present, Mapping):
            below = compared(here, value, present)
            if below.patch:
                patch[key], expected[key] = below.patch, below.expected
                changes += below.changes
        elif not is_same(here, value, present):
            patch[key] = without_absent(value) if isinstance(value, Mapping) else value
            expected[key] = present
            changes += described(here, value, present)
    return SettingsPatch(patch, expected, tuple(changes))


def is_same(path: tuple[str, ...], wanted: object, present: object) -> bool:
    if wanted is None or present is None:
        return wanted is present
    if isinstance(wanted, Mapping):
        return False
    if path[:-1] == _PARAMETERS:
        return same_parameter(path[-1], wanted, present)
    return same_rules(wanted, present) if path == _RULES else same_setting(wanted, present)


def without_absent(value: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping that is written whole: Patroni would keep its None as they are."""
    return {
        key: without_absent(item) if isinstance(item, Mapping) else item
        for key, item in value.items()
        if item is not None
    }


def described(path: tuple[str, ...], wanted: object, present: object) -> Iterator[FieldChange]:
    """A change in words. What somebody else wrote as free text may hold a secret, and is not
    shown; of an access rule the options may."""
    name = ".".join(path)
    if isinstance(wanted, Mapping):
        for key, value in wanted.items():
            if value is not None:
                yield from described((*path, key), value, None)
    elif path == _RULES:
        yield FieldChange(name, *described_rules(wanted, present))
    else:
        yield FieldChange(
            name, shown_present(path, present), ABSENT if wanted is None else f"{wanted}"
        )


def shown_present(path: tuple[str, ...], present: object) -> str:
    if present is None:
        return ABSENT
    parameter = parameters().get(path[-1]) if path[:-1] == _PARAMETERS else None
    free = path[:-1] == _PARAMETERS and (parameter is None or parameter.type == "string")
    plain = isinstance(present, str | int | float) and not free
    return str(present) if plain else CONCEALED


def described_rules(wanted: object, present: object) -> tuple[str, str]:
    """The access rules before and after, in short: how many, and which of the file's are new."""
    ours = lines(wanted) if isinstance(wanted, list | tuple) else []
    theirs = lines(present) if isinstance(present, list | tuple) else None
    if theirs is None:
        return (ABSENT if present is None else CONCEALED), f"{len(ours)} rules"
    added = [without_options(rule) for rule in ours if rule not in theirs]
    others = sum(rule not in ours for rule in theirs)
    old = f"{len(theirs)} rules" + (f", {others} of them not the file's" if others else "")
    new = f"{len(ours)} rules" + (f", new are: {'; '.join(added)}" if added else "")
    return old, new if added or others else f"{new} in the file's order"


def without_options(rule: str) -> str:
    """A rule up to its method."""
    return " ".join(word for word in rule.split() if "=" not in word)
