"""Patches of Patroni's settings that a command writes, and their changes for the audit trail.

Invariant: a patch rests on the settings that were found, and free text, which may hold a secret, is
concealed in its changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from queenright.core.actions import FieldChange, PatchSettings
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.patroni.config_diff import shown_present
from queenright.core.kinds.postgres_cluster.patroni.config_edit import PARAMETERS
from queenright.core.kinds.postgres_cluster.patroni.config_keys import PAUSE_KEY
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.swarm.diff import ABSENT, CONCEALED


def settings_patch(
    state: ClusterState,
    asked: DesiredMember,
    found: Mapping[str, Any],
    patch: Mapping[str, Any],
    *,
    aspect: str,
    reason: str,
) -> PatchSettings:
    """Patch of Patroni's settings, resting on what was ``found`` at the member ``asked``.

    Free text may hold a secret, and is not written into the audit trail.
    """
    return PatchSettings(
        **state.asked(asked),
        aspect=aspect,
        patch=patch,
        expected=present(found, patch),
        reason=reason,
        changes=tuple(
            FieldChange(".".join(path), audited(path, old), audited(path, new))
            for path, old, new in changed_values(found, patch)
        ),
    )


def pause_patch(found: Mapping[str, Any], *, paused: bool) -> dict[str, Any]:
    """Patch that sets or lifts the pause; lifting it removes the operator's pause reason too."""
    if paused:
        return {"pause": True}
    return {"pause": None} | ({PAUSE_KEY: None} if PAUSE_KEY in found else {})


def present(found: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The present values under a patch's keys; None stands for an absent one."""
    expected: dict[str, Any] = {}
    for key, value in patch.items():
        there = found.get(key)
        if isinstance(value, Mapping) and isinstance(there, Mapping):
            expected[key] = present(there, value)
        else:
            expected[key] = there
    return expected


def changed_keys(found: Mapping[str, Any], patch: Mapping[str, Any]) -> Iterator[FieldChange]:
    """Changes of a patch, field by field, with the values that it replaces."""
    for path, old, new in changed_values(found, patch):
        yield FieldChange(".".join(path), text_of(old), text_of(new))


def changed_values(
    found: Mapping[str, Any], patch: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object, object]]:
    """Path, present and future value of each field of a patch that differs."""
    for key, value in patch.items():
        there, here = found.get(key), (*path, key)
        if isinstance(value, Mapping):
            yield from changed_values(there if isinstance(there, Mapping) else {}, value, here)
        elif there != value:
            yield here, there, value


def audited(path: tuple[str, ...], value: object) -> str:
    """A value as shown in the audit trail.

    A text below the top level is a command or the like, and concealed, unless it is a parameter's
    whose type allows to show it.
    """
    if isinstance(value, str) and len(path) > 1 and path[:-1] != PARAMETERS:
        return CONCEALED
    return shown_present(path, value)


def text_of(value: object) -> str:
    return ABSENT if value is None else str(value)
