"""The lists of documents and holds: order, counts, pages, and their size."""

from __future__ import annotations

import re

import pytest

from queenright.core.page.frame import MOST_BYTES, asset
from queenright.core.page.lists import EACH_PAGE, documents_page, holds_page
from queenright.core.page.routes import Listing
from queenright.core.page.values import Basis, Entry
from queenright.core.planning.plan import Hold
from tests.support.builders import NOW
from tests.support.sights import HOSTILE

BASIS = Basis(at=NOW)
ASSETS = len(asset("style.css").encode()) + len(asset("script.js").encode())


def entry(name: str, condition: str = "converged", *holds: Hold) -> Entry:
    return Entry("cluster", "clusters", name, condition, condition, holds)


def names(page: bytes) -> list[str]:
    return re.findall(r'<th scope="row"><a href="/clusters/([^"]*)"', page.decode())


def test_the_worst_come_first_with_what_to_know() -> None:
    urgent = Hold("quorum/b", "b: two nodes are down; start node3", wants_attention=True)
    entries = [
        entry("a"),
        entry("b", "needs you", Hold("rollout/b", "it waits"), urgent),
        entry("c", "held"),
    ]
    page = documents_page(entries, Listing("/"), BASIS)
    assert names(page) == ["b", "c", "a"]
    assert "start node3" in page.decode()
    assert "it waits" not in page.decode()


def test_the_counts_are_links_to_the_documents_of_a_condition() -> None:
    entries = [entry(f"c{k}") for k in range(5)] + [entry("x", "held")]
    page = documents_page(entries, Listing("/"), BASIS).decode()
    assert re.findall(r'<a href="([^"]*)" class="count', page) == [
        "/?condition=held",
        "/?condition=converged",
    ]
    assert names(documents_page(entries, Listing("/", condition="held"), BASIS)) == ["x"]


def test_a_search_keeps_the_names_that_have_the_text() -> None:
    entries = [entry("shop"), entry("workshop"), entry("main")]
    assert names(documents_page(entries, Listing("/", "shop"), BASIS)) == ["shop", "workshop"]


def test_each_of_a_thousand_is_on_one_page_that_is_small_enough() -> None:
    entries = [entry(f"cluster-{k:04}") for k in range(1000)]
    seen: list[str] = []
    for number in range(1, 1 + 1000 // EACH_PAGE):
        page = documents_page(entries, Listing("/", page=number), BASIS)
        assert len(page) + ASSETS < MOST_BYTES
        seen += names(page)
    assert seen == [one.name for one in entries]


@pytest.mark.parametrize("word", [HOSTILE * 200, "'" * 5000], ids=["markup", "quotes"])
def test_hostile_texts_stay_texts_and_within_the_limit(word: str) -> None:
    holds = tuple(Hold(f"{word}/{k}", word, wants_attention=True) for k in range(3))
    odd = [
        Entry(word, word, f"{word}{k}", "needs you", word, holds, (word,), word) for k in range(100)
    ]
    basis = Basis(at=NOW, waits=word, problems=(word,) * 50, blind=word, age_s=500)
    for page in (
        documents_page(odd, Listing("/", HOSTILE[:9]), basis),
        documents_page(odd, Listing("/"), basis),
        holds_page(odd, Listing("/holds"), basis),
    ):
        assert len(page) + ASSETS < MOST_BYTES
        assert b"<script>" not in page
        assert b"<img" not in page


def test_holds_that_need_a_person_come_first_with_what_to_do() -> None:
    waits = Hold("rollout/a", "a: it waits")
    urgent = Hold("quorum/b", "b: two nodes are down; start node3", wants_attention=True)
    found = [entry("a", "held", waits), entry("b", "needs you", urgent)]
    page = holds_page(found, Listing("/holds"), BASIS)
    assert names(page) == ["b", "a"]
    assert "start node3" in page.decode()


def test_an_old_pass_is_marked() -> None:
    page = documents_page([entry("a")], Listing("/"), Basis(at=NOW, age_s=61)).decode()
    assert 'class="banner"' in page
    assert 'class="banner"' not in documents_page([entry("a")], Listing("/"), BASIS).decode()
