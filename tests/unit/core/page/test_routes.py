"""Targets of requests: each gives a route or none, and a route's target gives the route."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queenright.core.page.routes import Asset, Listing, OneDocument, Route, Trail, route_of

NAMES = st.text(min_size=1, max_size=20).filter(lambda text: max(text) < "\ud800")


@pytest.mark.parametrize(
    ("target", "route"),
    [
        ("/", Listing("/")),
        ("/?q=ma&condition=needs+you&page=2", Listing("/", "ma", "needs you", 2)),
        ("/?page=x&condition=odd&other=1", Listing("/")),
        ("/?page=0", Listing("/")),
        ("/?page=999999999999", Listing("/")),
        ("/holds", Listing("/holds")),
        ("/trail?cluster=main", Trail("main")),
        ("/trail?cluster=main&q=+failed", Trail("main", "failed")),
        ("/trail?q=" + "x" * 200, Trail("", "x" * 100)),
        ("/clusters/main", OneDocument("clusters", "main")),
        ("/clusters/a%2Fb", OneDocument("clusters", "a/b")),
        ("/style.css", Asset("style.css")),
        ("/clusters/", None),
        ("/clusters/a/b", None),
        ("/etc/passwd/x", None),
        ("*", None),
        ("//[", None),
        ("/?" + "a=1&" * 50, None),
    ],
)
def test_a_target_is_read(target: str, route: Route | None) -> None:
    assert route_of(target) == route


@given(NAMES)
def test_a_documents_target_leads_back_to_it(name: str) -> None:
    route = OneDocument("clusters", name)
    assert route_of(route.target) == route


@given(st.text(max_size=60))
def test_any_text_gives_a_route_or_none(text: str) -> None:
    route_of("/" + text)
