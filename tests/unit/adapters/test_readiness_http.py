"""Asking replicas: what a node's port answers, and what is made of the words from a network."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from queenright.adapters.docker.readiness_probe import (
    ASKING,
    ReadinessService,
    probe_service,
    readings,
)
from queenright.adapters.readiness_http import ReadinessHttp
from queenright.core.observed import Known, Unknown
from queenright.core.observed.readiness import MOST_SAID, Readiness, ReadinessTarget, answer
from queenright.core.swarm.objects import APP_LABEL, CLUSTER_LABEL
from queenright.ports.lease import forbidden
from tests.lab.shell import attempt

ANSWERS = {"/readyz": (503, b"not ready: the database\nis unreachable\n")}


class Replica(BaseHTTPRequestHandler):
    def do_GET(self) -> None:  # the base class's name
        status, body = ANSWERS.get(self.path, (404, b""))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Replica)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


def nobody() -> ReadinessService:
    environment = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}
    return ReadinessService(environment, 1.0, may_create=forbidden)


async def ask(*targets: ReadinessTarget) -> dict[str, Known[Readiness] | Unknown]:
    probe = ReadinessHttp(nobody(), timeout_s=1.0)
    try:
        await probe.keep(targets)
        return dict(await probe.ask(targets))
    finally:
        await probe.aclose()


async def test_a_published_port_is_asked_straight(port: int) -> None:
    found = await ask(
        ReadinessTarget("one", "127.0.0.1", port), ReadinessTarget("two", "127.0.0.1", 1)
    )
    assert found["one"] == Known(Readiness(503, "not ready: the database is unreachable"))
    assert isinstance(found["two"], Unknown)
    assert "127.0.0.1:1" in found["two"].why


async def test_one_that_can_not_be_asked_is_unknown_with_the_reason() -> None:
    found = await ask(ReadinessTarget("one", "10.0.9.1", 3000, "notes_app", "image"))
    reading = found["one"]
    assert isinstance(reading, Unknown)
    assert "network notes_app" in reading.why


def test_the_lines_that_run_in_the_container_ask_every_replica_at_once(port: int) -> None:
    """They are run by the application's own Python, with nothing but the standard library."""
    places = [f"127.0.0.1:{port}", "127.0.0.1:1"]
    done = attempt("python3", "-I", "-S", "-c", ASKING, "2", *places)
    targets = [ReadinessTarget("one", "127.0.0.1", port), ReadinessTarget("two", "127.0.0.1", 1)]
    found = readings(done.stdout.encode(), targets)
    assert found["one"] == Known(Readiness(503, "not ready: the database is unreachable"))
    assert isinstance(found["two"], Unknown)
    assert "ConnectionRefusedError" in found["two"].why


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"not JSON",
        b"[]",
        b'{"10.0.9.1:3000": "ready"}',
        b'{"10.0.9.1:3000": [true]}',
        b'{"10.0.9.1:3000": [200]}',
        b'{"10.0.9.1:3000": [20000, ""]}',
        b'{"10.0.9.2:3000": [200, "ready"]}',
    ],
)
def test_whatever_is_not_an_answer_in_due_form_is_unknown(said: bytes) -> None:
    found = readings(said, [ReadinessTarget("one", "10.0.9.1", 3000)])
    assert isinstance(found["one"], Unknown)


def test_an_answer_is_one_line_of_printable_text() -> None:
    kept = answer(503, "no\x1b[31m\nway\r\n" + "x" * 10_000)
    assert kept.reason.startswith("no [31m way")
    assert kept.reason.isprintable()
    assert len(kept.reason) <= MOST_SAID
    assert answer(200, "ready\n") == Readiness(200)


def test_what_asks_has_the_network_and_nothing_else() -> None:
    wanted = probe_service("notes_app", "image@sha256:0", "node-id")
    task = wanted["task_template"]
    container = task["ContainerSpec"]
    assert container["ReadOnly"] is True
    assert container["CapabilityDrop"] == ["ALL"]
    assert not {"Secrets", "Configs", "Mounts", "Env"} & container.keys()
    assert task["Networks"] == [{"Target": "notes_app"}]
    assert task["LogDriver"] == {"Name": "none"}
    assert "ports" not in json.dumps(wanted).lower()
    assert not {APP_LABEL, CLUSTER_LABEL} & wanted["labels"].keys()


def test_its_name_is_one_that_swarm_takes_whatever_the_networks_is() -> None:
    names = [str(probe_service(name, "image", "node")["name"]) for name in ("a" * 42, "a" * 43)]
    assert names[0] == f"queenright-readiness-{'a' * 42}"
    assert all(len(name) <= 63 for name in names)
    other = probe_service("a" * 42 + "b", "image", "node")
    assert other["name"] != names[1]
    assert other["labels"]["queenright.network"] == "a" * 42 + "b"
