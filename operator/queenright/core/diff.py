"""What differs between a desired value and an observed one, field by field.

Decides from two values of one type of ``resources``. Invariant: a value that only the observed
side has is never printed, since what a person added by hand may be a secret.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Mapping

from queenright.core.actions import FieldChange
from queenright.core.resources import Service

ABSENT = "(absent)"
CONCEALED = "(set)"
"""Stands for a value that nobody wrote down in the file, which may be a secret."""

UNDISTURBING = frozenset({"labels", "replicas", "update", "rollback"})
"""Fields of a service whose change restarts no running task (swarmkit: ``IsTaskDirty`` compares
the task template and the endpoint, nothing else)."""

IDENTITY = {
    "Attachment": "network",
    "Port": "published",
    "Mount": "target",
    "FileReference": "target",
}
FREE_TEXT = frozenset(
    {"command", "args", "hosts", "health_check", "hostname", "user", "working_directory", "other"}
)


def diff(desired: object, observed: object) -> tuple[FieldChange, ...]:
    """The fields of ``observed`` that differ from ``desired``, sorted by path; empty when equal."""
    return tuple(sorted(differences("", desired, observed), key=lambda change: change.path))


def disturbs(changes: tuple[FieldChange, ...]) -> bool:
    """Whether swarm restarts running tasks to bring these changes of a service about."""
    return any(root_of(change.path) not in UNDISTURBING for change in changes)


def root_of(path: str) -> str:
    """The first name of a path: ``mounts`` for ``mounts[/tmp].size_bytes``."""
    return path.partition(".")[0].partition("[")[0]


def keep_foreign_labels(desired: Service, observed: Service) -> Service:
    """``desired`` with the labels that others have put on the service: they are not ours."""
    return dataclasses.replace(
        desired,
        labels={**observed.labels, **desired.labels},
        container_labels={**observed.container_labels, **desired.container_labels},
    )


def differences(path: str, desired: object, observed: object) -> Iterator[FieldChange]:
    if desired == observed:
        return
    if isinstance(desired, Mapping) and isinstance(observed, Mapping):
        yield from mapping_differences(path, desired, observed)
    elif dataclasses.is_dataclass(desired) and type(desired) is type(observed):
        for item in dataclasses.fields(desired):
            name = f"{path}.{item.name}" if path else item.name
            yield from differences(name, getattr(desired, item.name), getattr(observed, item.name))
    elif isinstance(desired, tuple) and isinstance(observed, tuple) and keyed(desired + observed):
        yield from mapping_differences(path, by_identity(desired), by_identity(observed))
    else:
        old = CONCEALED if root_of(path) in FREE_TEXT and observed else show(observed)
        yield FieldChange(path, old, show(desired))


def mapping_differences(
    path: str, desired: Mapping[Hashable, object], observed: Mapping[Hashable, object]
) -> Iterator[FieldChange]:
    for key in sorted({*desired, *observed}, key=str):
        name = f"{path}[{key}]"
        if key not in observed:
            yield FieldChange(name, ABSENT, show(desired[key]))
        elif key not in desired:
            yield FieldChange(name, CONCEALED, ABSENT)
        else:
            yield from differences(name, desired[key], observed[key])


def keyed(items: tuple[object, ...]) -> bool:
    return bool(items) and all(type(item).__name__ in IDENTITY for item in items)


def by_identity(items: tuple[object, ...]) -> dict[Hashable, object]:
    return {getattr(item, IDENTITY[type(item).__name__]): item for item in items}


def show(value: object) -> str:
    """A value for people: short, on one line."""
    match value:
        case None | "" | () | {}:
            return ABSENT
        case bool():
            return str(value).lower()
        case tuple():
            return "[" + ", ".join(show(item) for item in value) + "]"
        case _ if dataclasses.is_dataclass(value):
            shown = (
                f"{item.name}={show(getattr(value, item.name))}"
                for item in dataclasses.fields(value)
                if getattr(value, item.name) not in ("", (), 0, None)
            )
            return "{" + ", ".join(shown) + "}"
        case _:
            return str(value)
