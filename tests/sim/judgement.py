"""What is true when a verb reaches Patroni, or a person is told something: the reasons against it.

From the model alone, by other ways than the operator's own; each reason names what was true since
before the operator looked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from queenright.core.observed import Known
from queenright.core.published import PAUSE_KEY, ROUTE_KEY
from tests.builders import FILE, NODE_OF, desired, document
from tests.fakes.consensus import agrees
from tests.fakes.fake_patroni import Verb
from tests.fakes.swarm_store import template_of
from tests.fakes.world import World

PATCHED = frozenset(
    {
        "ttl",
        "loop_wait",
        "retry_timeout",
        "maximum_lag_on_failover",
        "postgresql",
        "pause",
        PAUSE_KEY,
        ROUTE_KEY,
    }
)


def judge_verb(
    world: World, verb: Verb, looked_at_s: float, honoured_s: Mapping[str, float]
) -> Iterator[str]:
    """``honoured_s`` says when each member was last noted as leading by the file's wish."""
    match verb.kind:
        case "patch":
            yield from judge_patch(world, verb, looked_at_s)
        case "switchover":
            yield from judge_switchover(world, verb, looked_at_s, honoured_s)
        case "failover":
            yield "a failover is forced, which only a person may"
        case _:
            pass


def judge_patch(world: World, verb: Verb, looked_at_s: float) -> Iterator[str]:
    address = verb.member.address
    match world.patroni.shown_raft.get(address):
        case Known(status) if status.has_quorum:
            pass
        case shown:
            yield f"a patch is sent to {verb.member.name} without a quorum seen there ({shown})"
    for path in leaves(verb.patch):
        if not has_path(verb.expected, path):
            yield f"{'.'.join(path)} is patched without the value that was observed"
    if not agrees(world.patroni.shown_settings.get(address, {}), verb.expected):
        yield "a patch does not expect what was observed"
    if strange := {key for key in verb.patch if key not in PATCHED and not is_ours(key)}:
        yield f"settings that are not the file's are patched: {sorted(strange)}"
    agreed = world.patroni_model.consensus("main")
    lifts = "pause" in verb.patch and not verb.patch["pause"]
    if lifts and agreed.foreign_pause and agreed.paused_at_s < looked_at_s:
        yield "a pause that somebody else has set is lifted"
    if verb.patch.get("pause") and not is_wished(world, "maintenance", "promotion"):
        yield "Patroni is paused though nobody wishes it"
    route = str(verb.patch.get(ROUTE_KEY) or "")
    if route.startswith("pin "):
        leader = world.leader()
        pinned = route.split()[1]
        changed = agreed.changed_at_s >= looked_at_s
        if not changed and (leader is None or leader.name != pinned):
            yield f"port 5000 is pinned to {pinned}, which does not lead"


def is_ours(key: str) -> bool:
    return key.startswith("queenright_")


