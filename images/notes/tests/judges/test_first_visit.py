"""axe-core looks at what somebody sees who comes first: the setup wizard, then the way in."""

import subprocess
from collections.abc import Callable

import pytest

from tests.replica import Replica
from tests.test_judges import JUDGES, front

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]


def test_axe_finds_nothing_wrong_with_the_setup_wizard(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    paths = ["/setup", "/"]
    with front(replica) as base:
        done = subprocess.run(
            ["node", str(JUDGES / "axe.mjs"), base, "none", *paths],
            capture_output=True, text=True, check=False, cwd=JUDGES, timeout=120,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("rules passed") == 2 * len(paths)
    assert " 200 " in done.stdout
