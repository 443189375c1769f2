"""Tests search: words, phrases, other scripts, and its index."""

import random

import pytest

from tests.replica import Client
from tests.workspace import page, space


@pytest.mark.parametrize(
    ("text", "query", "hit"),
    [
        ("The quick brown fox", "quick fox", "quick"),
        ("The quick brown fox", "qui", "quick"),
        ("Über die Brücke", "uber bruck", "Über"),
        ("我们在北京开会", "北京", "北京"),
        ("東京タワーに行く", "タワー", "タワ"),
        ("set max_connection_limit here", "connection", "connection"),
        ("call fetchUserProfile now", "profile", "Profile"),
        ("open src/app/main.py first", "main.py", "main"),
        ("open src/app/main.py first", '"main.py first"', "main"),
        ("the read-only file system", '"read-only file"', "only"),
        ("東京タワー opens", '"タワー opens"', "タワ"),
        ("open src/app/main.py first", "main", "main"),
        ("a phrase in order", '"phrase in"', "phrase"),
    ],
)
def test_search_finds_and_highlights(admin: Client, text: str, query: str, hit: str) -> None:
    home = space(admin)
    made = page(admin, home, "Searched", markdown=text + "\n")
    found = admin.get("/api/v1/search", params={"q": query, "space_id": home}).json()
    assert [one["id"] for one in found] == [made]
    assert any(hit in f["text"] for f in found[0]["excerpt"] if f["hit"]), found[0]["excerpt"]
    assert "".join(f["text"] for f in found[0]["excerpt"]) in text


def test_search_knows_without_and_titles_weigh_more(admin: Client) -> None:
    home = space(admin)
    by_text = page(admin, home, "Other", markdown="zebra and lion\n")
    by_title = page(admin, home, "Zebra", markdown="nothing\n")
    ask = {"q": "zebra ", "space_id": home}
    assert [h["id"] for h in admin.get("/api/v1/search", params=ask).json()] == [by_title, by_text]
    without = {"q": "zebra -lion", "space_id": home}
    assert [h["id"] for h in admin.get("/api/v1/search", params=without).json()] == [by_title]
    for rubbish in ("' | ! & :*", "\\", "()", '"', "-", "\x00", "'a':b & <->"):
        answer = admin.get("/api/v1/search", params={"q": rubbish, "space_id": home})
        assert answer.status_code == 200


def test_a_page_of_more_words_than_the_index_holds_is_saved(admin: Client) -> None:
    home = space(admin)
    letters = "абвгдежзийклмнопрстуфхцчшщъыьэюя"
    rng = random.Random(5)
    text = " ".join("".join(rng.choices(letters, k=79)) for _ in range(9_000))
    made = page(admin, home, "Very long words", markdown=f"needleword {text}")
    found = admin.ok("GET", f"/api/v1/search?q=needleword&space_id={home}")
    assert [hit["id"] for hit in found] == [made]
