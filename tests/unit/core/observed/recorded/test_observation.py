"""The view of an observation answers as the observation does, and lacks nothing of it."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest

from queenright.core.observed import (
    Archiving,
    Engine,
    Known,
    MemberStatus,
    Node,
    Observed,
    RaftStatus,
    SwarmState,
    Unknown,
)
from queenright.core.observed.recorded.answers import VIEWS
from queenright.core.observed.recorded.observation import (
    observation_sources,
    recorded_observation,
)
from queenright.core.observed.recorded.record import Record
from queenright.core.observed.recorded.swarm import INDEX, SWARM, WHOLE, RecordedSwarm
from queenright.core.observed.swarm_index import SwarmIndex
from tests.fakes.loading import judged
from tests.support.many_clusters import deployed, texts_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
STATUS = MemberStatus("running", "replica", 3, "streaming", location=5, lag_bytes=7)


def swarm() -> SwarmState:
    return deployed(judged(texts_of(2)).documents).swarm.in_order()


def viewed(observed: Observed) -> tuple[Observed, Record]:
    record = Record(observation_sources(observed), NOW)
    return recorded_observation(record), record


def test_every_source_of_an_observation_has_a_view() -> None:
    view, record = viewed(Observed(Known(swarm())))
    for field in dataclasses.fields(Observed):
        found = getattr(view, field.name)
        assert "Recorded" in repr(type(getattr(found, "value", found))) or "Timed" in repr(
            type(found)
        ), field.name
    assert record.is_lasting


def test_every_list_of_the_swarm_is_a_question() -> None:
    assert WHOLE.keys() == {f.name for f in dataclasses.fields(SwarmState) if f.init}


def test_the_view_of_the_swarm_answers_as_the_swarm() -> None:
    real = swarm()
    view, _ = viewed(Observed(Known(real)))
    assert isinstance(view.swarm, Known)
    found = view.swarm.value
    assert isinstance(found, RecordedSwarm)
    for name in WHOLE:
        assert getattr(found, name) == getattr(real, name)
    live, node = real.services[0], real.nodes[0]
    assert found.service(live.value.name) is live
    assert found.sole_task(live.id) == real.sole_task(live.id)
    assert [*found.running_tasks(live.id)] == [*real.running_tasks(live.id)]
    assert found.in_order() is found
    ports = [port.published for port in live.value.ports]
    labels = dict(live.value.labels)
    for ask in (
        *(lambda i, k=k, v=v: i.services_labelled(k, v) for k, v in labels.items()),
        *(lambda i, k=k, v=v: i.services_of(k, v) for k, v in labels.items()),
        lambda i: i.services_with_id(live.id),
        lambda i: i.services_publishing(ports),
        lambda i: i.services_on(node.id),
        lambda i: i.services_with_variable("PATRONI_NAME", "member-1"),
        lambda i: i.ownerless_tasks,
        lambda i: i.managers,
        lambda i: dict(i.addresses),
        lambda i: dict(i.secret_ids),
        lambda i: set(i.configs_in_use),
        lambda i: set(i.configs_to_keep),
        lambda i: i.nodes_with_address(node.address),
        lambda i: i.nodes_about([node.name], node.labels),
        lambda i: i.nodes_for_check({node.name}, node.labels, node.address),
        lambda i: i.nodes_for_check({"nobody"}, ()),
        lambda i: i.nodes_meeting([f"node.hostname=={node.name}"]),
        *(lambda i, k=k: i.nodes_labelled(k) for k in node.labels),
        *(lambda i, k=k, v=v: i.configs_labelled(k, v) for k, v in labels.items()),
        *(lambda i, k=k, v=v: i.networks_labelled(k, v) for k, v in labels.items()),
        *(lambda i, k=k, v=v: i.secrets_labelled(k, v) for k, v in labels.items()),
    ):
        assert ask(found.index) == ask(real.index)


def test_what_no_view_lists_is_found_from_recorded_lists() -> None:
    """A lookup that somebody adds to the real type is recorded, if only as the whole list."""
    real = swarm()
    record = Record({SWARM: real, INDEX: real.index}, NOW)
    view = RecordedSwarm(record)
    assert SwarmIndex.services_with_id(view.index, real.services[0].id) == (real.services[0],)
    record.closed()
    fewer = dataclasses.replace(real, services=real.services[1:])
    more = dataclasses.replace(real, configs=())
    assert not record.holds({SWARM: fewer}, NOW)
    assert record.holds({SWARM: more}, NOW)


@pytest.mark.parametrize("real", VIEWS)
def test_every_field_and_property_of_an_answer_is_a_question(real: type) -> None:
    view = VIEWS[real]
    fields = {field.name for field in dataclasses.fields(real)}
    derived = {name for name in dir(real) if isinstance(getattr(real, name), property)}
    assert fields | derived <= vars(view).keys()
    methods = {name for name in dir(real) if not name.startswith("_")} - fields - derived
    assert not methods


def test_an_answer_rests_only_on_the_fields_that_were_asked() -> None:
    observed = Observed(Known(SwarmState(Engine(""))), members={"one": Known(STATUS)})
    view, record = viewed(observed)
    found = view.members["one"]
    assert isinstance(found, Known)
    assert found is view.members["one"]
    assert found.value.is_streaming
    record.closed()

    def holds(status: Known[MemberStatus] | Unknown) -> bool:
        now = dataclasses.replace(observed, members={"one": status})
        return record.holds(observation_sources(now), NOW)

    assert holds(Known(dataclasses.replace(STATUS, location=6, lag_bytes=99)))
    assert not holds(Known(dataclasses.replace(STATUS, replication_state="")))
    assert not holds(Unknown("silent"))


def test_silence_is_told_with_its_reason() -> None:
    observed = Observed(Known(SwarmState(Engine(""))), raft={"one": Unknown("silent")})
    view, record = viewed(observed)
    assert view.raft["one"] == Unknown("silent")
    assert "two" not in view.raft
    record.closed()
    other = dataclasses.replace(observed, raft={"one": Unknown("refused")})
    assert not record.holds(observation_sources(other), NOW)


def test_raft_and_archiving_answer_as_the_real_ones() -> None:
    raft, archiving = RaftStatus(True, "a:1", address="b:1", commit_index=3), Archiving(NOW, True)
    observed = Observed(
        Known(SwarmState(Engine(""), nodes=(Node("1", "n", "a"),))),
        raft={"one": Known(raft)},
        archiving={"main": Known(archiving)},
    )
    view, _ = viewed(observed)
    shown, archived = view.raft["one"], view.archiving["main"]
    assert isinstance(shown, Known)
    assert isinstance(archived, Known)
    assert (shown.value.is_behind, shown.value.voters) == (raft.is_behind, raft.voters)
    assert archived.value.waiting_age == archiving.waiting_age