def leaves(patch: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in patch.items():
        if isinstance(value, Mapping):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def has_path(expected: Mapping[str, Any], path: Sequence[str]) -> bool:
    """Whether the value at the path was stated; that of a whole mapping that is absent is."""
    found: Any = expected
    for key in path:
        if not isinstance(found, Mapping):
            return found is None
        if key not in found:
            return False
        found = found[key]
    return True


def is_wished(world: World, *fields: str) -> bool:
    """Whether the file has had one of these fields, of late."""
    texts = (
        world.last_good_text,
        world.manifests.files.get(FILE, ""),
        *world.manifests.before[-3:],
    )
    return any(f"  {field}:" in text for text in texts for field in fields)


def judge_switchover(
    world: World, verb: Verb, looked_at_s: float, honoured_s: Mapping[str, float]
) -> Iterator[str]:
    model = world.patroni_model
    agreed, leader = model.consensus("main"), model.leader("main")
    pending = agreed.request
    if pending is not None and pending.by_operator:
        yield "a second switchover is asked for while the first may still happen"
    if agreed.paused and agreed.paused_at_s < looked_at_s:
        yield "a switchover is asked for while Patroni is paused"
    if model.last_quorate_s.get("main", -1.0) < looked_at_s:
        yield "a switchover is asked for without a quorum"
    chosen = next((i for i in model.of_cluster("main") if i.name == verb.candidate), None)
    if chosen is None or model.last_streamed_s.get(chosen.service, -1.0) < looked_at_s:
        yield f"the lead is to move to {verb.candidate}, which does not stream"
    elif model.last_near_s.get(chosen.service, -1.0) < looked_at_s:
        yield f"the lead is to move to {verb.candidate}, which lags too far behind"
    maintained = document(world.last_good_text).cluster.spec.maintenance.nodes
    was_known = world.last_good.saved_at_s < world.swarm.observed_at_s
    is_meant = was_known and "until" not in world.last_good_text
    if NODE_OF[verb.candidate] in maintained and is_meant:
        yield f"the lead is to move to {verb.candidate}, whose node is in maintenance"
    if leader is not None and leader.name == verb.leader and agreed.changed_at_s < looked_at_s:
        yield from judge_need(world, verb, honoured_s)


def judge_need(world: World, verb: Verb, honoured_s: Mapping[str, float]) -> Iterator[str]:
    """A change of leader that the operator did not plan is not undone without a new reason."""
    agreed = world.patroni_model.consensus("main")
    if agreed.planned_by_operator or agreed.timeline <= 1:
        return
    text = world.last_good_text
    labels = world.store.configs["main_cluster"].value.labels
    honoured = honoured_s.get(verb.candidate, -1.0) > world.manifests.edited_at_s
    wished = f"primary: {verb.candidate}" in text
    back = labels.get("queenright.return-to", "")
    reasons = (
        world.manifests.edited_at_s >= agreed.changed_at_s,
        wished and not honoured,
        "automatic" in text,
        "maintenance" in text,
        bool(back) and json.loads(back)[1] == agreed.timeline,
        has_to_restart(world, verb.leader),
    )
    if not any(reasons):
        yield f"{verb.leader} leads since a failover, which is fought for {verb.candidate}"


def has_to_restart(world: World, name: str) -> bool:
    """Whether a member differs from what any of the last texts ask for, or waits for a restart."""
    live = world.store.service_named(f"main_{name}")
    model = world.patroni_model
    if live is None or live.value.replicas != 1:
        return True
    if any(i.pending for i in model.of_cluster("main") if i.name == name):
        return True
    try:
        wanted = desired(world.last_good_text)
    except AssertionError:
        return True
    service = next(m.service for m in wanted.members if m.name == name)
    tasks = world.containers(live.value.name)
    plain = [shape(template_of(task.template)) for task in tasks]
    return plain != [shape(template_of(service))]


def shape(service: Any) -> tuple[object, ...]:
    """A template without what names and digests alone tell apart."""
    reference = service.image.partition("@")[0]
    return (
        reference,
        service.environment,
        service.stop_grace_s,
        service.resources,
        service.restart,
        service.health_check,
        service.mounts,
        service.constraints,
        service.networks,
        service.ports,
        service.secrets,
        service.container_labels,
        service.other,
        tuple(item.target for item in service.configs),
        live_configs(service),
    )


def live_configs(service: Any) -> int:
    return len(service.configs)


def judge_safety(world: World, nodes: Sequence[str], looked_at_s: float) -> Iterator[str]:
    """Whether the database would go on, writable, without these nodes. A pause is read from the
    leader's settings in the pass itself: one that was lifted before the pass began is seen to be,
    one that was lifted while a slow answer was waited for is not."""
    model = world.patroni_model
    agreed, leader = model.consensus("main"), model.leader("main")
    if agreed.changed_at_s >= looked_at_s:
        return
    staying = [name for name, node in NODE_OF.items() if node not in nodes]
    if len(staying) == len(NODE_OF):
        return
    if leader is None or leader.name not in staying:
        if leader is not None or model.last_led_s.get("main", -1.0) < looked_at_s:
            yield f"{leader.name if leader else 'nobody'} leads"
        return
    if 2 * len(staying) > len(NODE_OF):
        for name in staying:
            if not model.was_well_since(f"main_{name}", looked_at_s):
                yield f"{name}, which stays, is not well"
        return
    if not leader.is_paused and agreed.resumed_at_s < world.swarm.observed_at_s:
        yield "Patroni is not paused"
    if not str(agreed.settings.get(ROUTE_KEY) or "").startswith(f"pin {leader.name} "):
        yield f"port 5000 is not pinned to {leader.name}"


def is_less(one: str, other: str) -> bool:
    return one.isdigit() and other.isdigit() and int(one) < int(other)
