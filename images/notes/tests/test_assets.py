"""Tests how the workspace's files are served. They have to be built: `make notes-web`."""

import re
from collections.abc import Callable

import httpx
import pytest

from notes.http.compression import accepted
from notes.web.assets import built, web_manifest
from notes.words.spoken import Spoken
from tests.replica import Client


@pytest.mark.parametrize(
    ("header", "coding"),
    [("gzip, br", "br"), ("gzip", "gzip"), ("br;q=0, gzip;q=0.5", "gzip"), ("", None),
     ("*", "br"), ("identity", None), ("br;q=x", None)],
)  # fmt: skip
def test_the_smallest_accepted_form_is_sent(header: str, coding: str | None) -> None:
    assert accepted(header, {"br", "gzip"}) == coding


def test_the_shell_runs_scripts_of_this_site_only(anybody: Client) -> None:
    answer = anybody.get("/w/p/any")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'; style-src 'self'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert not re.search("unsafe|nonce|\\*", policy)
    assert answer.headers["cache-control"] == "no-cache"
    assert not re.search(r"<script>|<style|\son\w+=|\sstyle=", answer.text)
    tag = {"if-none-match": answer.headers["etag"]}
    assert anybody.get("/w", headers=tag).status_code == 304


def test_assets_never_change_and_are_stored_compressed(anybody: Client) -> None:
    names = re.findall(r'"(/assets/[^"]+)"', anybody.get("/w").text)
    assert len(names) >= 4
    for name in names:
        answer = anybody.get(name)
        assert answer.status_code == 200, name
        assert "immutable" in answer.headers["cache-control"]
        if not name.endswith(".png"):
            assert answer.headers["content-encoding"] in {"br", "gzip"}
    assert anybody.get("/assets/nothing-here.js").status_code == 404
    assert anybody.get("/assets/..%2Fmanifest.json").status_code == 404
    assert anybody.get("/assets/../sw.js").headers["cache-control"] == "no-cache"


def test_the_service_worker_names_every_stored_asset(anybody: Client) -> None:
    worker = anybody.get("/sw.js")
    assert worker.headers["content-type"].startswith("text/javascript")
    assert "service-worker-allowed" not in worker.headers
    have = built()
    assert have is not None
    assert have.build in worker.text
    for path in re.findall(r"/assets/[\w.-]+", worker.text):
        if path != "/assets/":
            assert path[1:] in have.files


def test_the_workspace_can_be_installed(anybody: Client) -> None:
    answer = anybody.get("/manifest.webmanifest")
    assert answer.headers["content-type"] == "application/manifest+json"
    manifest = answer.json()
    assert manifest["start_url"] == "/w"
    assert {icon["purpose"] for icon in manifest["icons"]} == {"any", "maskable"}
    for icon in manifest["icons"]:
        assert anybody.get(icon["src"]).status_code == 200
    for shortcut in manifest["shortcuts"]:
        assert anybody.get(shortcut["url"]).status_code == 200
    assert manifest["share_target"]["action"] == "/w"
    assert manifest["share_target"]["method"] == "GET"
    assert web_manifest("A long name of a site", Spoken("en"))["short_name"] == "A long name"


def test_the_site_is_described_without_a_session(anybody: Client, admin: Client) -> None:
    site = anybody.ok("GET", "/api/v1/site")
    assert site["is_set_up"] is True
    assert site["space_id"] is None
    assert site["name"] == admin.ok("GET", "/api/v1/site")["name"]


def test_a_sign_out_may_keep_what_the_browser_has_stored(admin: Client) -> None:
    answer = admin.delete("/api/v1/session?keep_stored=true")
    assert answer.status_code == 204
    assert "clear-site-data" not in answer.headers
    assert admin.get("/api/v1/me").status_code == 401


def test_a_sign_out_may_keep_what_the_browser_has_stored_of_others(admin: Client) -> None:
    answer = admin.delete("/api/v1/session?keep_others=true")
    assert answer.status_code == 204
    assert answer.headers["clear-site-data"] == '"cache"'
    assert admin.get("/api/v1/me").status_code == 401


def test_the_plain_sign_out_asks_about_unsent_edits(anybody: Client) -> None:
    def leave(query: str = "", count: str = "2") -> httpx.Response:
        mine = anybody.log_in().jar["__Host-notes-user"]
        anybody.jar["notes-unsent"] = f"{mine}:{count}"
        answer = anybody.post(f"/logout{query}")
        is_left = anybody.get("/api/v1/me").status_code == 401
        assert is_left == (answer.status_code == 303)
        return answer

    asked = leave()
    assert "2 pages have changes" in asked.text
    assert "clear-site-data" not in asked.headers
    assert "clear-site-data" not in leave("?unsent=keep").headers
    assert "notes-unsent" in anybody.jar
    for answer in (leave("?unsent=delete"), leave(count="0"), leave(count="<b>")):
        assert "storage" in answer.headers["clear-site-data"]
        assert not {"notes-unsent", "notes-left"} & set(anybody.jar)
    assert leave("?unsent=other").status_code == 422


def test_the_plain_sign_out_keeps_what_others_have_not_sent(
    anybody: Client, person: Callable[[str], Client]
) -> None:
    """The browser cannot delete one person's alone by a header: its workspace does so later."""
    other = person("Bob").jar["__Host-notes-user"]
    mine = anybody.log_in().jar["__Host-notes-user"]

    def leave(path: str, unsent: str, method: str = "POST") -> httpx.Response:
        anybody.log_in().jar.update({"notes-unsent": unsent})
        anybody.jar.pop("notes-left", None)
        return anybody.request(method, path)

    assert "One page has changes" in leave("/logout", f"{other}:3.{mine}:1").text
    for answer in (
        leave("/logout?unsent=delete", f"{other}:3.{mine}:1"),
        leave("/logout", f"{other}:3"),
        leave("/api/v1/session", f"{mine}:1.{other}:3", "DELETE"),
    ):
        assert answer.headers["clear-site-data"] == '"cache"'
        assert anybody.jar["notes-unsent"] == f"{other}:3"
        assert anybody.jar["notes-left"] == mine
    # the next one, who also deletes, and one whose session has ended already
    again = leave("/logout?unsent=delete", f"{other}:3")
    anybody.jar["notes-left"] = other
    assert again.headers["clear-site-data"] == '"cache"'
    anybody.log_in()
    anybody.post("/logout?unsent=delete")
    assert anybody.jar["notes-left"] == f"{other}.{mine}"
    del anybody.jar["notes-left"]
    assert anybody.post("/logout").headers["clear-site-data"] == '"cache"'
    assert "notes-left" not in anybody.jar
    # an older workspace told only how many there are
    assert "4 pages have changes" in leave("/logout", "4").text
    assert leave("/logout?unsent=delete", "4").headers["clear-site-data"] == '"cache"'
    assert (anybody.jar["notes-unsent"], anybody.jar["notes-left"]) == ("4", mine)
