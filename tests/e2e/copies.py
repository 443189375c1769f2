"""The lines that a copy of data has left in a member's log: `queenright status` reads them."""

from __future__ import annotations

from queenright.core.observed.base_copies import BaseCopy, progress_in
from tests.e2e.swarm_facts import connect
from tests.lab.lab import Lab

FILL = (
    "CREATE TABLE IF NOT EXISTS filler AS SELECT n, repeat(md5(n::text), 30) AS words"
    " FROM generate_series(1, 200000) n"
)
"""About 200 MB."""


def fill(lab: Lab, node: str) -> None:
    with connect(lab, node, timeout_s=60) as connection:
        connection.execute(FILL)


def progress_of(lab: Lab, member: str) -> list[BaseCopy]:
    """The progress that a member's container has written, as the engine gives its lines."""
    asked = ("service", "logs", "--raw", "--timestamps", "--tail", "500", f"main_{member}")
    said = lab.manager.docker(*asked)
    return list(progress_in(said.stdout + said.stderr))
