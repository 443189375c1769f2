"""axe-core checks the HTML views in Chromium, light and dark (WCAG 2.2 A, AA, best practice)."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.screen_world import furnish
from tests.judges.screens import PLAIN as SCREENS
from tests.judges.screens import SETUP, Screen
from tests.replica import Replica

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
#: Chromium uses plain HTTP here, and the proxy in front of the replica sets the header for it.
PLAIN = {"x-forwarded-proto": "http", "origin": "http://notes.example.org"}
#: More kinds of text than the pictures show.
MORE = (Screen("blocks", "Every kind of block", "/p/{blocks}", "page.html"),)


@pytest.fixture
def plain(own_replica: Start) -> Replica:
    return own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")


def check(replica: Replica, token: str, screens: list[dict[str, object]]) -> str:
    """Runs axe on the screens; AssertionError for any violation."""
    with front(replica) as base:
        done = node("axe.mjs", base, token, json.dumps(screens), timeout_s=400)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("rules passed") == 2 * len(screens)
    return done.stdout


@pytest.mark.timeout(500)
def test_axe_finds_nothing_wrong_with_the_plain_pages(plain: Replica) -> None:
    with plain.client(headers=PLAIN) as client:
        ids = furnish(client.set_up())
        token = client.jar["notes"]
    check(plain, token, [screen.at(ids) for screen in (*SCREENS, *MORE)])


def test_axe_finds_nothing_wrong_with_the_setup_wizard(plain: Replica) -> None:
    """Checks the views before the setup: the wizard and the login."""
    screens = (*SETUP, Screen("first", "The front page", "/", "home.html", is_public=True))
    assert " 200 " in check(plain, "none", [screen.at({}) for screen in screens])
