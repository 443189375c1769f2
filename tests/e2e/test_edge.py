"""The edge with its real entry point, Caddy and HAProxy: what clients and the application see."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.edge_load import Load
from tests.e2e.edge_stream import Stream
from tests.e2e.running_edge import BODY_LIMIT, HOST, NET, RunningEdge, curl, eventually
from tests.lab.packages import ensure_programs

pytestmark = pytest.mark.timeout(120)
Started = Callable[..., RunningEdge]
#: A round of questions, the time in which a name is looked up again, and what a busy machine adds.
NOTICED_S = 3.0


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Started]:
    """An edge that serves replicas 1 and 2; 3 is there, but not in DNS."""
    ensure_programs({name: name for name in ("caddy", "haproxy", "curl", "openssl")})
    edges: list[RunningEdge] = []

    def start(tls: object = "internal", replicas: int = 3, **more: object) -> RunningEdge:
        edge = RunningEdge(tmp_path, {"tls": tls, **more})
        edges.append(edge)
        for number in range(1, replicas + 1):
            edge.replica(number)
        for number in range(1, replicas + 1):
            eventually(lambda n=number: edge.direct(n) == 200, 10)  # type: ignore[misc]
        edge.listed(1, 2)
        edge.start()
        return edge

    yield start
    for edge in edges:
        edge.clean_up()


FORGED = [
    *("-H", "X-Forwarded-For: 203.0.113.9"),
    *("-H", "X-Forwarded-Proto: http"),
    *("-H", "X-Forwarded-Host: evil.example.org"),
]


def seen(answer: tuple[int, str]) -> dict[str, str]:
    """The headers that the application saw."""
    status, body = answer
    assert status == 200, answer
    headers: dict[str, str] = json.loads(body)["headers"]
    return headers


def test_what_clients_say_of_themselves_is_overwritten(started: Started) -> None:
    edge = started()
    for method in (["-X", "GET"], ["-d", "a=b"]):
        headers = seen(edge.get("/echo", *FORGED, *method))
        assert headers["x-forwarded-for"] == "127.0.0.1"
        assert headers["x-forwarded-proto"] == "https"
        assert headers["host"] == headers["x-forwarded-host"] == f"{HOST}:{edge.https}"
    headers = seen(edge.get("/echo", *FORGED, host="team.example.org"))
    assert headers["host"] == f"team.example.org:{edge.https}"


def test_a_trusted_proxy_is_believed_and_nobody_else(started: Started) -> None:
    edge = started("off", trustedProxies=["127.0.0.1/32"])
    headers = seen(edge.plain("/echo", *FORGED))
    assert headers["x-forwarded-for"] == "203.0.113.9, 127.0.0.1"
    assert headers["x-forwarded-proto"] == "http"
    assert headers["host"] == HOST
    headers = seen(edge.plain("/echo", *FORGED, "--interface", "127.0.0.9"))
    assert headers["x-forwarded-for"] == "127.0.0.9"
    assert headers["x-forwarded-proto"] == "http"


def test_plain_http_leads_to_https(started: Started) -> None:
    edge = started()
    status, head = edge.plain("/p/1?q=x", "-D", "-")
    assert status == 308
    assert f"Location: https://{HOST}/p/1?q=x" in head


def test_certificates_only_for_whom_the_application_names(started: Started) -> None:
    edge = started()
    assert edge.get("/", host=HOST)[0] == 200
    assert edge.get("/", host="team.example.org")[0] == 200
    assert edge.get("/", host="evil.example.org")[0] == 0, "no certificate, no handshake"
    assert edge.get("/internal/tls-ask?domain=team.example.org")[0] == 404, "nobody else may ask"


def test_no_certificate_on_demand_where_it_is_not_wanted(started: Started) -> None:
    edge = started({"mode": "internal", "onDemand": False})
    assert edge.get("/", host=HOST)[0] == 200
    assert edge.get("/", host="team.example.org")[0] == 0


def test_certificates_on_demand_are_bounded(started: Started) -> None:
    edge = started({"mode": "internal", "onDemandPerMinute": 2})
    found = [
        edge.get("/", host=host)[0] for host in ("team.example.org", "t2.ok", "t3.ok", "t4.ok")
    ]
    assert found == [200, 200, 0, 0]


def test_a_given_certificate_is_shown(started: Started, tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-keyout", "secrets/edge_tls_key", "-out", "secrets/edge_tls_certificate",
         "-days", "2", "-subj", f"/CN={HOST}", "-addext", "subjectAltName=DNS:*.example.org"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    edge = started({"mode": "certificate", "certificate": "c", "key": "k"})
    trusted = ("--cacert", str(tmp_path / "secrets/edge_tls_certificate"), "--no-insecure")
    assert edge.get("/", *trusted)[0] == 200
    assert edge.get("/", *trusted, host="team.example.org")[0] == 200


@pytest.mark.parametrize("version", ["--http1.1", "--http2"])
def test_a_body_is_as_large_as_the_application_takes(
    started: Started, tmp_path: Path, version: str
) -> None:
    edge = started()
    body = tmp_path / "body"
    send = ("--data-binary", f"@{body}", version)
    body.write_bytes(b"\0" * BODY_LIMIT)
    for chunked in ([], ["-H", "Transfer-Encoding: chunked"]):
        status, answer = edge.get("/echo", *send, *chunked)
        assert (status, json.loads(answer)["received"]) == (200, BODY_LIMIT)
    body.write_bytes(b"\0" * (BODY_LIMIT + 1))
    assert edge.get("/echo", *send)[0] == 413
    # Of an unknown size: HTTP/2 clients see its end by the stream's end.
    status, _ = edge.get("/echo", *send, "-H", "Transfer-Encoding: chunked")
    assert status in ({413} if version == "--http1.1" else {413, 0})


def test_events_come_one_by_one_and_outlive_changes_of_who_is_ready(started: Started) -> None:
    edge = started()
    stream = Stream(edge)
    eventually(lambda: len(stream.arrivals) >= 5, 10)
    pauses = [b[0] - a[0] for a, b in zip(stream.arrivals, stream.arrivals[1:], strict=False)]
    assert sorted(pauses)[len(pauses) // 2] < 0.5, "an event each 0.1 s, not a heap of them"
    served = int(stream.arrivals[-1][1])
    other = 3 - served
    edge.listed(1, 2, 3)
    eventually(lambda: edge.chosen() == ["1", "2", "3"], NOTICED_S)
    edge.listed(other, 3)  # its own replica has left DNS, and is about to be stopped
    eventually(lambda: edge.chosen() == [str(other), "3"], NOTICED_S)
    count = len(stream.arrivals)
    eventually(lambda: len(stream.arrivals) > count + 10, 10)
    assert stream.is_alive()
    assert {number for _, number in stream.arrivals} == {str(served)}
    stream.leave()
    eventually(lambda: edge.connections(served) == 0, 5)


def test_only_the_ready_get_requests(started: Started) -> None:
    edge = started()
    assert edge.who() == {"1", "2"}
    edge.toggle(1)
    eventually(lambda: edge.chosen() == ["2"], NOTICED_S)
    assert edge.who() == {"2"}
    edge.toggle(3)
    edge.listed(1, 2, 3)
    time.sleep(1)
    assert edge.who() == {"2"}, "in DNS, but neither has said that it is ready"
    edge.toggle(3)
    eventually(lambda: edge.chosen() == ["2", "3"], NOTICED_S)
    edge.toggle(2)
    edge.toggle(3)
    eventually(lambda: edge.chosen() == ["1", "2", "3"], NOTICED_S)
    assert edge.who() == {"503"}, "nobody is ready: they say themselves what is wrong"


def test_a_name_that_dns_has_lost_is_no_news(started: Started) -> None:
    edge = started()
    edge.listed()
    time.sleep(1)
    assert edge.who() == {"1", "2"}
    edge.end(1)
    eventually(lambda: edge.chosen() == ["2"], NOTICED_S)


def test_a_request_waits_for_somebody_to_be_there(started: Started) -> None:
    edge = started(replicas=2)
    edge.end(1)
    edge.end(2)
    eventually(lambda: len(edge.chosen()) == 1, NOTICED_S)
    threading.Timer(1.5, lambda: edge.replica(1)).start()
    assert edge.get("/", "-d", "a=b") == (200, f"{NET}1")


def test_an_update_under_load_fails_no_request(started: Started) -> None:
    """Update in swarm's order: a new replica, an old one leaves DNS, two seconds later SIGTERM."""
    edge = started(replicas=4)
    with Load(edge) as load:
        for old, new in ((1, 3), (2, 4)):
            time.sleep(1)
            edge.listed(*({1, 2, 3, 4} - ({4} if new == 3 else {1})))
            eventually(lambda n=new: str(n) in edge.chosen(), NOTICED_S)  # type: ignore[misc]
            edge.listed(*({2, 3} if old == 1 else {3, 4}))
            time.sleep(2)
            assert edge.end(old, signal.SIGTERM) == 0
        time.sleep(1)
    assert load.failed == [], load.summary
    assert load.count > 200, load.summary
    assert load.served_by == {"1", "2", "3", "4"}


