"""Smallest patch that makes Patroni's settings the file's, with the values it rests on.

Decides from the file's settings, from what Patroni keeps, and from the list there of the parameters
that the file owns. Invariant: it names nothing that the file does not own, and never did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from queenright.core.actions import FieldChange
from queenright.core.kinds.postgres_cluster.patroni.config_keys import (
    PARAMETERS_KEY,
    OwnParameters,
    read_parameters,
)
from queenright.core.kinds.postgres_cluster.patroni.replica_methods import wanted_methods
from queenright.core.kinds.postgres_cluster.replication.first_replica import without_early_strict
from queenright.core.kinds.postgres_cluster.replication.settings import wanted_settings
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import parameters_of
from queenright.core.planning.ages import certain_age
from queenright.core.postgres.equal_settings import lines, same_parameter, same_rules, same_setting
from queenright.core.postgres.parameters import parameters
from queenright.core.swarm.diff import ABSENT, CONCEALED
from queenright.core.swarm.digest import PLAIN

TAKES_OVER = timedelta(seconds=60)
"""Time in which a member reports that a parameter waits for a restart: it reads new settings in
its next round at the latest (spec: database-cluster §2.5, loop_wait), then reloads."""

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


def settings_patch(state: ClusterState, found: Mapping[str, Any]) -> SettingsPatch:
    """Patch from ``found``, Patroni's settings, to the file's."""
    written = state.desired.settings
    present = parameters_in(found)
    marked = read_parameters(found)
    section: Mapping[str, Any] = written["postgresql"]
    wanted = {
        **written,
        **without_early_strict(state, wanted_settings(written, found), found),
        "postgresql": {
            **section,
            **wanted_methods(section, found.get("postgresql")),
            "parameters": {
                **unwanted(section["parameters"], present, marked),
                **section["parameters"],
            },
        },
        PARAMETERS_KEY: str(own_parameters(state, present, marked)) or None,
    }
    return compared((), wanted, found)


def parameters_in(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """PostgreSQL's parameters in Patroni's settings; empty where there is no mapping."""
    return parameters_of(found) or {}


def unwanted(
    written: Mapping[str, Any], present: Mapping[str, Any], marked: OwnParameters
) -> dict[str, None]:
    """Parameters to remove, with None as their value.

    Former ones of the file, and others that differ from the file's only in upper and lower case,
    which PostgreSQL and Patroni ignore.
    """
    ours = {name.lower() for name in (*written, *marked.names)}
    return {name: None for name in present if name not in written and name.lower() in ours}


def own_parameters(
    state: ClusterState, present: Mapping[str, Any], marked: OwnParameters
) -> OwnParameters:
    """The list of the file's own parameters, as it should be.

    One that left the file stays in it while a member may still wait for the restart that it takes,
    so that the wait is known to come from the file.
    """
    desired = state.desired.settings
    written = desired["postgresql"]["parameters"]
    named = read_parameters(desired).names
    gone = {
        name: state.now
        for name in marked.names
        if name not in written and name in present and may_need_restart(name)
    }
    kept = {
        name: at
        for name, at in marked.removed.items()
        if name not in written and name not in present and is_awaited(state, name, marked)
    }
    return OwnParameters(named, {**kept, **gone})


def may_need_restart(name: str) -> bool:
    """True if PostgreSQL may apply a change of the parameter only at its start.

    True for parameters of extensions, of which it is not known.
    """
    parameter = parameters().get(name)
    return parameter is None or parameter.needs_restart


def parameter_age(state: ClusterState, removed_at: datetime) -> timedelta:
    """Time since a parameter was taken out of the file."""
    return certain_age(removed_at, state.now, state.seen_setting(PARAMETERS_KEY))


def is_awaited(state: ClusterState, name: str, marked: OwnParameters) -> bool:
    """True if a member waits, or may wait, for a restart because this parameter was removed."""
    if parameter_age(state, marked.removed[name]) < TAKES_OVER:
        return True
    statuses = [state.status(member) for member in state.desired.members]
    return any(status is None or name in status.pending_changes for status in statuses)


def compared(
    path: tuple[str, ...], wanted: Mapping[str, Any], found: Mapping[str, Any]
) -> SettingsPatch:
    """The differences of one level and of those below it."""
    patch: dict[str, Any] = {}
    expected: dict[str, Any] = {}
    changes: list[FieldChange] = []
    for key, value in wanted.items():
        present = found.get(key)
        if type(value) in PLAIN and type(value) is type(present) and value == present:
            continue  # most of them, in most passes
        here = (*path, key)
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
    """Changes as shown to people.

    Free text written by others may hold a secret, and is concealed; so may the options of an access
    rule.
    """
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
