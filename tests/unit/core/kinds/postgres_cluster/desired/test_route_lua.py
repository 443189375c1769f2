"""The proxies' script: what of the document is in it, and what may not be."""

import re

from queenright.core.kinds.postgres_cluster.desired.route_lua import render_route_lua
from queenright.core.kinds.postgres_cluster.desired.route_lua_ways import SEVERAL_WAYS
from queenright.core.kinds.postgres_cluster.patroni.config_keys import ROUTE_KEY
from tests.golden.compare import assert_golden
from tests.support.documents import document, edited


def test_the_script_names_its_cluster_and_reads_the_operators_key() -> None:
    script = render_route_lua(document().resource)
    assert "for cluster main.\n" in script
    assert f'found:match(\'"{ROUTE_KEY}"' in script
    assert "local REST_PORT = 8008\n" in script


def test_the_script_while_ports_are_changed() -> None:
    text = render_route_lua(document().resource, has_several_ways=True)
    assert_golden("queenright-ports.lua", text)
    assert "REST_PORT" not in text


def test_each_text_that_changes_is_in_the_script_once() -> None:
    script = render_route_lua(document().resource).replace("8008", "@REST_PORT@")
    assert [single for single, _ in SEVERAL_WAYS if script.count(single) != 1] == []


def test_the_members_port_is_the_documents() -> None:
    cluster = document(edited(more="ports: {restApi: 8018}")).resource
    assert "local REST_PORT = 8018\n" in render_route_lua(cluster)


def test_nothing_is_left_to_fill_in() -> None:
    assert not re.search(r"@\w+@", render_route_lua(document().resource))


def test_it_needs_no_credentials() -> None:
    assert not re.search(
        r"(?i)password|secret|authorization", render_route_lua(document().resource)
    )
