"""Sets a new installation up in Chromium: three steps, a tour, two people at once."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.replica import ADMIN, PASSWORD, Replica

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 9
#: Three steps in four looks, and what the second person sees.
CHECKED = 13


@pytest.mark.timeout(300)
def test_the_first_setup_in_a_browser(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    given = json.dumps({"ada": {"email": ADMIN, "password": PASSWORD}})
    with front(replica) as base:
        done = node("workspace_setup.mjs", base, base, given, timeout_s=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS + CHECKED, done.stdout
