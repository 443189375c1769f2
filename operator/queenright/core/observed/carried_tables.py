"""Takes over, from one reading of the swarm to the next, what was made from lists that stay.

An edit changes one service, and a thousand clusters have thirty thousand objects. Invariant: a
table is made from one list alone, so that the same objects in the same places give an equal one.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_
from typing import Final

from queenright.core.observed.swarm import ORDERS, SwarmState

TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "nodes": ("_nodes_by_name", "_nodes_by_id"),
    "former_nodes": ("_former_nodes_by_id",),
    "services": ("_services_by_name",),
    "tasks": ("_tasks_by_service",),
    "networks": ("_networks_by_name",),
    "secrets": ("_secrets_by_name",),
    "configs": ("_configs_by_name",),
}
"""The tables that a reading makes of each of its lists."""
INDEXES: Final[Mapping[str, tuple[str, ...]]] = {
    "nodes": (
        "addresses",
        "managers",
        "_nodes_by_label",
        "_nodes_by_name",
        "_nodes_by_address",
        "_node_places",
    ),
    "former_nodes": (),
    "services": (
        "_services_by_id",
        "_services_by_label",
        "_services_by_scope",
        "_services_by_port",
        "_services_by_variable",
        "_services_of",
        "_places",
        "configs_in_use",
        "configs_to_keep",
    ),
    "tasks": ("_service_ids_by_node",),
    "networks": ("_networks_by_label",),
    "secrets": ("_secrets_by_label", "secret_ids"),
    "configs": ("_configs_by_label",),
}
"""The tables that its index makes of each of its lists."""


def in_order_after(former: tuple[SwarmState, SwarmState], now: SwarmState) -> SwarmState:
    """Return a reading in order. ``former`` is the last one as it came, and in order."""
    before, ordered = former
    stay = [name for name in ORDERS if same_objects(getattr(before, name), getattr(now, name))]
    found = now.in_order({name: getattr(ordered, name) for name in stay})
    for name in stay:
        carry(TABLES[name], ordered, found)
        carry(INDEXES[name], ordered.index, found.index)
    return found


def carry(tables: tuple[str, ...], former: object, now: object) -> None:
    """Give one object what another has made of its lists, where it has made that."""
    for table in tables:
        if table in vars(former):
            vars(now)[table] = vars(former)[table]


def same_objects(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return len(one) == len(other) and all(map(is_, one, other))
