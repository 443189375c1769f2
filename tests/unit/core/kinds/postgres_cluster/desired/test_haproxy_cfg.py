"""HAProxy's configuration: every number of the contract, and HAProxy itself takes it."""

import subprocess
from pathlib import Path

import pytest

from queenright.core.kinds.load import load
from queenright.core.kinds.postgres_cluster.desired.haproxy_cfg import (
    ROUTE_LUA_FILE,
    STATE_FILE,
    Way,
    render_haproxy_cfg,
)
from queenright.core.kinds.postgres_cluster.desired.route_lua import render_route_lua
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from tests.golden.compare import assert_golden
from tests.support.documents import document, edited
from tests.support.error_cases import PROXY
from tests.support.programs import require
from tests.unit.core.kinds.test_load_examples import EXAMPLES


def addresses(cluster: PostgresCluster) -> dict[str, str]:
    return {one.name: f"10.77.0.{12 + n}" for n, one in enumerate(cluster.spec.members)}


def render(text: str = "", *, proxies: str = "", more: str = "") -> str:
    text = text or edited((PROXY, PROXY + proxies), more=more)
    cluster = document(text).resource
    return render_haproxy_cfg(cluster, addresses(cluster))


def test_the_default_configuration() -> None:
    assert_golden("haproxy.cfg", render())


def test_every_number_is_the_documents() -> None:
    text = render(
        proxies=(
            "    ports: {primary: 15000, replicas: 15001, statistics: 17000}\n"
            "    maxConnections: 501\n"
            "    maxConnectionsPerServer: 201\n"
            "    timeouts: {connect: 6s, client: 31m, server: 32m, check: 900ms}\n"
            "    check: {interval: 1500ms, fall: 4, rise: 5}\n"
            "    statistics: {refresh: 7s}\n"
        ),
        more="ports: {postgresql: 5442, restApi: 8018}",
    ).replace("10.77.0.0/24", "LAN")
    assert_golden("haproxy-changed.cfg", text)


def test_each_way_to_a_member_is_a_server_while_ports_are_changed() -> None:
    cluster = document(edited()).resource
    text = render_haproxy_cfg(cluster, addresses(cluster), [Way(5432, 8008), Way(15432, 8008)])
    assert_golden("haproxy-ports.cfg", text)


def test_servers_are_the_members_in_their_order_by_address() -> None:
    lines = [line.split()[1:3] for line in render().splitlines() if "    server " in line]
    expected = [[f"member-{n}", f"10.77.0.{11 + n}:5432"] for n in (1, 2, 3)]
    assert lines == expected * 2


def test_a_member_without_an_address_is_an_error() -> None:
    with pytest.raises(KeyError, match="member-1"):
        render_haproxy_cfg(document().resource, {})


@pytest.mark.parametrize("ways", [(), (Way(5432, 8008), Way(15432, 8008))], ids=["at rest", "two"])
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_haproxy_takes_it_without_a_warning(
    file: Path, ways: tuple[Way, ...], tmp_path: Path
) -> None:
    haproxy = require(haproxy="haproxy")["haproxy"]
    state = tmp_path / "haproxy.state"
    state.write_text("1\n")
    documents = load({file.name: file.read_text()}).documents
    for one in (found for found in documents if found.kind == "PostgresCluster"):
        config = tmp_path / "haproxy.cfg"
        text = render_haproxy_cfg(one.resource, addresses(one.resource), ways)
        script = tmp_path / "queenright.lua"
        script.write_text(render_route_lua(one.resource, has_several_ways=bool(ways)))
        text = text.replace(STATE_FILE, str(state)).replace(ROUTE_LUA_FILE, str(script))
        config.write_text(text)
        check = [haproxy, "-c", "-dW", "-f", str(config)]
        done = subprocess.run(check, capture_output=True, text=True, check=False, timeout=20)
        assert done.returncode == 0, done.stderr
