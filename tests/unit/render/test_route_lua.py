"""The proxies' script: what of the document is in it, and what may not be."""

import re

from queenright.core.render.route_lua import render_route_lua
from tests.golden.compare import assert_golden
from tests.unit.spec.documents import document, edited


def test_the_script() -> None:
    assert_golden("queenright.lua", render_route_lua(document().cluster))


def test_the_members_port_is_the_documents() -> None:
    cluster = document(edited(more="ports: {restApi: 8018}")).cluster
    assert "local REST_PORT = 8018\n" in render_route_lua(cluster)


def test_nothing_is_left_to_fill_in() -> None:
    assert not re.search(r"@\w+@", render_route_lua(document().cluster))


def test_it_needs_no_credentials() -> None:
    assert not re.search(r"(?i)password|secret|authorization", render_route_lua(document().cluster))
