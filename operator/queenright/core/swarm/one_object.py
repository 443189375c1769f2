"""Gives equal values as one object, so that a thousand clusters hold one copy of what they share.

Nearly always a cluster's desired state and what the swarm has of it are equal, and so are many
parts of different clusters: the script of the proxies, ports, mounts, policies. Invariant: the
given object is equal to the value, and of the same types: a digest tells ``5`` from ``5.0``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, Final

from queenright.core.manifest.remembered import MOST_DOCUMENTS
from queenright.core.swarm.objects import Service

MOST_DATA = 8 * MOST_DOCUMENTS
"""Contents of configs: a cluster has five to seven."""
MOST_PARTS = 32 * MOST_DOCUMENTS
"""Parts of services: a cluster has some twenty that no other one has."""


class OneObject:
    """The first one of equal values. A value for which nobody has asked while ``most`` others were
    given is forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most // 2
        self._newer: dict[Hashable, Any] = {}
        self._older: dict[Hashable, Any] = {}

    def of(self, key: Hashable, value: Any) -> Any:
        """Return the first value of this key; the value itself where the key can't be compared."""
        try:
            found = self._newer.get(key)
        except TypeError:  # a list or a mapping where Docker documents a text
            return value
        if found is None:
            found = self._older.get(key, value)
            if len(self._newer) >= self._most:
                self._older, self._newer = self._newer, {}
            self._newer[found if key is value else key] = found
        return found


_data: Final = OneObject(MOST_DATA)
_texts: Final = OneObject(MOST_PARTS)
_parts: Final = OneObject(MOST_PARTS)
TEXTS: Final = ("labels", "container_labels", "environment")
PARTS: Final = ("networks", "constraints", "ports", "mounts", "configs", "secrets", "resources")
"""Fields of a service in which each field has one type: texts, whole numbers, truth values."""
POLICIES: Final = ("health_check", "restart", "update", "rollback")
"""Fields with numbers, which may be whole."""


def one_data(data: bytes) -> bytes:
    """Return the contents of a config as one object."""
    found: bytes = _data.of(data, data)
    return found


def one_texts(texts: Mapping[str, str]) -> Mapping[str, str]:
    """Return labels or an environment as one object."""
    if not all(type(text) is str for text in texts.values()):
        return texts
    found: Mapping[str, str] = _texts.of(tuple(texts.items()), texts)
    return found


def with_shared_parts(service: Service) -> Service:
    """Return an equal service, whose parts are one object with those of others."""
    texts: dict[str, Any] = {name: one_texts(getattr(service, name)) for name in TEXTS}
    parts = {name: _one_part(getattr(service, name)) for name in PARTS}
    policies = {name: _one_policy(getattr(service, name)) for name in POLICIES}
    return replace(service, **texts, **parts, **policies)


def _one_part(value: Hashable) -> Any:
    return _parts.of(value, value)


def _one_policy(value: Any) -> Any:
    if value is None:
        return None
    types = tuple(type(getattr(value, name)) for name in value.__slots__)
    return _parts.of((value, types), value)