def test_reads_survive_a_sudden_death_and_writes_that_had_not_begun(started: Started) -> None:
    edge = started()
    with Load(edge) as load:
        time.sleep(1)
        edge.end(1, signal.SIGKILL)
        eventually(lambda: edge.chosen() == ["2"], NOTICED_S)
        time.sleep(1)
    assert [line for line in load.failed if not line.startswith("POST")] == [], load.summary
    # The replica may have carried these requests out, so they are not sent again.
    assert len(load.failed) <= load.writers, load.summary


def test_the_log_keeps_secrets_to_itself(started: Started) -> None:
    edge = started()
    secret = "Tr0ub4dor"
    options = [
        *("-H", f"Cookie: session={secret}"),
        *("-H", f"Authorization: Bearer {secret}"),
        *("-e", f"https://{HOST}/s/{secret}?token={secret}"),
    ]
    paths = (f"/s/{secret}/p/1", f"/s/{secret}", f"/x?token={secret}", f"/s/{secret}?a={secret}")
    for path in paths:
        edge.get(path, *options)
        edge.plain(path, *options)
    for number in (1, 2):
        edge.end(number)
    edge.get(paths[0], *options, "-m", "1")
    assert "/s/.../p/1" in edge.log, "there is a log"
    edge.stop()
    assert secret not in edge.log


