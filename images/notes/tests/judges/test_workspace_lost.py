"""Comments and files that a failover of the database has lost: Chromium sends them again."""

import json

import pytest

from tests.judges.loss import world
from tests.judges.programs import node

pytestmark = [pytest.mark.judge, pytest.mark.slow]
SCENARIOS = 14


@pytest.mark.timeout(400)
def test_comments_and_files_that_were_lost_come_again() -> None:
    with world() as given:
        done = node("workspace_lost.mjs", json.dumps(given), timeout_s=350)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
