"""Lighthouse judges four screens as a phone; Chromium says whether the workspace can be installed.

Speed depends on the machine: `make notes-bench SECTIONS=lighthouse` judges it.
"""

import json
from collections.abc import Callable

import pytest

from tests.judges.lighthouse import NAMES, judged
from tests.replica import Replica

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]


@pytest.mark.timeout(1600)
def test_lighthouse_and_the_installation(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    categories = ("accessibility", "best-practices", "seo")
    found = judged(replica, categories, installable=("/w", "/login"))
    assert list(found.runs) == list(NAMES)
    for name, (run,) in found.runs.items():
        assert not run.error, (name, run.error)
        # A redirect to the sign-in would be judged in the screen's place.
        assert run.address.startswith("/login") is (name == "login"), run.address
        # A shared page is for those who have its address: search engines are kept away.
        kept_away = ["is-crawlable"] if name == "share" else []
        assert [one["id"] for one in run.failed] == kept_away, json.dumps(run.failed, indent=1)
        judged_whole = [one for one in categories if one != "seo" or not kept_away]
        assert {one: run.scores[one] for one in judged_whole} == dict.fromkeys(judged_whole, 100)
        assert run.passed > 20, (name, run.passed)
    workspace = found.installations["/w"]
    assert not workspace.errors
    assert {icon["sizes"] for icon in json.loads(workspace.manifest)["icons"]} >= {
        "192x192",
        "512x512",
    }
    # A page without a manifest cannot be installed: the question is a real one.
    assert [one["errorId"] for one in found.installations["/login"].errors] == ["no-manifest"]