def test_nothing_of_the_inside_is_reached_from_outside(started: Started) -> None:
    edge = started()
    others = [str(port) for port in (2019, edge.local)]
    addresses = subprocess.run(
        ["hostname", "-I"], capture_output=True, text=True, check=True
    ).stdout.split()
    for address in addresses:
        for port in others:
            assert curl(f"http://{address}:{port}/config/", "-m", "2")[0] == 0
    assert curl("http://127.0.0.1:2019/config/", "-m", "2")[0] == 0


def test_it_finishes_what_it_has_begun(started: Started) -> None:
    edge = started()
    answers: list[tuple[int, str]] = []
    slow = threading.Thread(target=lambda: answers.append(edge.get("/slow?s=1.5", "-d", "a=b")))
    slow.start()
    time.sleep(0.5)
    assert edge.stop() == 0
    slow.join(10)
    assert answers[0][0] == 200


@pytest.mark.parametrize("part", ["caddy", "haproxy"])
def test_it_ends_with_its_parts(started: Started, part: str) -> None:
    edge = started()
    edge.kill_part(part)
    eventually(edge.process_ended, 10)
    assert edge.process is not None
    assert edge.process.returncode == 1


def test_a_wrong_configuration_is_refused_in_a_line(tmp_path: Path) -> None:
    edge = RunningEdge(tmp_path, {"tls": "internal"})
    edge.caddyfile.write_text("{\n\tnonsense\n}\n")
    edge.launch()
    eventually(edge.process_ended, 10)
    assert edge.process is not None
    assert edge.process.returncode == 2
    assert "FATAL:" in edge.log
    assert "nonsense" in edge.log
    assert "Traceback" not in edge.log
