"""Checks the list of screens against the application, and the index of their pictures."""

import re
from pathlib import Path

from tests.judges.screens import SCREENS
from tests.judges.screenshots import FOLDER, INDEX, index, pictures

PROJECT = Path(__file__).resolve().parents[1]
TEMPLATES = PROJECT / "src" / "notes" / "web" / "templates"
APP = PROJECT / "web" / "src" / "app"
#: Templates that other templates use.
PARTS = {"base.html", "tree.html"}
#: Of a picture, in the mean.
MOST_BYTES = 19_000


def drawn() -> set[str]:
    return {screen.drawn_by for screen in SCREENS}


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


def test_the_index_shows_the_pictures_of_each_screen() -> None:
    assert INDEX.read_text() == index(), "make notes-screenshots writes it"
    wanted = {name for screen in SCREENS for name in pictures(screen) if name}
    assert {path.name for path in FOLDER.glob("*.webp")} == wanted
    assert all(f"({name})" in INDEX.read_text() for name in wanted)


def test_the_pictures_are_small() -> None:
    sizes = [path.stat().st_size for path in FOLDER.glob("*.webp")]
    assert sum(sizes) < MOST_BYTES * len(sizes)
