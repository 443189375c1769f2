"""A new release of the workspace, taken over by browsers that have the one before."""

import json
from pathlib import Path

import pytest

from tests.judges.programs import node
from tests.judges.release import next_release
from tests.judges.test_accessibility import PLAIN
from tests.judges.two_people import Start, two_people
from tests.replica import Replica

pytestmark = pytest.mark.judge
SCENARIOS = 22


@pytest.mark.timeout(600)
def test_a_browser_takes_a_new_release_and_loses_nothing(
    own_replica: Start, tmp_path: Path
) -> None:
    pages = {name: (name.title(), "start\n") for name in ("plan", "notes", "first", "bare")}
    old, _, given = two_people(own_replica, pages)
    env = {"ORIGIN": "", "PROTOCOL_HEADER": "x-forwarded-proto"}
    new: Replica = own_replica(old.database_url, **env, PYTHONPATH=str(next_release(tmp_path)))
    with old.client(headers=PLAIN) as one, new.client(headers=PLAIN) as other:
        builds = [client.get("/w").headers["x-notes-build"] for client in (one, other)]
    assert builds[0] != builds[1]
    done = node("workspace_release.mjs", old.url, new.url, json.dumps(given), timeout_s=500)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
