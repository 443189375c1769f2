"""Read the engine's lists object by object, so that one odd object does not hide the rest.

An object's label decides if it may be skipped: other owners' objects are skipped and logged once.
Invariant: every node, and the tasks of our services, are read, or the whole observation fails.
Another object of ours that can't be read is reported with its owner, and the operator does nothing
for that owner; it never acts as if the object did not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any, TypeVar

import structlog

from queenright.adapters.docker.entries import Entry, part
from queenright.core.kinds.registry import owner_labels
from queenright.core.observed import Unreadable
from queenright.ports.swarm import UnavailableError

Json = dict[str, Any]
T = TypeVar("T")

log = structlog.get_logger()
ODD = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""Exceptions of decoding JSON of another shape than Docker documents."""


class Reader:
    """Reads lists, and remembers the unreadable objects, to log each of them once, and the readable
    ones, which are decoded again only when they have changed."""

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._decoded: dict[str, dict[str, tuple[object, object, Any]]] = {}
        self.unread: dict[str, frozenset[str]] = {}
        """The keys of the objects that could not be read, by kind."""

    def read(
        self,
        kind: str,
        entries: Iterable[Entry],
        decode: Callable[[Json], T],
        is_ours: Callable[[Any], bool],
        unreadable: list[Unreadable] | None = None,
        *,
        beside: object = None,
        keeps: bool = False,
    ) -> tuple[T, ...]:
        """Return the readable objects. An unreadable one of ours goes to ``unreadable``, if its
        label names its owner; else it is an UnavailableError. ``beside`` is what ``decode`` reads
        besides the object. With ``keeps``, the objects are a part of their kind's."""
        found: list[T] = []
        before, now = self._decoded.get(kind, {}), dict[str, tuple[object, object, Any]]()
        unread = self.unread[kind] = self.unread.get(kind, frozenset()) if keeps else frozenset()
        for entry in entries:
            kept = before.get(entry.key)
            if kept is None or kept[1] is not beside or kept[0] != entry.state:
                raw = entry.parse()
                try:
                    kept = (entry.state, beside, decode(raw))
                except ODD as error:
                    self._pass_over(kind, raw, error, is_ours, unreadable)
                    self.unread[kind] = unread = unread | {entry.key}
                    continue
            now[entry.key] = kept
            found.append(kept[2])
        self._decoded[kind] = {**before, **now} if keeps else now
        return tuple(found)

    def _pass_over(
        self,
        kind: str,
        raw: Any,
        error: Exception,
        is_ours: Callable[[Any], bool],
        unreadable: list[Unreadable] | None,
    ) -> None:
        """Note an object that can't be read, or raise an UnavailableError."""
        name, why = f"{kind} {identity(raw)}", f"{type(error).__name__}: {error}"
        if is_ours(raw):
            whose = owner_of(raw)
            if unreadable is None or whose is None:
                raise UnavailableError(f"{name} can't be read: {why}") from error
            unreadable.append(Unreadable(*whose, f"{name} can't be read: {why}"))
            return
        if name not in self._told:
            log.warning("object skipped: it can't be read", object=name, error=why)
        self._told.add(name)


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


def is_task_of(services: Container[str]) -> Callable[[Any], bool]:
    """Return a test for tasks that belong to one of our ``services``, by id."""
    return lambda raw: part(raw, "ServiceID") in services


def identity(raw: Any) -> str:
    name = part(part(raw, "Spec"), "Name") or part(raw, "Name")
    return str(name or part(raw, "ID") or part(raw, "Id") or "without a name")


def is_swarm_overlay(raw: Any) -> bool:
    """Return True for a network that services of the whole swarm can share. Each engine has
    networks of its own besides, perhaps of the same name."""
    return bool(part(raw, "Driver") == "overlay" and part(raw, "Scope") == "swarm")


def targets_of(raw: Json) -> tuple[str, ...]:
    """Return the ids of the networks of a service of ours; nothing for another one."""
    items = part(part(part(raw, "Spec"), "TaskTemplate"), "Networks") or ()
    return tuple(str(item["Target"]) for item in items) if is_labelled(raw) else ()
