"""Reads the engine's lists object by object, so that one odd object does not hide the rest.

Decides from an object's label whether it may be passed over: what others own is skipped, and told
once. Invariant: what is ours, and any node, is read or the whole look fails; we never act as if it
were not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import structlog

from queenright.core.resources import APP_LABEL, CLUSTER_LABEL
from queenright.ports.swarm import UnavailableError

Json = dict[str, Any]
T = TypeVar("T")

log = structlog.get_logger()
ODD = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What decoding raises on JSON of another shape than Docker documents."""


class Reader:
    """Remembers which objects it could not read, to tell each of them once."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def read(
        self,
        kind: str,
        raws: Iterable[Any],
        decode: Callable[[Json], T],
        is_ours: Callable[[Any], bool],
    ) -> tuple[T, ...]:
        """The objects that can be read; UnavailableError for one of ours that can't."""
        found: list[T] = []
        for raw in raws:
            try:
                found.append(decode(raw))
            except ODD as error:
                name = f"{kind} {identity(raw)}"
                why = f"{type(error).__name__}: {error}"
                if is_ours(raw):
                    raise UnavailableError(f"{name} can't be read: {why}") from error
                if name not in self._told:
                    log.warning("passed over: it can't be read", object=name, error=why)
                self._told.add(name)
        return tuple(found)


def always(_: Any) -> bool:
    """For kinds of which none may be passed over."""
    return True


def is_labelled(raw: Any) -> bool:
    """Whether a service, network, secret or config carries our label."""
    labels = part(part(raw, "Spec"), "Labels") or part(raw, "Labels")
    return isinstance(labels, dict) and bool(labels.keys() & {CLUSTER_LABEL, APP_LABEL})


def is_task_of(services: Iterable[Any]) -> Callable[[Any], bool]:
    """Whether a task belongs to one of our ``services``."""
    ours = [part(raw, "ID") for raw in services if is_labelled(raw)]
    return lambda raw: part(raw, "ServiceID") in ours


def by_id(raws: Iterable[Any], key: str = "ID") -> dict[str, Json]:
    """The engine's own objects by their id, as far as they tell one."""
    return {raw[key]: raw for raw in raws if isinstance(part(raw, key), str)}


def identity(raw: Any) -> str:
    name = part(part(raw, "Spec"), "Name") or part(raw, "Name")
    return str(name or part(raw, "ID") or part(raw, "Id") or "without a name")


def part(raw: Any, key: str) -> Any:
    return raw.get(key) if isinstance(raw, dict) else None


def is_swarm_overlay(raw: Any) -> bool:
    """A network that services of the whole swarm can share. Each engine has networks of its own
    besides, perhaps of the same name."""
    return bool(part(raw, "Driver") == "overlay" and part(raw, "Scope") == "swarm")


def unlisted_networks(services: Iterable[Any], networks: Iterable[Any]) -> list[str]:
    """The ids of networks that services of ours are on, and that the engine does not list: swarm's
    predefined ``host`` has an id of its own, which only an inspection knows."""
    listed = by_id(networks, "Id")
    found = {
        target: None
        for raw in services
        if is_labelled(raw)
        for item in part(part(part(raw, "Spec"), "TaskTemplate"), "Networks") or ()
        if isinstance(target := part(item, "Target"), str) and target not in listed
    }
    return list(found)
