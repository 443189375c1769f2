"""axe-core checks the HTML views in Chromium, light and dark (WCAG 2.2 A, AA, best practice)."""

from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.replica import Client, Replica
from tests.uploads import attach
from tests.workspace import page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
#: Chromium uses plain HTTP here, and the proxy in front of the replica sets the header for it.
PLAIN = {"x-forwarded-proto": "http", "origin": "http://notes.example.org"}
TEXT = (
    "# Heading\n\nSome **bold** [link](https://a.example/) `code`\n\n- [x] done\n\n"
    "```py\nx = 1\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n> quoted\n"
    "\na[^1] <x-y> `z`\n\n<div>\n\n- [ ] a\n- b\n\n# Main\n\n# Files\n\n[^1]: A note.\n\n"
)


@pytest.fixture
def plain(own_replica: Start) -> Replica:
    return own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")


def furnish(client: Client) -> list[str]:
    """Creates one object of each kind that a view can show; returns the paths of all views."""
    home = space(client)
    made = page(client, home, "Page", markdown=TEXT)
    client.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "markdown": TEXT + "more\n"})
    page(client, home, "Below", parent_id=made, markdown=f"[up](/p/{made})\n")
    gone = page(client, home, "Gone")
    client.ok("DELETE", f"/api/v1/nodes/{gone}")
    attach(client, made, "a.txt", b"x", "text/plain")
    client.ok("POST", f"/api/v1/nodes/{made}/comments", {"body": "Hm."})
    share = client.ok("POST", f"/api/v1/nodes/{made}/shares", {})
    guarded = client.ok("POST", f"/api/v1/nodes/{made}/shares", {"password": "open"})
    return [
        "/", f"/spaces/{home}", f"/spaces/{home}/trash", f"/p/{made}", f"/p/{made}/edit",
        f"/p/{made}/pages", f"/p/{made}/backlinks", f"/p/{made}/move",
        f"/p/{made}/history", f"/p/{made}/diff?old=1&new=2", f"/p/{gone}", "/search?q=bold",
        "/settings", "/nowhere", share["url"].partition("example.org")[2],
        guarded["url"].partition("example.org")[2], "/login",
    ]  # fmt: skip


def check(replica: Replica, token: str, paths: list[str]) -> str:
    """Runs axe on the paths; AssertionError for any violation."""
    with front(replica) as base:
        done = node("axe.mjs", base, token, *paths)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("rules passed") == 2 * len(paths)
    return done.stdout


def test_axe_finds_nothing_wrong_with_the_plain_pages(plain: Replica) -> None:
    with plain.client(headers=PLAIN) as client:
        paths = furnish(client.set_up())
        token = client.jar["notes"]
    check(plain, token, paths)


def test_axe_finds_nothing_wrong_with_the_setup_wizard(plain: Replica) -> None:
    """Checks the views before the setup: the wizard and the login."""
    assert " 200 " in check(plain, "none", ["/setup", "/"])
