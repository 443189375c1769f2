"""Arbitrary damage by hand to whatever the operator reads in the swarm and in Patroni's settings.

Drawn from what is there, so that a label, variable or constraint that is new in the operator is
damaged by itself. Decides nothing about what the operator should make of it, but that it goes on.
"""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from queenright.core.observed import Live, SwarmState
from queenright.core.swarm.objects import Config, Service
from tests.fakes.world import World

T = TypeVar("T")

WORDS = (
    "",
    " ",
    ",",
    "0",
    "-1",
    "1.5",
    "9" * 5000,
    "1e999",
    "NaN",
    "²",
    "٣",
    "0x" + "f" * 5000,
    "null",
    "true",
    '"text"',
    "[]",
    "{}",
    "[null]",
    "[[]]",
    "[[1, 2, 3]]",
    '[["a", "b"]]',
    '{"roles": [], "databases": {}}',
    '{"roles": {"a": [1]}, "databases": [[1]]}',
    "[Infinity, NaN, 1e999]",
    "[" * 5000,
    '{"a":' * 3000,
    "\x00\x1b[31m",
    "two words",
    "x" * 20_000,
    "=",
    "==",
    "a==b==c",
    "follow member-1 60 1e400",
    "pin member-1 0 -99999999999999999999",
    "2026-01-01",
    "2026-01-01T00:00:00",
    "0001-01-01T00:00:00+00:00",
    "9999-12-31T23:59:59.999999+00:00",
    "9999-12-31T23:59:59.999999-14:00",
    "sha256:",
    "@",
    "image@sha256:zz",
    "postgresql://:@/",
)
"""Texts that a person, or a faulty program, may leave behind."""
CONSTRAINTS = (
    "node.role!=manager",
    "node.role==manager",
    "node.hostname==",
    "node.hostname!=node2",
    "node.labels.pg-node == ²",
    "node.labels.pg-node!=1",
    "node.labels.pg-node==" + "9" * 5000,
    "node.platform.os==linux",
    "engine.labels.a==b",
    "==",
    "a",
)
JSON_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**4000,
    1e308,
    "",
    "9" * 5000,
    "²",
    "0x" + "f" * 5000,
    [],
    {},
    [[]],
    {"a": {"b": []}},
    "x" * 20_000,
)
"""Values that `patronictl edit-config`, or a call of its API, may leave in the settings."""

TEXTS = frozenset(
    one.name for one in dataclasses.fields(Service) if str(one.type) == "tuple[str, ...]"
)
"""Fields of a service that are lists of texts."""


def another_text(text: str, rng: random.Random) -> str:
    """A damaged text: another one, a part of it, or its JSON with another leaf."""
    match rng.randrange(5):
        case 0:
            return text[: rng.randrange(len(text) + 1)]
        case 1:
            return text[::-1]
        case 2:
            try:
                return json.dumps(another_leaf(json.loads(text), rng))
            except (ValueError, RecursionError):
                return rng.choice(WORDS)
        case _:
            return rng.choice(WORDS)


def another_leaf(value: Any, rng: random.Random) -> Any:
    """The same JSON with one of its parts replaced."""
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        return [another_leaf(v, rng) if i == at else v for i, v in enumerate(value)]
    if isinstance(value, dict) and value and rng.random() < 0.8:
        at = rng.choice(sorted(value))
        return {k: another_leaf(v, rng) if k == at else v for k, v in value.items()}
    return rng.choice((*JSON_VALUES[:-4], *WORDS))


def another_mapping(found: Mapping[str, str], rng: random.Random) -> dict[str, str]:
    """The mapping with one value damaged, one key gone, or one of another object's."""
    if not found:
        return {rng.choice(WORDS) or "a": rng.choice(WORDS)}
    key = rng.choice(sorted(found))
    if rng.random() < 0.15:
        return {name: value for name, value in found.items() if name != key}
    if rng.random() < 0.15:
        return {**found, key: found[rng.choice(sorted(found))]}
    return {**found, key: another_text(found[key], rng)}


def another_list(found: Iterable[str], words: Iterable[str], rng: random.Random) -> tuple[str, ...]:
    kept = list(found)
    if kept and rng.random() < 0.5:
        kept.pop(rng.randrange(len(kept)))
    kept += rng.sample(sorted(words), rng.randint(0, 2))
    return tuple(sorted(kept))


