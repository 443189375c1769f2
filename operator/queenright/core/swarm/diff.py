"""Differences between a desired value and an observed one, field by field.

Pure: compares two values of one type from ``objects``. Invariant: a value that only the observed
side has is never printed, because a value that a person added by hand may be a secret.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from queenright.core.swarm.objects import Service

ABSENT = "(absent)"
CONCEALED = "(set)"
"""Replaces a value that is not in the file, because it may be a secret."""

UNDISRUPTING = frozenset({"labels", "replicas", "update", "rollback"})
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


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that differs; ``old`` and ``new`` are texts for people, never a secret."""

    path: str
    old: str
    new: str


def diff(desired: object, observed: object) -> tuple[FieldChange, ...]:
    """Return the fields of ``observed`` that differ from ``desired``, by path; empty if equal."""
    if desired == observed:
        return ()
    return tuple(sorted(differences("", desired, observed), key=lambda change: change.path))


def disrupts(changes: tuple[FieldChange, ...]) -> bool:
    """Return True if swarm restarts running tasks to apply these changes of a service."""
    return any(root_of(change.path) not in UNDISRUPTING for change in changes)


def root_of(path: str) -> str:
    """Return the first name of a path: ``mounts`` for ``mounts[/tmp].size_bytes``."""
    return path.partition(".")[0].partition("[")[0]


def keep_foreign_labels(desired: Service, observed: Service) -> Service:
    """Return ``desired`` with the labels that others have put on the service."""
    if (desired.labels, desired.container_labels) == (observed.labels, observed.container_labels):
        return desired
    labels = {**observed.labels, **desired.labels}
    container_labels = {**observed.container_labels, **desired.container_labels}
    if labels == desired.labels and container_labels == desired.container_labels:
        return desired
    return dataclasses.replace(desired, labels=labels, container_labels=container_labels)


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
        old = CONCEALED if root_of(path) in FREE_TEXT and observed else format_value(observed)
        yield FieldChange(path, old, format_value(desired))


def mapping_differences(
    path: str, desired: Mapping[Hashable, object], observed: Mapping[Hashable, object]
) -> Iterator[FieldChange]:
    for key in sorted({*desired, *observed}, key=str):
        name = f"{path}[{key}]"
        if key not in observed:
            yield FieldChange(name, ABSENT, format_value(desired[key]))
        elif key not in desired:
            yield FieldChange(name, CONCEALED, ABSENT)
        else:
            yield from differences(name, desired[key], observed[key])


def keyed(items: tuple[object, ...]) -> bool:
    return bool(items) and all(type(item).__name__ in IDENTITY for item in items)


def by_identity(items: tuple[object, ...]) -> dict[Hashable, object]:
    return {getattr(item, IDENTITY[type(item).__name__]): item for item in items}


def format_value(value: object) -> str:
    """Return a value for people: short, on one line."""
    match value:
        case None | "" | () | {}:
            return ABSENT
        case bool():
            return str(value).lower()
        case tuple():
            return "[" + ", ".join(format_value(item) for item in value) + "]"
        case _ if dataclasses.is_dataclass(value):
            shown = (
                f"{item.name}={format_value(getattr(value, item.name))}"
                for item in dataclasses.fields(value)
                if getattr(value, item.name) not in ("", (), 0, None)
            )
            return "{" + ", ".join(shown) + "}"
        case _:
            return str(value)
