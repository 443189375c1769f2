"""A reading of some documents' objects: what is asked for, and when everything is read instead."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl

import anyio
import pytest

from queenright.adapters.docker.swarm import DockerSwarm
from queenright.core.swarm.objects import CLUSTER_LABEL, Config, Secret
from queenright.ports.swarm import ConflictError
from tests.support.http_server import Answer, Answering, answering

Json = dict[str, Any]
AT = {"CreatedAt": "2026-01-01T00:00:00Z", "UpdatedAt": "2026-01-01T00:00:00Z"}
SMALL = ("nodes", "networks", "secrets")


def head(name: str, version: int = 7) -> Json:
    return {"ID": f"id-{name}", "Version": {"Index": version}, **AT}


def named(name: str, owner: str, **more: Any) -> Json:
    return {**head(name), "Spec": {"Name": name, "Labels": {CLUSTER_LABEL: owner}, **more}}


def service(name: str, owner: str) -> Json:
    template = {"ContainerSpec": {"Image": "x"}, "Networks": [{"Target": "overlay"}]}
    return named(name, owner, TaskTemplate=template, Mode={"Replicated": {"Replicas": 1}})


def task(service_name: str, state: str = "running", **more: Any) -> Json:
    status = {"Timestamp": "2026-01-02T03:04:05Z", "State": state}
    return {
        **head(f"task-{service_name}"),
        "ServiceID": f"id-{service_name}",
        "Status": status,
        "DesiredState": "running",
        **more,
    }


def node(node_id: str, state: str = "ready", address: str = "10.0.0.1", version: int = 7) -> Json:
    """A node of the hostname node1."""
    status = {"State": state, "Addr": address}
    return {**head(node_id, version), "Description": {"Hostname": "node1"}, "Status": status}


LISTS: dict[str, list[Json]] = {
    "nodes": [node("n1")],
    "services": [service("a_web", "a"), service("b_web", "b")],
    "tasks": [task("a_web"), task("b_web")],
    "networks": [
        {"Name": "net", "Id": "overlay", "Driver": "overlay", "Scope": "swarm", "Labels": {}}
    ],
    "secrets": [named("key", "a")],
    "configs": [named("a_file", "a"), named("b_file", "b")],
}


class Engine:
    """Answers with ``lists``, filtered as Docker does, and keeps what was asked."""

    def __init__(self) -> None:
        self.lists = copy.deepcopy(LISTS)
        self.gone: set[str] = set()
        """Services that are gone when their tasks are asked for."""
        self.refused = ""
        """The reason for which every write is refused, if it is."""
        self.there: Answering | None = None

    def answer(self, method: str, path: str) -> Answer:
        kind = path.rpartition("/")[2]
        if kind == "info":
            return 200, {"Swarm": {"LocalNodeState": "active", "ControlAvailable": True}}
        if kind == "version":
            return 200, {"MinAPIVersion": "1.12"}
        if kind == "events":
            return 200, b""
        if method == "POST":
            return (404, {"message": self.refused}) if self.refused else (200, {"ID": "made"})
        assert self.there is not None
        query = dict(parse_qsl(self.there.queries[-1]))
        filters = json.loads(query.get("filters", "{}"))
        found = self.lists[kind]
        if names := filters.get("name"):
            found = [raw for raw in found if raw["Spec"]["Name"].startswith(tuple(names))]
        if ids := filters.get("service"):
            if self.gone & {*ids}:
                return 404, {"message": "service not found"}
            found = [raw for raw in found if raw["ServiceID"] in ids]
        return 200, json.dumps(found, separators=(",", ":")).encode()

    def asked(self) -> dict[str, str]:
        """The lists that were asked for since the last call, with their filters."""
        assert self.there is not None
        found = {
            path.rpartition("/")[2]: dict(parse_qsl(query)).get("filters", "")
            for path, query in zip(self.there.asked, self.there.queries, strict=True)
        }
        self.there.asked.clear()
        self.there.queries.clear()
        return {kind: filters for kind, filters in found.items() if kind in LISTS}

    @asynccontextmanager
    async def swarm(self) -> AsyncIterator[DockerSwarm]:
        """A reader that listens, and has read everything once."""
        with answering(self.answer) as there:
            self.there = there
            swarm = DockerSwarm(there.environment, 5)
            swarm._observing.listens(1)
            await swarm.observe()
            self.asked()
            yield swarm
            await swarm.aclose()


ALL = dict.fromkeys(LISTS, "")
PART = {
    "configs": '{"name": ["a_"]}',
    "services": '{"name": ["a_"]}',
    "tasks": '{"service": ["id-a_web"]}',
}


async def test_only_the_documents_objects_are_read_again() -> None:
    engine = Engine()
    async with engine.swarm() as swarm:
        for kind in ("services", "configs", "tasks"):
            for raw in engine.lists[kind]:
                raw["Version"] = {"Index": 8}
        engine.lists["configs"].append(named("a_new", "a"))
        state = await swarm.observe({"a"})
        assert engine.asked() == PART
        assert {live.value.name: live.version for live in state.services} == {
            "a_web": 8,
            "b_web": 7,
        }
        assert {live.value.name for live in state.configs} == {"a_file", "b_file", "a_new"}
        assert len(state.tasks) == 2
        whole = await swarm.observe()
        assert {live.value.name: live.version for live in whole.services} == {
            "a_web": 8,
            "b_web": 8,
        }


async def test_a_service_that_is_gone_takes_no_task_along() -> None:
    engine = Engine()
    async with engine.swarm() as swarm:
        engine.lists["services"] = engine.lists["services"][1:]
        engine.lists["tasks"] = engine.lists["tasks"][1:]
        state = await swarm.observe({"a"})
        assert [live.value.name for live in state.services] == ["b_web"]
        assert len(state.tasks) == 2, "whether it still runs is for the next whole reading to say"
        assert "tasks" not in engine.asked()
        assert len((await swarm.observe()).tasks) == 1


async def test_others_objects_that_are_called_as_the_document_stay() -> None:
    """The filter does not list them: their names have no underscore."""
    engine = Engine()
    engine.lists["services"].append(service("a", "other"))
    engine.lists["configs"].append(named("a", "other"))
    engine.lists["tasks"].append(task("a"))
    async with engine.swarm() as swarm:
        whole = await swarm.observe()
        state = await swarm.observe({"a"})
        assert engine.asked() == ALL | PART
        for kind in ("services", "configs", "tasks"):
            assert getattr(state, kind) == getattr(whole, kind), kind


@pytest.mark.parametrize("kind", SMALL)
async def test_an_event_has_its_list_read_again(kind: str) -> None:
    engine = Engine()
    async with engine.swarm() as swarm:
        swarm._observing.heard(f"{kind.removesuffix('s')} whatever update")
        await swarm.observe({"a"})
        assert engine.asked() == {**PART, kind: ""}
        await swarm.observe({"a"})
        assert engine.asked() == PART


async def test_an_own_write_has_its_list_read_again() -> None:
    engine = Engine()
    async with engine.swarm() as swarm:
        await swarm.create_secret(Secret("fresh"))
        await swarm.observe({"a"})
        assert engine.asked() == {**PART, "secrets": ""}
        await swarm.create_config(Config("a_fresh", b"text"))
        await swarm.observe({"a"})
        assert engine.asked() == PART


async def test_an_own_write_that_fails_has_all_lists_read_again() -> None:
    """An object that it refers to may be gone."""
    engine = Engine()
    async with engine.swarm() as swarm:
        engine.refused = "secret not found"
        with pytest.raises(ConflictError):
            await swarm.create_config(Config("a_fresh", b"text"))
        await swarm.observe({"a"})
        assert engine.asked().keys() == LISTS.keys()


async def test_a_list_in_which_nothing_has_changed_is_the_last_one() -> None:
    engine = Engine()
    async with engine.swarm() as swarm:
        whole = await swarm.observe()
        state = await swarm.observe({"a"})
        for kind in LISTS:
            assert getattr(state, kind) is getattr(whole, kind), kind
        engine.lists["services"][0]["Version"] = {"Index": 8}
        state = await swarm.observe({"a"})
        assert state.services is not whole.services
        assert state.tasks is whole.tasks


async def test_everything_is_read_where_no_event_would_be_heard() -> None:
    engine = Engine()
    async with engine.swarm() as swarm:
        swarm._observing.listens(-1)
        await swarm.observe({"a"})
        assert engine.asked() == ALL


async def test_everything_is_read_where_a_service_goes_meanwhile() -> None:
    engine = Engine()
    async with engine.swarm() as swarm:
        engine.gone = {"id-a_web"}
        await swarm.observe({"a"})
        assert engine.asked() == ALL


@pytest.mark.parametrize("owner", ["a", "b"])
async def test_everything_is_read_for_an_owner_of_what_can_not_be_read(owner: str) -> None:
    engine = Engine()
    async with engine.swarm() as swarm:
        engine.lists["configs"].append(named("b_odd", "b", Data="ä"))
        state = await swarm.observe({owner})
        read = engine.asked()
        assert read == (ALL if owner == "b" else PART)
        assert [one.owner for one in state.unreadable] == (["b"] if owner == "b" else [])
        state = await swarm.observe()
        engine.asked()
        assert [one.owner for one in state.unreadable] == ["b"]
        state = await swarm.observe({owner})
        assert engine.asked() == (ALL if owner == "b" else PART)
        assert [one.owner for one in state.unreadable] == ["b"]


async def test_a_reading_that_fails_leaves_nothing_unread() -> None:
    engine = Engine()
    async with engine.swarm() as swarm:
        swarm._observing.heard("node n1 update")
        engine.lists["tasks"].append({**head("odd"), "ServiceID": "id-a_web", "Status": "x"})
        with pytest.raises(Exception, match="odd can't be read"):
            await swarm.observe({"a"})
        engine.lists["tasks"].pop()
        engine.asked()
        await swarm.observe({"a"})
        assert "nodes" in engine.asked()


async def test_the_stream_of_events_is_what_listens() -> None:
    engine = Engine()
    async with engine.swarm() as swarm:
        swarm._observing.listens(-1)

        swarm._observing.heard("")
        with anyio.fail_after(5):
            assert [text async for text in swarm.events()] == []
        await swarm.observe({"a"})
        assert engine.asked() == ALL, "the stream has ended"


async def test_a_whole_reading_that_is_ended_leaves_what_it_has_read() -> None:
    """An edit ends the full pass's reading: its own reading lists no nodes again."""
    engine = Engine()
    async with engine.swarm() as swarm:
        swarm._observing.heard("node n1 update")
        engine.lists["nodes"][0]["Status"] = {"State": "down"}
        engine.lists["tasks"].append({**head("odd"), "ServiceID": "id-a_web", "Status": "x"})
        with pytest.raises(Exception, match="odd can't be read"):
            await swarm.observe()
        engine.lists["tasks"].pop()
        engine.asked()
        state = await swarm.observe({"a"})
        assert engine.asked() == PART
        assert [node.state for node in state.nodes] == ["down"]


