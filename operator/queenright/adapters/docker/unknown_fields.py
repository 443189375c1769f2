"""Fields of Docker's JSON that the core does not model, so that they appear as drift.

Empty values, and defaults that Docker may or may not spell out, count as absent. Invariant: a
setting that the core does not model is never dropped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
IGNORED = {
    "Isolation": {"", "default"},
    "Runtime": {"", "container"},
}
"""Settings whose default Docker may or may not spell out."""


def whole(*keys: str) -> Json:
    """Return keys whose values the core models as a whole."""
    return {key: {} for key in keys}


MODELLED: Mapping[str, Json] = {
    "Mounts": {
        **whole("Type", "Source", "Target", "ReadOnly"),
        "TmpfsOptions": whole("SizeBytes", "Mode"),
    },
    "Configs": {"ConfigID": {}, "ConfigName": {}, "File": whole("Name", "UID", "GID", "Mode")},
    "Secrets": {"SecretID": {}, "SecretName": {}, "File": whole("Name", "UID", "GID", "Mode")},
    "Healthcheck": whole("Test", "Interval", "Timeout", "StartPeriod", "Retries"),
    "Networks": {"Target": {}, "Aliases": {}},
    "Ports": whole("Protocol", "TargetPort", "PublishedPort", "PublishMode"),
    "Resources": {
        "Limits": whole("MemoryBytes", "NanoCPUs"),
        "Reservations": whole("MemoryBytes", "NanoCPUs"),
    },
}
"""The keys of each part that the core models; an empty mapping marks one taken as a whole."""


def unmodelled(parts: Json) -> dict[str, str]:
    """Return the fields in the parts of a specification that the core does not model."""
    found: dict[str, str] = {}
    for name, value in parts.items():
        items = value if isinstance(value, list) else [value] if value else []
        for number, item in enumerate(items):
            place = f"{name}[{item.get('Target', number)}]" if value is items else name
            found |= beyond(place, item, MODELLED[name])
    return found


def beyond(path: str, value: Json, known: Json) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, item in value.items():
        if key not in known:
            found |= remainder("", {f"{path}.{key}": item})
        elif known[key] and isinstance(item, dict):
            found |= beyond(f"{path}.{key}", item, known[key])
    return found


def remainder(path: str, value: object) -> dict[str, str]:
    """Return the unknown rest of Docker's JSON, flat, by path."""
    if isinstance(value, dict):
        found: dict[str, str] = {}
        for key, item in value.items():
            if item not in (None, "", 0, False, [], {}) and item not in IGNORED.get(key, ()):
                found |= remainder(f"{path}.{key}" if path else key, item)
        return found
    return {path: json.dumps(value, sort_keys=True)}
