"""Tests the demo space that the setup offers: imported as any zip, in both languages, once."""

import io
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from notes.transfer.demo_space import Language, demo_zip
from tests.replica import ADMIN, PASSWORD, Client, Replica
from tests.workspace import space
from tests.zips import finished, imported

Start = Callable[..., Replica]
FORM = {"site_name": "N", "name": "Ada", "email": ADMIN, "password": PASSWORD}
LANGUAGES: tuple[Language, ...] = ("en", "de")
TITLES = {"en": "A short tour", "de": "Ein kurzer Rundgang"}


def tour_of(client: Client) -> list[dict[str, Any]]:
    """The pages of the demo space, when its import is done."""
    (job,) = client.ok("GET", "/api/v1/jobs")
    assert finished(client, job)["state"] == "done"
    (home,) = client.ok("GET", "/api/v1/spaces")
    nodes: list[dict[str, Any]] = client.ok("GET", f"/api/v1/spaces/{home['id']}/tree")
    return nodes


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_tour_is_imported_without_a_change(admin: Client, language: Language) -> None:
    home = space(admin)
    job = imported(admin, home, demo_zip(language))
    assert job["state"] == "done"
    assert (job["result"]["changed"], job["result"]["left_out"]) == (0, 0)
    nodes = admin.ok("GET", f"/api/v1/spaces/{home}/tree")
    assert nodes[0]["title"] == TITLES[language]
    assert [n["parent_id"] for n in nodes[1:]] == [nodes[0]["id"]] * 6
    assert [n["is_template"] for n in nodes] == [False] * 6 + [True]
    for node in nodes:
        text = admin.get(f"/api/v1/nodes/{node['id']}/markdown").text
        assert ".md)" not in text
    links = admin.get(f"/api/v1/nodes/{nodes[0]['id']}/markdown").text
    assert all(f"/p/{node['id']})" in links for node in nodes[1:6])


def test_both_languages_have_the_same_pages() -> None:
    assert demo_zip("en") == demo_zip("en")
    found = [zipfile.ZipFile(io.BytesIO(demo_zip(one))).namelist() for one in LANGUAGES]
    assert found[0] == found[1]


def test_a_setup_with_a_tour_happens_once(own_replica: Start) -> None:
    """Two people at once: one of them sets up, with one space; the other is refused."""
    replica = own_replica()

    def ask(language: str) -> int:
        with replica.client() as client:
            return client.post("/api/v1/setup", json={**FORM, "demo": language}).status_code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(ask, ["en", "de", "en", "de"])) == [201, 409, 409, 409]
    with replica.client() as client:
        client.ok("POST", "/api/v1/session", {"email": ADMIN, "password": PASSWORD})
        assert len(tour_of(client)) == 7
        assert client.post("/api/v1/setup", json={**FORM, "demo": "en"}).status_code == 409
        assert len(client.ok("GET", "/api/v1/spaces")) == 1


def test_the_tour_is_deleted_like_any_space(own_replica: Start) -> None:
    with own_replica().client() as client:
        client.ok("POST", "/api/v1/setup", {**FORM, "demo": "de"})
        top = tour_of(client)[0]
        (home,) = client.ok("GET", "/api/v1/spaces")
        client.ok("DELETE", f"/api/v1/nodes/{top['id']}")
        assert client.ok("GET", f"/api/v1/spaces/{home['id']}/tree") == []
        client.ok("DELETE", f"/api/v1/spaces/{home['id']}")
        assert client.ok("GET", "/api/v1/spaces") == []


def test_the_plain_setup_offers_the_tour_too(own_replica: Start) -> None:
    with own_replica().client() as client:
        assert 'name="demo"' in client.get("/setup").text
        assert client.post("/setup", data={**FORM, "demo": "../de"}).status_code == 422
        assert client.post("/setup", data={**FORM, "demo": "en"}).status_code == 303
        deadline = time.monotonic() + 20
        while TITLES["en"] not in client.get("/").text:
            assert time.monotonic() < deadline


def test_without_a_tour_nothing_is_made(own_replica: Start) -> None:
    with own_replica().client() as client:
        assert client.ok("GET", "/api/v1/setup")["origin"] == "https://notes.example.org"
        assert client.post("/setup", data={**FORM, "demo": ""}).status_code == 303
        assert client.ok("GET", "/api/v1/jobs") == []
        assert client.ok("GET", "/api/v1/spaces") == []


def test_a_language_without_a_tour_gets_the_english_one() -> None:
    assert demo_zip("fr") == demo_zip("en") != demo_zip("de")