def rejoined(address: str = "10.0.0.1") -> Engine:
    """The node left and joined again: its former task is listed until somebody removes the former
    node, which had this address."""
    engine = Engine()
    engine.lists["nodes"] = [node("former", "down", address, 9), node("n1")]
    former = task("a_web", NodeID="id-former", DesiredState="shutdown") | head("task-former")
    engine.lists["tasks"] = [former, task("a_web", NodeID="id-n1"), task("b_web", NodeID="id-n1")]
    return engine


@pytest.mark.parametrize("owners", [None, {"a"}])
async def test_a_node_that_joined_again_is_found_under_both_ids(owners: set[str] | None) -> None:
    async with rejoined().swarm() as swarm:
        state = await swarm.observe(owners)
        sole, former = state.sole_task("id-a_web"), state.node_by_id("id-former")
        assert sole is not None
        assert sole.node_id == "id-n1"
        assert former is not None
        assert former.state == "down"
        assert [found.id for found in state.nodes] == ["id-n1"]
        assert len([*state.possible_tasks("id-a_web")]) == 2, "swarm has not heard of its end"


async def test_a_former_node_with_another_address_may_be_another_machine() -> None:
    """It may be alive, and only unheard; its task may be the one that answers."""
    async with rejoined("10.0.0.2").swarm() as swarm:
        assert (await swarm.observe()).sole_task("id-a_web") is None


async def test_a_former_node_that_is_removed_is_read_no_more() -> None:
    engine = rejoined()
    async with engine.swarm() as swarm:
        assert (await swarm.observe()).former_nodes
        engine.lists["nodes"] = [node("n1")]
        swarm._observing.heard("node former remove")
        assert (await swarm.observe({"a"})).former_nodes == ()
