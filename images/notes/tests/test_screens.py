"""Checks the list of screens against the application, and the index of their pictures."""

import itertools
import re
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit

from tests.judges.screens import SCREENS, SETUP, WORKSPACE
from tests.judges.screenshots import FOLDER, INDEX, index, pictures

PROJECT = Path(__file__).resolve().parents[1]
TEMPLATES = PROJECT / "src" / "notes" / "web" / "templates"
APP = PROJECT / "web" / "src" / "app"
#: Templates that other templates use, and what the workspace draws again in its place.
PARTS = {"base.html", "first.html", "tree.html"}
ID = "5d2f0c7e-0000-4000-8000-000000000000"
#: Of a picture, in the mean.
MOST_BYTES = 19_000


def drawn() -> set[str]:
    return {screen.drawn_by for screen in SCREENS}


def addresses(routes: str) -> set[str]:
    """The addresses below `/w` of which the workspace's routes draw a screen."""
    parts = re.search(r"ADMIN_PARTS = \[([^]]*)\]", routes)
    assert parts
    found = set(re.findall(r'"(/w(?:/[^"$]*)?)"', routes)) - {"/w/"}
    found |= {f"/w/admin/{part}" for part in re.findall(r'"([^"]+)"', parts[1])}
    patterns = re.findall(r"new RegExp\(\s*`\^([^`]*)\$`\s*,?\s*\)", routes)
    assert len(patterns) == routes.count("RegExp("), "a pattern that this test does not read"
    for pattern in patterns:
        if pattern == "${ID}":  # the check of an id in a query
            continue
        plain = pattern.replace("(?:/w)?", "/w").replace("?:", "").replace("${ID}", ID)
        pieces = re.split(r"\(([^)]*)\)", plain)
        choices = [piece.split("|") for piece in pieces]
        found |= {"".join(one) for one in itertools.product(*choices)}
    # Other words for an address that has a screen.
    return found - {"/w/admin", f"/w/spaces/{ID}"}


def test_each_template_has_a_screen() -> None:
    assert {path.name for path in TEMPLATES.glob("*.html")} - PARTS - drawn() == set()


def test_each_address_and_dialog_of_the_workspace_has_a_screen() -> None:
    routes = re.findall(r'\{ screen: "([a-z]+)"[;} ]', (APP / "routes.ts").read_text())
    named = re.search(r"type DialogName =([^;]*);", (APP / "commands.ts").read_text())
    assert named
    dialogs = [name for name in re.findall(r'"([^"]*)"', named[1]) if name]
    assert {"home", "page"} <= set(routes)
    assert "palette" in dialogs
    wanted = {f"screen {name}" for name in routes} | {f"dialog {name}" for name in dialogs}
    assert wanted - drawn() == set()


def test_each_pattern_of_an_address_has_a_screen() -> None:
    wanted = addresses((APP / "routes.ts").read_text())
    assert {"/w", f"/w/p/{ID}", f"/w/s/{ID}/export", "/w/admin/audit", "/w/jobs"} <= wanted
    ids = defaultdict[str, str](lambda: ID)
    shown = {urlsplit(screen.path.format_map(ids)).path for screen in (*WORKSPACE, *SETUP)}
    assert wanted - shown == set()


def test_an_address_without_a_screen_is_found() -> None:
    routes = (APP / "routes.ts").read_text()
    more = 'if (path === "/w/new") x; new RegExp(`^/w/(a|b)/${ID}$`);'
    assert addresses(routes + more) - addresses(routes) == {"/w/new", f"/w/a/{ID}", f"/w/b/{ID}"}


def test_the_index_shows_the_pictures_of_each_screen() -> None:
    assert INDEX.read_text() == index(), "make notes-screenshots writes it"
    wanted = {name for screen in SCREENS for name in pictures(screen) if name}
    assert {path.name for path in FOLDER.glob("*.webp")} == wanted
    assert all(f"({name})" in INDEX.read_text() for name in wanted)


def test_the_pictures_are_small() -> None:
    sizes = [path.stat().st_size for path in FOLDER.glob("*.webp")]
    assert sum(sizes) < MOST_BYTES * len(sizes)
