"""A statement that is given up, by its time or with its canary, ends without a word in any log."""

from __future__ import annotations

import logging
import time

import anyio
import pytest

from queenright.adapters.postgres.connections import PostgresSql
from queenright.ports.database import Endpoint
from queenright.ports.errors import UnavailableError
from queenright.ports.secrets import Password
from tests.contract.real_postgres import SUPERUSER_PASSWORD, real_postgres

pytestmark = pytest.mark.lab


async def ask(endpoint: Endpoint) -> None:
    async with PostgresSql().connect(endpoint, Password(SUPERUSER_PASSWORD)) as connection:
        await connection.run("SELECT pg_sleep(20)")


def test_a_statement_that_is_given_up_is_told_by_its_own_error_alone(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    async def main(port: int) -> None:
        with anyio.move_on_after(0.5) as canary:
            await ask(Endpoint("127.0.0.1", port, "postgres", "postgres"))
        assert canary.cancelled_caught
        with pytest.raises(UnavailableError, match="no answer within"):
            await ask(Endpoint("127.0.0.1", port, "postgres", "postgres", timeout_s=0.5))

    with real_postgres() as postgres, caplog.at_level(logging.INFO):
        began = time.monotonic()
        anyio.run(main, postgres.port)
        assert time.monotonic() - began < 10
    assert [record.getMessage() for record in caplog.records] == []
    assert capfd.readouterr().err == ""
