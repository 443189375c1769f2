"""Each screen on a phone of 320 pixels, and with text of twice the size; both in forced colours."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.judges.programs import front, node
from tests.judges.screen_world import furnish, publish
from tests.judges.screens import PLAIN as PLAIN_PAGES
from tests.judges.screens import SCREENS, SETUP, SITE, WORKSPACE
from tests.judges.screenshots import at_domain
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica

pytestmark = [pytest.mark.judge, pytest.mark.slow, pytest.mark.timeout(900)]
Start = Callable[..., Replica]
#: What may be lost; `every_look.mjs` shows first that it finds each of these, and nothing else.
KINDS = ("too wide", "scrolls", "cut at its side", "cut below", "beside the window")


@contextmanager
def behind_proxy(own_replica: Start) -> Iterator[tuple[Replica, str]]:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with front(replica) as base:
        yield replica, base


def check(base: str, look: str, screens: list[dict[str, object]]) -> None:
    """Shows the screens in a look; AssertionError for all that is lost there."""
    person = json.dumps({"email": ADMIN, "password": PASSWORD})
    done = node("every_look.mjs", base, person, look, json.dumps(screens), timeout_s=800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: nothing is lost") == len(screens), done.stdout
    assert done.stdout.count("holds: finds") == len(KINDS) + 1, done.stdout


@pytest.mark.parametrize("look", ["phone", "large"])
def test_nothing_is_lost_on_any_screen(own_replica: Start, look: str) -> None:
    with behind_proxy(own_replica) as (replica, base):
        check(base, look, [screen.at({}) for screen in SETUP])
        with replica.client(headers=PLAIN) as client:
            ids = furnish(client.set_up())
            # The last screens of the workspace end the sign-in.
            shown = [
                screen
                for screen in (*PLAIN_PAGES, *WORKSPACE)
                if look == "phone" or not screen.is_narrow
            ]
            check(base, look, [screen.at(ids) for screen in shown])
            site = at_domain(base, publish(client, ids))
            check(site, look, [screen.at(ids) for screen in SITE])
    checked = {screen.name for screen in (*SETUP, *shown, *SITE)}
    wide = {screen.name for screen in SCREENS if look == "phone" or not screen.is_narrow}
    assert checked == wide, "axe checks each screen that has a picture"
