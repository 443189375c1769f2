"""Read the engine's lists object by object, so that one odd object does not hide the rest.

An object's label decides if it may be skipped: other owners' objects are skipped and logged once.
Invariant: every node, and the tasks of our services, are read, or the whole observation fails.
Another object of ours that can't be read is reported with its owner, and the operator does nothing
for that owner; it never acts as if the object did not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import structlog

from queenright.core.kinds.registry import owner_labels
from queenright.core.observed import Unreadable
from queenright.ports.swarm import UnavailableError

Json = dict[str, Any]
T = TypeVar("T")

log = structlog.get_logger()
VERSIONED = frozenset({"service", "task", "secret", "config"})
"""Kinds of which each difference between two lists is a write, with a version of its own."""
ODD = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""Exceptions of decoding JSON of another shape than Docker documents."""


class Reader:
    """Reads lists, and remembers the unreadable objects, to log each of them once, and the readable
    ones, which are decoded again only when they have changed."""

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._decoded: dict[str, dict[str, tuple[object, Any]]] = {}

    def read(
        self,
        kind: str,
        raws: Iterable[Any],
        decode: Callable[[Json], T],
        is_ours: Callable[[Any], bool],
        unreadable: list[Unreadable] | None = None,
        *,
        beside: object = None,
    ) -> tuple[T, ...]:
        """Return the readable objects. An unreadable one of ours goes to ``unreadable``, if its
        label names its owner; else it is an UnavailableError. ``beside`` is what ``decode`` reads
        besides the object."""
        found: list[T] = []
        before, now = self._decoded.get(kind, {}), dict[str, tuple[object, Any]]()
        self._decoded[kind] = now
        for raw in raws:
            try:
                state, key = (state_of(kind, raw), beside), str(part(raw, "ID") or part(raw, "Id"))
                kept = before.get(key)
                if kept is None or kept[0] != state:
                    kept = (state, decode(raw))
                now[key] = kept
                found.append(kept[1])
            except ODD as error:
                name = f"{kind} {identity(raw)}"
                why = f"{type(error).__name__}: {error}"
                if is_ours(raw):
                    whose = owner_of(raw)
                    if unreadable is not None and whose is not None:
                        unreadable.append(Unreadable(*whose, f"{name} can't be read: {why}"))
                        continue
                    raise UnavailableError(f"{name} can't be read: {why}") from error
                if name not in self._told:
                    log.warning("object skipped: it can't be read", object=name, error=why)
                self._told.add(name)
        return tuple(found)


def state_of(kind: str, raw: Any) -> object:
    """Return what is another value after each change of an object: swarm's version index with the
    time of the change, as a swarm that was restored from a backup counts again. Where the engine
    lists neither, or more than swarm keeps (a manager's reachability), the object itself."""
    index, changed_at = part(part(raw, "Version"), "Index"), part(raw, "UpdatedAt")
    return (index, changed_at) if kind in VERSIONED and index is not None and changed_at else raw


def always(_: Any) -> bool:
    """Return True, for kinds of which no object may be skipped."""
    return True


def is_labelled(raw: Any) -> bool:
    """Return True if a service, network, secret or config carries our label."""
    labels = part(part(raw, "Spec"), "Labels") or part(raw, "Labels")
    return isinstance(labels, dict) and bool(labels.keys() & {*owner_labels()})


def owner_of(raw: Any) -> tuple[str, str] | None:
    """Return the label that names an object's owner, and its value."""
    labels = part(part(raw, "Spec"), "Labels") or part(raw, "Labels")
    for label in owner_labels():
        if isinstance(name := part(labels, label), str) and name:
            return label, name
    return None


def is_task_of(services: Iterable[Any]) -> Callable[[Any], bool]:
    """Return a test for tasks that belong to one of our ``services``."""
    ours = [part(raw, "ID") for raw in services if is_labelled(raw)]
    return lambda raw: part(raw, "ServiceID") in ours


def by_id(raws: Iterable[Any], key: str = "ID") -> dict[str, Json]:
    """Return the engine's objects by their id, without those that have none."""
    return {raw[key]: raw for raw in raws if isinstance(part(raw, key), str)}


def identity(raw: Any) -> str:
    name = part(part(raw, "Spec"), "Name") or part(raw, "Name")
    return str(name or part(raw, "ID") or part(raw, "Id") or "without a name")


def part(raw: Any, key: str) -> Any:
    return raw.get(key) if isinstance(raw, dict) else None


def is_swarm_overlay(raw: Any) -> bool:
    """Return True for a network that services of the whole swarm can share. Each engine has
    networks of its own besides, perhaps of the same name."""
    return bool(part(raw, "Driver") == "overlay" and part(raw, "Scope") == "swarm")


def unlisted_networks(services: Iterable[Any], networks: Iterable[Any]) -> list[str]:
    """Return the ids of our services' networks that the engine does not list: swarm's predefined
    ``host`` has an id of its own, which only an inspection shows."""
    listed = by_id(networks, "Id")
    found = {
        target: None
        for raw in services
        if is_labelled(raw)
        for item in part(part(part(raw, "Spec"), "TaskTemplate"), "Networks") or ()
        if isinstance(target := part(item, "Target"), str) and target not in listed
    }
    return list(found)
