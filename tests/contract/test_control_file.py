"""A damaged control file of a real server is found before Patroni starts, whatever is damaged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from images.member.queenright_member.data_end import told
from images.member.queenright_member.findings import DAMAGED_CONTROL_FILE, damage_of
from tests.contract.backup_places import initialise, servers_in
from tests.contract.postgres_server import Server
from tests.contract.real_postgres import binaries

pytestmark = pytest.mark.lab


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{binaries()}:{os.environ['PATH']}")


@pytest.fixture
def server(place: Path) -> Iterator[Server]:
    with servers_in(place, "leader") as found:
        server = found["leader"]
        initialise(server)
        yield server


def test_a_whole_one_is_no_finding(server: Server) -> None:
    assert damage_of(server.data) == ""
    assert told(server.data)["timeline"] == 1


@pytest.mark.parametrize("bytes_left", [0, 8, 150])
def test_a_cut_one_is_found(server: Server, bytes_left: int) -> None:
    os.truncate(server.data / "global/pg_control", bytes_left)
    assert damage_of(server.data) == DAMAGED_CONTROL_FILE


@pytest.mark.parametrize("at", [8, 48, 200])
def test_one_with_another_byte_is_found_and_tells_no_end(server: Server, at: int) -> None:
    """Its database identifier is whole, and PostgreSQL's own program prints its fields."""
    control = server.data / "global/pg_control"
    found = bytearray(control.read_bytes())
    found[at] ^= 0xFF
    control.write_bytes(found)
    assert damage_of(server.data) == DAMAGED_CONTROL_FILE
    assert DAMAGED_CONTROL_FILE in str(told(server.data)["why"])


def test_data_of_another_version_are_not_called_damaged(server: Server) -> None:
    """The program takes another layout for damage; PostgreSQL itself says what is wrong."""
    os.truncate(server.data / "global/pg_control", 150)
    (server.data / "PG_VERSION").write_text("15\n")
    assert damage_of(server.data) == ""