def damaged_service(service: Service, rng: random.Random) -> Service:
    """A service as `docker service update` may leave it: any field of the value is drawn, each by
    the kind of its present value."""
    field = rng.choice(
        [
            "labels",
            "labels",
            "labels",
            "environment",
            "constraints",
            "constraints",
            *(one.name for one in dataclasses.fields(Service)),
        ]
    )
    if field in {"name", "mode"}:
        field = "labels"
    value = getattr(service, field)
    found: Any
    match value:
        case Mapping():
            found = another_mapping(value, rng)
        case str():
            found = another_text(value, rng)
        case bool():
            found = not value
        case int() | float():
            found = rng.choice((0, 1, -1, 7, 10**15))
        case tuple() if field == "constraints":
            found = another_list(value, CONSTRAINTS, rng)
        case tuple() if field in TEXTS:
            found = another_list(value, WORDS, rng)
        case tuple():
            found = tuple(rng.sample(value, rng.randrange(len(value) + 1)))
        case _:
            found = type(value)() if value is not None and field != "health_check" else None
    return dataclasses.replace(service, **{field: found})


def damaged_state(state: SwarmState, rng: random.Random) -> tuple[SwarmState, str]:
    """The state with one of the operator's own objects, or a node's labels, damaged."""
    match rng.choice(("service", "service", "config", "config", "node")):
        case "service":
            live = rng.choice(state.services)
            value = damaged_service(live.value, rng)
            services = swapped(state.services, live, dataclasses.replace(live, value=value))
            return dataclasses.replace(state, services=services), f"{live.value.name}"
        case "config":
            config = rng.choice(state.configs)
            made = damaged_config(config.value, rng)
            configs = swapped(state.configs, config, dataclasses.replace(config, value=made))
            return dataclasses.replace(state, configs=configs), f"config {config.value.name}"
        case _:
            node = rng.choice(state.nodes)
            labels = another_mapping(node.labels, rng)
            nodes = swapped(state.nodes, node, dataclasses.replace(node, labels=labels))
            return dataclasses.replace(state, nodes=nodes), f"node {node.name}"


def damaged_config(config: Config, rng: random.Random) -> Config:
    if rng.random() < 0.1:
        return dataclasses.replace(config, data=rng.choice(WORDS).encode())
    return dataclasses.replace(config, labels=another_mapping(config.labels, rng))


def swapped(items: tuple[T, ...], old: T, new: T) -> tuple[T, ...]:
    return tuple(new if item is old else item for item in items)


def damaged_settings(settings: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """Patroni's settings with one value, at any depth, damaged."""
    key = rng.choice(sorted(settings))
    value = settings[key]
    if isinstance(value, Mapping) and value and rng.random() < 0.8:
        return {**settings, key: damaged_settings(value, rng)}
    return {**settings, key: rng.choice((*JSON_VALUES, *WORDS))}


# In a simulated world

TIMERS = ("ttl", "loop_wait", "retry_timeout", "maximum_lag_on_failover")
"""The modelled Patroni runs by these, and the real one takes a bad one for none."""


MOST_REPLICAS = 20
"""The modelled swarm has an object for each task, and would never end with 10**15 of them."""


def edit_by_hand(world: World, rng: random.Random) -> str:
    """Damage one object of the store, or of Patroni; return "" if swarm refuses it."""
    agreed = world.patroni_model.consensus("main")
    if agreed.raft.able and agreed.settings and rng.random() < 0.15:
        made = damaged_settings(agreed.settings, rng)
        agreed.settings = {**made, **{key: agreed.settings[key] for key in TIMERS if key in made}}
        return "Patroni's settings"
    store, state = world.store, world.store.state()
    damaged, what = damaged_state(state, rng)
    for live, other in zip(state.services, damaged.services, strict=True):
        if other is not live:
            few = min(other.value.replicas, MOST_REPLICAS)
            value = dataclasses.replace(other.value, replicas=few)
            store.update_service(live.id, live.version, value, live.force_update)
    for config, changed in zip(state.configs, damaged.configs, strict=True):
        if changed is not config:
            rewrite(world, config, changed.value)
    for node, labelled in zip(state.nodes, damaged.nodes, strict=True):
        if labelled is not node:
            store.set_node(node.id, labels=labelled.labels)
    return what


def rewrite(world: World, live: Live[Config], value: Config) -> None:
    """A config's labels are changed in place; other content is another config of its name."""
    if value.data == live.value.data:
        world.store.label_config(live.id, live.version, value)
    else:
        world.store.remove_config(live.id)
        world.store.create_config(value)
