"""Reasons against an action or a message, from the true state of the model.

Computed from the model alone, in other ways than the operator's; each reason names a fact that was
true before the operator looked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from queenright.core.kinds.postgres_cluster.patroni.config_keys import PAUSE_KEY, ROUTE_KEY
from queenright.core.kinds.postgres_cluster.replication.settings import KEYS as REPLICATION_KEYS
from queenright.core.observed import Known
from tests.fakes.consensus import agrees
from tests.fakes.service_templates import template_of
from tests.fakes.verbs import Verb
from tests.sim.subject import Subject
from tests.sim.sync_judge import judge_powering_off, judge_successor
from tests.sim.texts import accepts_loss, fails_back, maintained, names_primary, sets

ELECTS_S = 55.0
"""The time without a leader for which Patroni may yet elect one: a minute, but for the time that a
pass takes."""
PATCHED = frozenset(
    {
        "ttl",
        "loop_wait",
        "retry_timeout",
        "maximum_lag_on_failover",
        "check_timeline",
        "postgresql",
        "pause",
        PAUSE_KEY,
        ROUTE_KEY,
        *REPLICATION_KEYS,
    }
)


def judge_verb(
    subject: Subject, verb: Verb, looked_at_s: float, honoured_s: Mapping[str, float]
) -> Iterator[str]:
    """``honoured_s`` has the time at which each member last led by the file's `primary`."""
    match verb.kind:
        case "patch":
            yield from judge_patch(subject, verb, looked_at_s)
        case "switchover":
            yield from judge_switchover(subject, verb, looked_at_s, honoured_s)
        case "failover":
            yield from judge_failover(subject, verb, looked_at_s)
        case _:
            pass


def judge_failover(subject: Subject, verb: Verb, looked_at_s: float) -> Iterator[str]:
    """Nobody leads, all members run, and none has newer data than the one that is named. Where the
    file accepts a loss, those that run count, and the named one is on the accepted timeline."""
    model = subject.world.patroni_model
    last_s = model.last_led_s.get(subject.cluster, -1.0)
    ended_s, again_s = model.led_again_s.get(subject.cluster, (last_s, -1.0))
    # Patroni may elect one between the look and the request, which is refused then.
    idle_s = looked_at_s - (ended_s if again_s > looked_at_s else last_s)
    if idle_s < ELECTS_S:
        yield f"a failover is forced {idle_s:.0f} s after a member led"
    if model.last_quorate_s.get(subject.cluster, -1.0) < looked_at_s:
        yield "a failover is forced without a quorum"
    if again_s > looked_at_s:
        return  # what the new leader has written since was not to be seen
    ends = {
        i.name: (i.volume.timeline, i.volume.location) for i in model.of_cluster(subject.cluster)
    }
    present = [i for i in model.of_cluster(subject.cluster) if model.is_up(i) and i.running]
    timeline = ends.get(verb.candidate, (0, 0))[0]
    if accepts_loss(subject.text, verb.candidate, timeline):
        answered_s = subject.world.patroni.answered_s
        told = [i.name for i in present if answered_s.get(i.address, -1.0) >= looked_at_s]
        if ends[verb.candidate] < max((ends[name] for name in told), default=(0, 0)):
            yield f"a failover is forced to {verb.candidate}, which has not the newest data left"
        return
    if len(present) < len(subject.node_of):
        yield f"a failover is forced while only {len(present)} members run"
    if ends.get(verb.candidate, (0, 0)) < max(ends.values()):
        yield f"a failover is forced to {verb.candidate}, which has not the newest data"
    yield from judge_successor(subject, verb.candidate, looked_at_s, is_forced=True)


def judge_patch(subject: Subject, verb: Verb, looked_at_s: float) -> Iterator[str]:
    world = subject.world
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
    agreed = subject.consensus()
    lifts = "pause" in verb.patch and not verb.patch["pause"]
    if lifts and agreed.foreign_pause and agreed.paused_at_s < looked_at_s:
        yield "a pause that somebody else has set is lifted"
    if verb.patch.get("pause") and not is_desired(subject, "maintenance", "promotion"):
        yield "Patroni is paused though nobody asks for it"
    route = str(verb.patch.get(ROUTE_KEY) or "")
    if route.startswith("pin "):
        leader = subject.leader()
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
    """Return True if the file stated the value at the path, or left its whole mapping out."""
    found: Any = expected
    for key in path:
        if not isinstance(found, Mapping):
            return found is None
        if key not in found:
            return False
        found = found[key]
    return True


def is_desired(subject: Subject, *fields: str) -> bool:
    """Return True if the file has had one of these fields recently."""
    manifests = subject.world.manifests
    texts = (subject.text, manifests.files.get(subject.file, ""), *manifests.before[-3:])
    return any(sets(text, *fields) for text in texts)


