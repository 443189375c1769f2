"""Edit of Patroni's settings by hand: its patch, and the fields that the operator owns.

Decides from the settings as they were found, as they were edited, and as the file wants them.
Settings with a command of their own, and the operator's keys, can't be edited in this way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from queenright.core.manifest.suggestions import UnfitValueError, describe

PARAMETERS = ("postgresql", "parameters")
OWN_PREFIX = "queenright_"

Path = tuple[str, ...]


def patch_between(found: Mapping[str, Any], edited: Mapping[str, Any]) -> dict[str, Any]:
    """The smallest merge patch from one to the other; None removes a key."""
    patch: dict[str, Any] = {key: None for key in found if key not in edited}
    for key, value in edited.items():
        there = found.get(key)
        if isinstance(value, Mapping) and isinstance(there, Mapping):
            if inner := patch_between(there, value):
                patch[key] = inner
        elif value is None:
            if key in found:
                patch[key] = None
        elif key not in found or not is_same_value(there, value):
            patch[key] = value
    return patch


def is_same_value(one: object, other: object) -> bool:
    """Equal as JSON: 1 is not true."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def needed(found: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """A patch without what is so already."""
    kept: dict[str, Any] = {}
    for key, value in patch.items():
        there = found.get(key)
        if isinstance(value, Mapping) and isinstance(there, Mapping):
            if inner := needed(there, value):
                kept[key] = inner
        elif (value is None and key in found) or (
            value is not None and not is_same_value(there, value)
        ):
            kept[key] = value
    return kept


def refusals(patch: Mapping[str, Any]) -> Iterator[str]:
    """Fields that may not be changed in this way, with the reason, a line each."""
    if "pause" in patch:
        yield "pause: use `queenright pause` and `queenright resume`, which wait for every member"
    for key in patch:
        if key.startswith(OWN_PREFIX):
            yield f"{key}: is the operator's own key; leave it as it is"
    try:
        json.dumps(patch, allow_nan=False)
    except (TypeError, ValueError) as error:
        yield f"a value is none that JSON knows: {error}"


def owned_fields(wanted: Mapping[str, Any], patch: Mapping[str, Any]) -> tuple[str, ...]:
    """The changed fields that the file decides as well (or what is within them)."""
    return tuple(".".join(path) for path in leaves(patch) if is_owned(wanted, path))


def is_owned(wanted: Mapping[str, Any], path: Path) -> bool:
    holder: Any = wanted
    for step in path:
        if not isinstance(holder, Mapping):
            return True
        if step not in holder:
            return False
        holder = holder[step]
    return True


def leaves(patch: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    for key, value in patch.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def patch_for(path_text: str, value: object) -> dict[str, Any]:
    """The patch of ``ttl=20`` or ``postgresql.parameters.pg_stat_statements.max=5000``: within the
    parameters, all that follows is one name. UnfitValueError for what is no path."""
    steps = path_text.split(".")
    if tuple(steps[:2]) == PARAMETERS and len(steps) > 2:
        steps = [*PARAMETERS, ".".join(steps[2:])]
    if not all(steps):
        raise UnfitValueError(
            f"{describe(path_text)} is no field: write for example ttl, or "
            "postgresql.parameters.work_mem"
        )
    patch: Any = value
    for step in reversed(steps):
        patch = {step: patch}
    return dict(patch)


def merge_patches(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Two patches as one; the later wins."""
    result = dict(one)
    for key, value in other.items():
        there = result.get(key)
        if isinstance(value, Mapping) and isinstance(there, Mapping):
            result[key] = merge_patches(there, value)
        else:
            result[key] = value
    return result
