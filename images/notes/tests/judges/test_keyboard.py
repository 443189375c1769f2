"""Each screen by the keyboard alone: all controls are reached and seen, none keeps the focus."""

import json
import os
from collections.abc import Sequence

import pytest

from tests.judges.programs import node
from tests.judges.screen_world import furnish, publish
from tests.judges.screens import PLAIN as PLAIN_PAGES
from tests.judges.screens import SCREENS, SETUP, SITE, WORKSPACE
from tests.judges.screenshots import at_domain
from tests.judges.test_accessibility import PLAIN
from tests.judges.test_every_look import Start, behind_proxy
from tests.replica import ADMIN, PASSWORD

pytestmark = [pytest.mark.judge, pytest.mark.slow, pytest.mark.timeout(1800)]
#: What may be wrong; `keyboard.mjs` shows first that it finds each of these, and nothing else.
KINDS = ("not reached", "no visible focus", "keeps the focus")
#: Names of screens to walk, to look at some of them alone.
ONLY = os.environ.get("SCREENS", "").split()


def check(base: str, screens: Sequence[dict[str, object]]) -> None:
    """Walks the screens; AssertionError for all that is wrong there."""
    person = json.dumps({"email": ADMIN, "password": PASSWORD})
    given = [screen for screen in screens if not ONLY or screen["name"] in ONLY]
    done = node("keyboard.mjs", base, person, json.dumps(given), timeout_s=1500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: is used") == len(given), done.stdout
    assert done.stdout.count("holds: finds") == len(KINDS) + 1, done.stdout


def test_each_screen_is_used_by_the_keyboard_alone(own_replica: Start) -> None:
    with behind_proxy(own_replica) as (replica, base):
        check(base, [screen.at({}) for screen in SETUP])
        with replica.client(headers=PLAIN) as client:
            ids = furnish(client.set_up())
            # The last screens of the workspace end the sign-in.
            shown = (*PLAIN_PAGES, *WORKSPACE)
            check(base, [screen.at(ids) for screen in shown])
            site = at_domain(base, publish(client, ids))
            check(site, [screen.at(ids) for screen in SITE])
    walked = {screen.name for screen in (*SETUP, *shown, *SITE)}
    assert walked == {screen.name for screen in SCREENS}
