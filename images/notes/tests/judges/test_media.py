"""Tests that Chromium shows films, sound, pictures and texts of pages, and runs no script."""

import io
import json
import time
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import Client, Replica
from tests.uploads import attach
from tests.workspace import page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SVG = (
    b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9' onload='run()'>"
    b"<style>rect { fill: red }</style><rect width='9' height='9'/>"
    b"<image href='/ran-image' width='1' height='1'/>"
    b"<script>function run() { document.documentElement.setAttribute('data-ran', 'yes');"
    b" console.log('ran'); fetch('/ran-script') } run()</script>"
    b"<foreignObject><iframe xmlns='http://www.w3.org/1999/xhtml' src='/ran-frame'/>"
    b"</foreignObject>"
    b"</svg>"
)


def sound() -> bytes:
    """A sound file: a tenth of a second of silence."""
    out = io.BytesIO()
    with wave.open(out, "wb") as made:
        made.setnchannels(1)
        made.setsampwidth(2)
        made.setframerate(8000)
        made.writeframes(bytes(1600))
    return out.getvalue()


class Shown:
    """One page and its files as Chromium shows them."""

    def __init__(self, replica: Replica) -> None:
        self.replica = replica
        with replica.client(headers=PLAIN) as client:
            self._furnish(client.set_up())
            self.cookie = client.jar["notes"]

    def _furnish(self, client: Client) -> None:
        home = space(client)
        self.page = page(client, home, "Page")
        film = (Path(__file__).parent.parent / "data" / "film.webm").read_bytes()
        files = {
            "film": ("video/webm", film),
            "sound": ("audio/wav", sound()),
            "picture": ("image/svg+xml", SVG),
            "text": ("text/plain", "grün 中".encode()),
            "page": ("text/html", b"<script>document.title='ran'</script>"),
        }
        self.files = {
            name: attach(client, self.page, name, data, kind)["id"]
            for name, (kind, data) in files.items()
        }
        text = f"![a](/api/v1/attachments/{self.files['picture']})\n"
        client.ok("PUT", f"/api/v1/nodes/{self.page}", {"base_version": 1, "markdown": text})
        share = client.ok("POST", f"/api/v1/nodes/{self.page}/shares", {})
        self.share = "/s/" + share["url"].partition("/s/")[2]
        change = {"domain": "team.example.org", "site_enabled": True, "public": True}
        client.ok("PATCH", f"/api/v1/spaces/{home}", change)
        deadline = time.monotonic() + 10
        with self.replica.client(host="team.example.org", headers=PLAIN) as reader:
            while reader.get(f"/p/{self.page}").status_code != 200:
                assert time.monotonic() < deadline
                time.sleep(0.1)

    def seen(self, tasks: list[dict[str, object]], *, cookie: bool) -> list[dict[str, Any]]:
        with front(self.replica) as base:
            port = base.rpartition(":")[2]
            done = node("media.mjs", port, self.cookie if cookie else "", json.dumps(tasks))
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def shown(own_replica: Start) -> Shown:
    return Shown(own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto"))


def no_script_ran(seen: dict[str, Any]) -> None:
    assert not [path for path in seen["asked"] if "/ran-" in path], seen
    assert "ran" not in seen["said"], seen


def test_films_sound_and_pictures_load_in_every_kind_of_page(shown: Shown) -> None:
    main, team = "http://notes.example.org", "http://team.example.org"
    for url, base, cookie in (
        (f"{main}/p/{shown.page}", "/api/v1/attachments", True),
        (f"{main}{shown.share}", f"{shown.share}/attachments", False),
        (f"{team}/p/{shown.page}", "/api/v1/attachments", False),
    ):
        embed = [
            {"tag": tag, "src": f"{base}/{shown.files[name]}"}
            for tag, name in (("video", "film"), ("audio", "sound"), ("img", "picture"))
        ]
        embed.append({"tag": "video", "src": "https://evil.example/film.webm"})
        (seen,) = shown.seen([{"url": url, "embed": embed}], cookie=cookie)
        assert seen["status"] == 200, seen
        results = [found["result"] for found in seen["found"]]
        assert results == ["loaded", "loaded", "loaded", "refused"], seen
        assert f"{base}/{shown.files['picture']}" in seen["asked"]
        no_script_ran(seen)


def test_files_are_shown_by_themselves_and_run_nothing(shown: Shown) -> None:
    base = "http://notes.example.org/api/v1/attachments"
    names = ("film", "sound", "picture", "text")
    tasks: list[dict[str, object]] = [{"url": f"{base}/{shown.files[name]}"} for name in names]
    film, heard, picture, text = shown.seen(tasks, cookie=True)
    for seen in (film, heard):
        assert seen["found"][0]["tag"] == "media", seen
        assert seen["found"][0]["ready"] >= 1, seen
    assert picture["found"][0]["tag"] == "svg", picture
    assert picture["found"][0]["ran"] is None
    no_script_ran(picture)
    assert text["found"][0]["text"] == "grün 中"
