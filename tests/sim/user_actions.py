"""People's changes: the owner edits the file, an outsider works past the operator."""

from __future__ import annotations

import random

from queenright.core.swarm.objects import Attachment, Mount, Port
from tests.fakes.loading import judged
from tests.fakes.world import World
from tests.sim.documents import (
    BAD_TEXTS,
    LASTING_TEXTS,
    PASSING_TEXTS,
    PRIMARY_TEXTS,
    REPLICATION_TEXTS,
    UNFIT_TEXTS,
)
from tests.sim.faults import MEMBERS, SERVICES, WORKERS, Action
from tests.sim.schema_edits import draw_edit, fields_of
from tests.support.builders import FILE, MANIFEST

EDITED = tuple(one for one in fields_of("PostgresCluster") if one.path[0] == "spec")
"""The fields for edits: another name would be another cluster, unknown to the checkers."""
PRIMARIES = tuple(PRIMARY_TEXTS)
HAND_CHANGES: tuple[dict[str, object], ...] = (
    {"environment": {"NODE_NAME": "elsewhere"}},
    {"image": "10.77.0.1:5000/other:1"},
    {"stop_grace_s": 1.0},
    {"replicas": 0},
    {"replicas": 2},
    {"labels": {}},
    {"container_labels": {"a": "b"}},
    {"networks": (Attachment("main_patroni", ("imposter",)),)},
    {"networks": ()},
    {"configs": ()},
    {"secrets": ()},
    {"ports": (Port(15432, 5432),)},
    {"mounts": (Mount("/elsewhere", source="other"),)},
    {"health_check": None},
    {"constraints": ()},
    {"other": {"TaskTemplate.ContainerSpec.Sysctls.kernel.shmmax": "1"}},
)
SETTINGS_BY_HAND: tuple[dict[str, object], ...] = (
    {"ttl": 25},
    {"loop_wait": 9},
    {"failsafe_mode": True},
    {"failsafe_mode": None},
    {"postgresql": {"parameters": {"work_mem": "9MB"}}},
    {"postgresql": {"parameters": {"max_wal_senders": 12}}},
    {"postgresql": {"parameters": {"log_min_duration_statement": 250}}},
    {"queenright_route": None},
)


# The owner


def edit(world: World, rng: random.Random) -> str:
    number = rng.randrange(len(LASTING_TEXTS))
    world.manifests.write(FILE, LASTING_TEXTS[number])
    return f"edit: lasting text {number}"


def wish(world: World, rng: random.Random) -> str:
    number = rng.randrange(len(PASSING_TEXTS))
    world.manifests.write(FILE, PASSING_TEXTS[number])
    return f"edit: passing text {number}"


def edit_any_field(world: World, rng: random.Random) -> str:
    """Change one to three fields of the present text to other values, valid or not."""
    text, edits = world.manifests.files.get(FILE) or MANIFEST, list[str]()
    if judged({FILE: text}).errors:
        text = MANIFEST
    for _ in range(rng.choice((1, 1, 2, 3))):
        edit = draw_edit(FILE, text, rng.choice(EDITED), rng)
        text = edit.text
        edits.append(str(edit))
    world.manifests.write(FILE, text)
    return f"edit: {', '.join(edits)}"


def edit_replication(world: World, rng: random.Random) -> str:
    """Have commits wait for replicas, or no longer."""
    mode = rng.choice(REPLICATION_TEXTS)
    world.manifests.write(FILE, mode)
    return f"edit: {mode.splitlines()[-1].strip()}"


def another_primary(world: World, rng: random.Random) -> str:
    """Name another primary."""
    name = rng.choice(PRIMARIES)
    world.manifests.write(FILE, PRIMARY_TEXTS[name])
    return f"edit: {name} should lead"


def unfit_edit(world: World, rng: random.Random) -> str:
    number = rng.randrange(len(UNFIT_TEXTS))
    world.manifests.write(FILE, UNFIT_TEXTS[number])
    return f"edit: unfit text {number}"


def bad_edit(world: World, rng: random.Random) -> str:
    number = rng.randrange(len(BAD_TEXTS))
    world.manifests.write(FILE, BAD_TEXTS[number])
    return f"edit: bad text {number}"


def vanish(world: World, rng: random.Random) -> str:
    if "deletionPolicy: remove" in world.manifests.files.get(FILE, ""):
        return "the file stays: without it for a minute the cluster would be removed, as it asks"
    world.manifests.remove(FILE)
    return "the file vanishes"


