"""Comes back to the network with words that were written on a stored page, with difficulties.

The stored state is too old or damaged, or has unknown parts; the right to write is gone, or
another tab signs out.
"""

import json
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from tests.judges.control import control_of
from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people
from tests.postgres import Postgres
from tests.test_old_bases import age

pytestmark = pytest.mark.judge
SCENARIOS = 25


@dataclass
class World:
    """The database of the replicas."""

    postgres: Postgres
    database: str

    def age(self, page: str) -> None:
        """Deletes the edits of a page by their age."""
        age(self.postgres, page, self.database)


@pytest.mark.timeout(700)
def test_what_was_written_offline_comes_back_or_is_shown(
    own_replica: Start, postgres: Postgres
) -> None:
    texts = {name: (name.title(), "first\n\nmiddle\n\nlast\n") for name in
             ("old", "changed", "lost", "torn", "parts", "right", "left")}  # fmt: skip
    one, other, given = two_people(own_replica, texts)
    control = control_of(World(postgres, urlsplit(one.database_url).path[1:]))
    try:
        with front(one) as first, front(other) as second:
            more = {**given, "control": f"http://127.0.0.1:{control.server_port}"}
            done = node("workspace_return.mjs", first, second, json.dumps(more), timeout_s=650)
    finally:
        control.shutdown()
        control.server_close()
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
