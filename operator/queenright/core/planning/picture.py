"""A document as a picture: the parts that run on each node, as values.

Pure. Invariant: what is not known is a part of the tone ``unknown``, never one that is well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from queenright.core.observed.swarm_objects import Node

Tone: TypeAlias = Literal["leader", "well", "waits", "broken", "unknown"]
NOWHERE = ""
"""The place of a part that has no node yet."""


@dataclass(frozen=True, slots=True)
class Part:
    """One member, proxy or replica: its node, its name, and words on its state.

    ``sort`` is its noun, such as ``member``; ``lag_mb`` is for what lags behind another part,
    ``service`` names its lags of the last hour.
    """

    node: str
    sort: str
    name: str
    tone: Tone
    words: tuple[str, ...] = ()
    lag_mb: int | None = None
    service: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A node with the parts on it; ``state`` is swarm's, with its availability if not active."""

    node: str
    address: str
    state: str
    is_ready: bool
    parts: tuple[Part, ...]


def places(parts: Iterable[Part], nodes: Mapping[str, Node]) -> tuple[Place, ...]:
    """Return the parts by node, in the nodes' order; those without a node are last."""
    found: dict[str, list[Part]] = {}
    for part in parts:
        found.setdefault(part.node, []).append(part)
    names = sorted(found, key=lambda name: (name == NOWHERE, name))
    return tuple(place(name, nodes.get(name), found[name]) for name in names)


def place(name: str, node: Node | None, parts: Iterable[Part]) -> Place:
    """Return one node with its parts; ``node`` None is one that the swarm does not have."""
    if node is None:
        return Place(name, "", "no such node" if name else "no node yet", False, tuple(parts))
    active = node.availability == "active"
    state = node.state if active else f"{node.state}, set to {node.availability}"
    return Place(name, node.address, state, node.is_ready, tuple(parts))