def half_written(world: World, rng: random.Random) -> str:
    world.manifests.broken = not world.manifests.broken
    return f"half-written: {world.manifests.broken}"


# An outsider at the swarm


def change_member(world: World, rng: random.Random) -> str:
    name, fields = rng.choice(MEMBERS), rng.choice(HAND_CHANGES)
    world.change_service(name, **fields)
    return f"{name} is changed by hand: {fields}"


def change_proxy(world: World, rng: random.Random) -> str:
    fields = {k: v for k, v in rng.choice(HAND_CHANGES).items() if k != "replicas"}
    world.change_service("main_proxy", **fields)
    return f"the proxy is changed by hand: {fields}"


def foreign_label(world: World, rng: random.Random) -> str:
    name = rng.choice(SERVICES)
    labels = {**world.service(name).value.labels, "backup": "daily"}
    world.change_service(name, labels=labels)
    return f"{name} gets a label of somebody else"


def remove_service(world: World, rng: random.Random) -> str:
    name = rng.choice(SERVICES)
    world.store.remove_service(world.service(name).id)
    return f"{name} is removed by hand"


def remove_unused(world: World, rng: random.Random) -> str:
    store = world.store
    removers = {
        **{
            live.id: store.remove_config
            for live in store.configs.values()
            if live.value.name != "main_cluster"
        },
        **{live.id: store.remove_network for live in store.networks.values()},
    }
    assert removers, "nothing to remove"
    chosen = rng.choice(list(removers))
    removers[chosen](chosen)
    return f"{chosen} is removed by hand"


def move_label(world: World, rng: random.Random) -> str:
    node, value = rng.choice(("node1", *WORKERS)), rng.choice((None, "1", "2", "3"))
    world.label(node, pg_node=value)
    return f"{node} gets pg-node={value} by hand"


def drop_proxy_label(world: World, rng: random.Random) -> str:
    node = rng.choice(WORKERS)
    world.label(node, pg_ha_node=None)
    return f"{node} loses pg-ha-node by hand"


def drain(world: World, rng: random.Random) -> str:
    node = rng.choice(WORKERS)
    world.store.set_node(f"id-{node}", availability=rng.choice(("drain", "pause")))
    return f"{node} is drained or paused"


def activate(world: World, rng: random.Random) -> str:
    for node in WORKERS:
        world.store.set_node(f"id-{node}", availability="active")
    return "all nodes are active"


# An outsider at Patroni


def pause(world: World, rng: random.Random) -> str:
    agreed = world.patroni_model.consensus("main")
    assert agreed.raft.able, "no quorum"
    agreed.paused = True
    return f"patronictl pause (foreign: {agreed.foreign_pause})"


def resume(world: World, rng: random.Random) -> str:
    agreed = world.patroni_model.consensus("main")
    assert agreed.raft.able, "no quorum"
    agreed.paused = False
    return "patronictl resume"


def switch_over(world: World, rng: random.Random) -> str:
    leader, reach = world.leader(), world.orchestrator.reach
    assert leader is not None, "no leader"
    instances = [
        one
        for one in world.patroni_model.of_cluster("main")
        if one.is_streaming and reach.linked(leader.node_id, one.node_id)
    ]
    assert instances, "no candidate"
    chosen = rng.choice(instances)
    world.patroni_model.switch_over("main", chosen.name)
    return f"patronictl switchover to {chosen.name}"


def edit_config(world: World, rng: random.Random) -> str:
    agreed, patch = world.patroni_model.consensus("main"), rng.choice(SETTINGS_BY_HAND)
    assert agreed.raft.able, "no quorum"
    agreed.change(patch, by_operator=False)
    return f"patronictl edit-config: {patch}"


OWNER: tuple[Action, ...] = (
    edit_any_field,
    edit_any_field,
    edit_any_field,
    edit,
    edit,
    edit,
    wish,
    wish,
    another_primary,
    another_primary,
    another_primary,
    edit_replication,
    unfit_edit,
    bad_edit,
    vanish,
    half_written,
)
OUTSIDER: tuple[Action, ...] = (
    change_member,
    change_member,
    change_proxy,
    foreign_label,
    remove_service,
    remove_unused,
    move_label,
    drop_proxy_label,
    drain,
    activate,
    activate,
    pause,
    resume,
    resume,
    switch_over,
    edit_config,
)