def judge_switchover(
    subject: Subject, verb: Verb, looked_at_s: float, honoured_s: Mapping[str, float]
) -> Iterator[str]:
    world, model = subject.world, subject.world.patroni_model
    agreed, leader = subject.consensus(), subject.leader()
    pending = agreed.request
    if pending is not None and pending.by_operator:
        yield "a second switchover is asked for while the first may still happen"
    if agreed.paused and agreed.paused_at_s < looked_at_s:
        yield "a switchover is asked for while Patroni is paused"
    if model.last_quorate_s.get(subject.cluster, -1.0) < looked_at_s:
        yield "a switchover is asked for without a quorum"
    chosen = next((i for i in model.of_cluster(subject.cluster) if i.name == verb.candidate), None)
    if chosen is None or model.last_streamed_s.get(chosen.service, -1.0) < looked_at_s:
        yield f"the lead is to move to {verb.candidate}, which does not stream"
    elif model.last_near_s.get(chosen.service, -1.0) < looked_at_s:
        yield f"the lead is to move to {verb.candidate}, which lags too far behind"
    yield from judge_successor(subject, verb.candidate, looked_at_s, is_forced=False)
    was_known = world.last_good.saved_at_s < world.swarm.observed_at_s
    if was_known and subject.node_of[verb.candidate] in maintained(subject.text):
        yield f"the lead is to move to {verb.candidate}, whose node is in maintenance"
    if leader is not None and leader.name == verb.leader and agreed.changed_at_s < looked_at_s:
        yield from judge_need(subject, verb, honoured_s)


def judge_need(subject: Subject, verb: Verb, honoured_s: Mapping[str, float]) -> Iterator[str]:
    """A change of leader that the operator did not plan is not undone without a new reason."""
    agreed = subject.consensus()
    if agreed.planned_by_operator or agreed.timeline <= 1:
        return
    text, world = subject.text, subject.world
    labels = world.store.configs[f"{subject.cluster}_cluster"].value.labels
    honoured = honoured_s.get(verb.candidate, -1.0) > world.manifests.edited_at_s
    wanted = names_primary(text, verb.candidate)
    back = labels.get("queenright.return-to", "")
    reasons = (
        world.manifests.edited_at_s >= agreed.changed_at_s,
        wanted and not honoured,
        fails_back(text),
        sets(text, "maintenance"),
        bool(back) and json.loads(back)[1] == agreed.timeline,
        has_to_restart(subject, verb.leader),
    )
    if not any(reasons):
        yield f"{verb.leader} leads since a failover, which is fought for {verb.candidate}"


def has_to_restart(subject: Subject, name: str) -> bool:
    """Return True if a member differs from any of the last texts, or waits for a restart."""
    world, model = subject.world, subject.world.patroni_model
    live = world.store.service_named(subject.service(name))
    if live is None or live.value.replicas != 1:
        return True
    if any(i.pending for i in model.of_cluster(subject.cluster) if i.name == name):
        return True
    try:
        wanted = subject.desired()
    except AssertionError:
        return True
    service = next((m.service for m in wanted.members if m.name == name), None)
    if service is None:
        return True
    tasks = world.containers(live.value.name)
    plain = [shape(template_of(task.template)) for task in tasks]
    return plain != [shape(template_of(service))]


def shape(service: Any) -> tuple[object, ...]:
    """Return a template without the parts in which only names and digests differ."""
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


def judge_safety(subject: Subject, nodes: Sequence[str], looked_at_s: float) -> Iterator[str]:
    """Return True if the database would stay writable without these nodes. A pause is read from the
    leader's settings in the pass itself: one that was lifted before the pass began is noticed, one
    that was lifted while the pass waited for a slow answer is not."""
    world, model = subject.world, subject.world.patroni_model
    agreed, leader = subject.consensus(), subject.leader()
    if agreed.changed_at_s >= looked_at_s:
        return
    staying = [name for name, node in subject.node_of.items() if node not in nodes]
    if len(staying) == len(subject.node_of):
        return
    if leader is None or leader.name not in staying:
        if leader is not None or model.last_led_s.get(subject.cluster, -1.0) < looked_at_s:
            yield f"{leader.name if leader else 'nobody'} leads"
        return
    yield from judge_powering_off(subject, leader.name, staying, looked_at_s)
    if 2 * len(staying) > len(subject.node_of):
        for name in staying:
            if not model.was_well_since(subject.service(name), looked_at_s):
                yield f"{name}, which stays, is not well"
        return
    if not leader.is_paused and agreed.resumed_at_s < world.swarm.observed_at_s:
        yield "Patroni is not paused"
    if not str(agreed.settings.get(ROUTE_KEY) or "").startswith(f"pin {leader.name} "):
        yield f"port 5000 is not pinned to {leader.name}"


def is_less(one: str, other: str) -> bool:
    return one.isdigit() and other.isdigit() and int(one) < int(other)
