"""Faults of the members' Raft files, drawn apart from the others."""

from __future__ import annotations

import random

from tests.fakes.instances import Instance
from tests.fakes.world import World
from tests.sim.faults import MEMBERS, Action


def torn_journal(world: World, rng: random.Random) -> str:
    """A member's Raft journal is torn by a power cut; one at a time, as the others are needed."""
    found = next((i for i in members_of(world) if i.service == rng.choice(MEMBERS)), None)
    if found is None or has_damaged_raft(world):
        return "no Raft journal is torn"
    found.volume.raft = "torn"
    node = world.store.nodes[found.node_id].name
    world.power_cut(node)
    return f"power cut of {node}, where the Raft journal of {found.name} is torn"


def stuck_raft(world: World, rng: random.Random) -> str:
    """A member starts with a Raft log that it can't apply; one at a time, as above."""
    found = next((i for i in members_of(world) if i.service == rng.choice(MEMBERS)), None)
    if found is None or has_damaged_raft(world):
        return "no Raft log is damaged"
    found.volume.raft = "stuck"
    world.kill_container(found.service)
    return f"{found.name} can't apply its Raft log, and starts again"


def members_of(world: World) -> list[Instance]:
    return [i for i in world.patroni_model.of_cluster("main") if i.has_joined]


def has_damaged_raft(world: World) -> bool:
    return any(volume.raft != "whole" for volume in world.patroni_model.volumes.values())


RAFT_FAULTS: tuple[Action, ...] = (torn_journal, stuck_raft)
"""Drawn apart from the others, so that histories without them stay as they are."""
