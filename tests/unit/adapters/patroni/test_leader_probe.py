"""A round of questions to leaders: who says 200 in time leads, and nobody else does."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from queenright.adapters.patroni.http import PatroniHttp
from queenright.adapters.patroni.leader_probe import OPEN, LeaderProbe
from tests.polling.stub_members import MEMBERS, served

CLUSTERS = 45
"""With a member of each trouble among them, and more members than connections at a time."""
LIMIT_S = 0.5


@contextmanager
def saying(*chunks: bytes, apart_s: float = 0.0) -> Iterator[tuple[str, int]]:
    """Serve one connection with these bytes, and close it."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1000)
                for chunk in chunks:
                    time.sleep(apart_s)
                    try:
                        connection.sendall(chunk)
                    except OSError:
                        return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield ("127.0.0.1", server.getsockname()[1])
        thread.join(10)


def test_the_leaders_among_all_members_are_found() -> None:
    with served(CLUSTERS) as there:
        places = [(member.address, there.rest_port) for member in there.members]
        leaders = {(m.address, there.rest_port) for m in there.members if m.leads}
        assert len(places) == CLUSTERS * MEMBERS > OPEN
        assert LeaderProbe(LIMIT_S).round(places) == leaders


async def test_the_port_gives_the_leaders() -> None:
    with served(3) as there:
        places = [(member.address, there.rest_port) for member in there.members]
        patroni = PatroniHttp(2)
        found = await patroni.leading(places)
        await patroni.aclose()
    assert found == {place for place in places if place[0].endswith(".1")}


def test_nobody_leads_where_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    places = [("127.0.0.1", port), ("::1", port), ("", 0), ("not an address.invalid", 1)]
    began_s = time.monotonic()
    assert LeaderProbe(40).round(places) == frozenset()
    assert LeaderProbe(40).round([]) == frozenset()
    assert time.monotonic() - began_s < 20


@pytest.mark.parametrize(
    ("chunks", "leads"),
    [
        ((b"HTTP/1.0 200 OK\r\n\r\n",), True),
        ((b"HT", b"TP/1.1 2", b"00 OK\r\n\r\n"), True),
        ((b"HTTP/1.0 503 Service Unavailable\r\n\r\n",), False),
        ((b"HTTP/1.0 20", b""), False),
        ((b"SSH-2.0-OpenSSH_9.2p1\r\n",), False),
        ((b"",), False),
        ((b"\x00" * 100_000,), False),
    ],
)
def test_only_an_answer_of_200_counts(chunks: tuple[bytes, ...], *, leads: bool) -> None:
    with saying(*chunks, apart_s=0.02) as place:
        assert LeaderProbe(20).round([place]) == ({place} if leads else frozenset())


def test_an_answer_that_comes_too_late_does_not_count() -> None:
    """Each byte of it comes in time, and all of them take ten seconds."""
    with saying(*(bytes([one]) for one in b"HTTP/1.0 200 OK"), apart_s=0.7) as place:
        began_s = time.monotonic()
        assert LeaderProbe(1.0).round([place]) == frozenset()
        assert time.monotonic() - began_s < 8
