"""The verbs of the REST API against a program that answers as Patroni may, and as it should not."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import threading
from collections.abc import Awaitable, Callable

import pytest

from queenright.adapters.patroni.errors import differing
from queenright.adapters.patroni.http import Patience, PatroniHttp
from queenright.ports.errors import ConflictError, PortError, RejectedError, UnavailableError
from queenright.ports.secrets import Password
from tests.support.http_server import Answer, Answering, answering

HOST = "127.0.0.1"
PASSWORD = Password("s3cret-of-the-members")
BASIC = base64.b64encode(f"queenright:{PASSWORD.value}".encode()).decode()
SETTINGS = {"ttl": 30, "postgresql": {"parameters": {"work_mem": "4MB"}, "pg_hba": ["a", "b"]}}
HTML = b"<!DOCTYPE HTML><html><p>Error code: 409</html>"
QUICK = Patience(patch_s=2.0, move_s=2.0, restart_s=2.0)
LONG_S = 60.0
"""For tests whose subject is not the time: a busy machine may stand still for seconds."""
LONG = Patience(patch_s=LONG_S, move_s=LONG_S, restart_s=LONG_S)

Verb = Callable[[PatroniHttp, int, Password | None], Awaitable[None]]


async def patch(patroni: PatroniHttp, port: int, password: Password | None) -> None:
    await patroni.patch_settings(HOST, port, {"ttl": 20}, {"ttl": 30}, password)


async def switch_over(patroni: PatroniHttp, port: int, password: Password | None) -> None:
    await patroni.switch_over(HOST, port, "member-1", "member-2", password)


async def fail_over(patroni: PatroniHttp, port: int, password: Password | None) -> None:
    await patroni.fail_over(HOST, port, "member-2", password)


async def restart(patroni: PatroniHttp, port: int, password: Password | None) -> None:
    await patroni.restart(HOST, port, password)


async def reinitialize(patroni: PatroniHttp, port: int, password: Password | None) -> None:
    await patroni.reinitialize(HOST, port, password)


VERBS = [patch, switch_over, fail_over, restart, reinitialize]
BODIES: dict[Verb, tuple[str, dict[str, object]]] = {
    patch: ("PATCH /config", {"ttl": 20}),
    switch_over: ("POST /switchover", {"leader": "member-1", "candidate": "member-2"}),
    fail_over: ("POST /failover", {"candidate": "member-2"}),
    restart: ("POST /restart", {"restart_pending": True}),
    reinitialize: ("POST /reinitialize", {"force": True}),
}


async def tell(
    verb: Verb, status: int, body: object = b"", password: Password | None = PASSWORD
) -> tuple[PortError | None, Answering]:
    def answer(method: str, path: str) -> Answer:
        return (200, SETTINGS) if method == "GET" else (status, body)

    with answering(answer) as there:
        patroni = PatroniHttp(LONG_S, LONG)
        try:
            await verb(patroni, there.port, password)
        except PortError as error:
            return error, there
        finally:
            await patroni.aclose()
        return None, there


@pytest.mark.parametrize("verb", VERBS)
async def test_what_is_sent(verb: Verb) -> None:
    error, there = await tell(verb, 200, b"done")
    asked, body = BODIES[verb]
    assert error is None
    assert there.asked[-1] == asked
    authorization, sent = there.sent[-1]
    assert authorization == f"Basic {BASIC}"
    assert json.loads(sent) == body


async def test_reads_and_members_without_a_password_are_sent_none() -> None:
    _, there = await tell(patch, 200, password=None)
    assert [authorization for authorization, _ in there.sent] == ["", ""]
    _, there = await tell(patch, 200)
    assert there.sent[0][0] == ""


@pytest.mark.parametrize(
    ("verb", "status", "body", "kind"),
    [
        (patch, 400, HTML, RejectedError),
        (patch, 409, HTML, ConflictError),
        (patch, 411, HTML, RejectedError),
        (patch, 500, HTML, UnavailableError),
        (patch, 502, HTML, UnavailableError),
        (patch, 503, HTML, UnavailableError),
        (patch, 302, b"", UnavailableError),
        (switch_over, 202, b"Switchover scheduled", UnavailableError),
        (switch_over, 400, b"Switchover target and source are the same", RejectedError),
        (switch_over, 412, b"leader name does not match", RejectedError),
        (switch_over, 422, b"Unable to parse", RejectedError),
        (switch_over, 500, HTML, UnavailableError),
        (switch_over, 503, b"Switchover status unknown", UnavailableError),
        (fail_over, 412, b"candidate does not exists", RejectedError),
        (fail_over, 503, b"Failover failed", UnavailableError),
        (restart, 400, b"restart failed", UnavailableError),
        (restart, 503, b"restart conditions are not satisfied", ConflictError),
        (restart, 503, b"reinitialize already in progress", UnavailableError),
        (restart, 503, b"postgres is still starting", UnavailableError),
        (reinitialize, 500, HTML, UnavailableError),
        (reinitialize, 503, b"I am the leader, can not reinitialize", ConflictError),
        (reinitialize, 503, b"Cluster has no leader, can not reinitialize", UnavailableError),
        (reinitialize, 503, b"reinitialize already in progress", UnavailableError),
        *((verb, 401, b"wrong password", RejectedError) for verb in VERBS),
        *((verb, 403, b"Access is denied", RejectedError) for verb in VERBS),
        *((verb, 404, HTML, RejectedError) for verb in VERBS),
        *((verb, 501, HTML, RejectedError) for verb in VERBS),
        *((verb, 0, b"", UnavailableError) for verb in VERBS),
    ],
)
async def test_what_an_answer_means(
    verb: Verb, status: int, body: bytes, kind: type[PortError]
) -> None:
    error, there = await tell(verb, status, body)
    assert type(error) is kind
    told = str(error)
    assert "<" not in told
    assert PASSWORD.value not in told
    assert BASIC not in told
    asked, _ = BODIES[verb]
    assert there.asked.count(asked) == 1


@pytest.mark.parametrize(
    ("password", "words"),
    [(PASSWORD, "not that of the members"), (None, "none is known")],
)
async def test_a_wrong_password_is_told_as_such(password: Password | None, words: str) -> None:
    error, _ = await tell(patch, 401, b"not authenticated", password)
    assert words in str(error)


async def test_patronis_own_words_are_passed_on() -> None:
    error, _ = await tell(switch_over, 412, b"no good candidates\nhave been found")
    assert "no good candidates have been found" in str(error)
    error, _ = await tell(switch_over, 503, b"x" * 100_000)
    assert len(str(error)) < 1000


@pytest.mark.parametrize("verb", VERBS)
async def test_no_answer_in_time_may_still_be_carried_out(verb: Verb) -> None:
    arrived, given_up = threading.Event(), threading.Event()

    def answer(method: str, path: str) -> Answer:
        if method != "GET":
            arrived.set()
            given_up.wait(LONG_S)
        return 200, SETTINGS

    asked, _ = BODIES[verb]
    with answering(answer) as there:
        patroni = PatroniHttp(LONG_S, QUICK)
        with pytest.raises(UnavailableError, match="may still"):
            await verb(patroni, there.port, PASSWORD)
        await patroni.aclose()
        await asyncio.to_thread(arrived.wait, LONG_S)
        given_up.set()
    assert there.asked.count(asked) == 1


@pytest.mark.parametrize("verb", VERBS)
async def test_where_nobody_listens_nothing_was_done(verb: Verb) -> None:
    with answering(lambda method, path: (200, {})) as there:
        port = there.port
    patroni = PatroniHttp(2)
    with pytest.raises(UnavailableError, match="nothing was"):
        await verb(patroni, port, PASSWORD)
    await patroni.aclose()


async def test_settings_that_are_not_as_expected_are_not_patched() -> None:
    with answering(lambda method, path: (200, SETTINGS)) as there:
        patroni = PatroniHttp(2)
        with pytest.raises(ConflictError, match=r"postgresql\.parameters\.work_mem") as error:
            await patroni.patch_settings(
                HOST,
                there.port,
                {"ttl": 20},
                {"postgresql": {"parameters": {"work_mem": "hunter2"}}},
                PASSWORD,
            )
        await patroni.aclose()
    assert "hunter2" not in str(error.value)
    assert there.asked == ["GET /config"]


@pytest.mark.parametrize(
    ("expected", "paths"),
    [
        ({}, []),
        ({"ttl": 30}, []),
        ({"ttl": 30.0}, []),
        ({"ttl": "30"}, ["ttl"]),
        ({"ttl": True}, ["ttl"]),
        ({"ttl": None}, ["ttl"]),
        ({"pause": None}, []),
        ({"pause": True}, ["pause"]),
        ({"pause": False}, ["pause"]),
        ({"postgresql": {"pg_hba": ["a", "b"]}}, []),
        ({"postgresql": {"pg_hba": ["b", "a"]}}, ["postgresql.pg_hba"]),
        ({"postgresql": {"parameters": {"jit": None}}}, []),
        ({"postgresql": {"slots": {"a": None}}}, []),
        ({"postgresql": {"slots": {"a": 1}}}, ["postgresql.slots.a"]),
        ({"ttl": {"a": None}}, ["ttl"]),
        ({"postgresql": {}}, []),
        ({"postgresql": "x"}, ["postgresql"]),
        ({"postgresql": None, "ttl": 1}, ["postgresql", "ttl"]),
    ],
)
def test_what_differs(expected: dict[str, object], paths: list[str]) -> None:
    assert differing(expected, SETTINGS) == paths


@pytest.mark.parametrize("status", [200, 401, 412, 503, 0])
async def test_no_log_of_any_library_holds_the_password(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("", "asyncio"):
        caplog.set_level(logging.DEBUG, name)
    for verb in VERBS:
        error, _ = await tell(verb, status, b"told")
        assert PASSWORD.value not in repr(error)
    assert PASSWORD.value not in caplog.text
    assert BASIC not in caplog.text


def test_a_password_is_never_shown() -> None:
    assert PASSWORD.value not in f"{PASSWORD} {PASSWORD!r} {[PASSWORD]}"
