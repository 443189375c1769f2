"""Answers to targets: which is made when, and what is not there."""

from __future__ import annotations

from queenright.engine.pages import FRESH_S, KEPT_S, SightPages
from tests.support.sights import StillTime, cluster_pass, sight_of


def pages() -> tuple[SightPages, StillTime]:
    clock = StillTime()
    return SightPages(sight_of(cluster_pass(), clock=clock), clock), clock


async def test_each_address_has_its_answer() -> None:
    shown, _ = pages()
    for target, media_type in (
        ("/", "text/html"),
        ("/holds", "text/html"),
        ("/trail?cluster=main", "text/html"),
        ("/clusters/main", "text/html"),
        ("/style.css", "text/css"),
        ("/script.js", "text/javascript"),
    ):
        page = await shown.page(target)
        assert (page.status, page.media_type.partition(";")[0]) == (200, media_type)


async def test_what_is_not_there_is_404_and_names_nothing_of_the_request() -> None:
    shown, _ = pages()
    for target in ("/clusters/secret-name", "/../../etc/passwd", "/%00"):
        page = await shown.page(target)
        assert page.status == 404
        assert b"secret-name" not in page.body
        assert b"passwd" not in page.body


async def test_a_page_is_made_at_most_once_a_second() -> None:
    clock = StillTime()
    sight = sight_of(cluster_pass(), clock=clock)
    shown = SightPages(sight, clock)
    first = await shown.page("/")
    sight.tell()
    clock.at_s += FRESH_S / 2
    assert await shown.page("/") is first
    clock.at_s += FRESH_S
    second = await shown.page("/")
    assert second is not first
    clock.at_s += KEPT_S / 2
    assert await shown.page("/") is second
    clock.at_s += KEPT_S
    assert await shown.page("/") is not second
