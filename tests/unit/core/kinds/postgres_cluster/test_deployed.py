"""The operator speaks to each member as that was deployed, and changes ports in a safe order."""

from __future__ import annotations

import dataclasses

import pytest
import yaml

from queenright.core.actions import PatchSettings, UpdateService
from queenright.core.kinds.postgres_cluster.deployed import (
    FAST_LOADER,
    Access,
    access_to,
    loader_for,
    port_in,
    read_template,
    template_of,
)
from queenright.core.kinds.postgres_cluster.desired.haproxy_cfg import Way
from queenright.core.kinds.postgres_cluster.desired.patroni_yml import render_patroni_template
from queenright.core.kinds.postgres_cluster.expansion import expand_here
from queenright.core.observed import Live, Observed
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import Config, Port
from tests.golden.messages import assert_words
from tests.support.builders import (
    LONG_AGO,
    MANIFEST,
    NOW,
    desired,
    document,
    manifest,
    pinned,
    plan_for,
    swarm_of,
    three_nodes,
)
from tests.support.changed import live, with_live_service, with_service, with_swarm

OLD, NEW = Way(5432, 8008), Way(15432, 18008)
PORTS = manifest(ports="{postgresql: 15432, restApi: 18008}")
SECRET = manifest(secrets="{restApi: other_rest_pw}")
OPEN = manifest(restApi="{authentication: none}")


def accesses(observed: Observed, text: str) -> dict[str, Access]:
    swarm = swarm_of(observed)
    wanted = expand_here(document(text), swarm)
    assert wanted is not None
    return {member.name: access_to(wanted, member, swarm) for member in wanted.members}


def with_configs_of(observed: Observed, text: str) -> Observed:
    known = {found.value.name for found in swarm_of(observed).configs}
    wanted = expand_here(document(text), swarm_of(observed))
    assert wanted is not None
    new = [Live(f"id-{c.name}", 60, c) for c in wanted.configs if c.name not in known]
    return with_swarm(observed, configs=(*swarm_of(observed).configs, *new))


def with_secrets(observed: Observed, text: str) -> Observed:
    known = {found.value.name for found in swarm_of(observed).secrets}
    new = [Live(f"id-{s.name}", 50, s) for s in desired(text).secrets if s.name not in known]
    return with_swarm(observed, secrets=(*swarm_of(observed).secrets, *new))


def rolled(observed: Observed, text: str, *names: str) -> Observed:
    """Return these members as the other text wants them, since long ago."""
    wanted = {member.name: member.service for member in desired(text, was_whole=True).members}
    for name in names:
        value = pinned(wanted[name])
        observed = with_live_service(observed, f"main_{name}", value=value, updated_at=LONG_AGO)
    return with_configs_of(observed, text)


def in_transition(*names: str) -> Observed:
    """The proxies know both ways since long ago, and these members have moved."""
    observed = with_configs_of(rolled(three_nodes(), PORTS, *names), PORTS)
    wanted = expand_here(document(PORTS), swarm_of(observed))
    assert wanted is not None
    configs = wanted.proxy.configs
    return with_service(observed, "main_proxy", configs=configs)


def updates(plan: Plan) -> list[str]:
    return [action.service.name for action in plan.actions if isinstance(action, UpdateService)]


@pytest.mark.parametrize("text", [PORTS, SECRET, OPEN])
def test_what_is_deployed_counts_and_not_the_file(text: str) -> None:
    observed = with_secrets(three_nodes(), text)
    for name, access in accesses(observed, text).items():
        assert (access.way, access.rest_secret) == (OLD, "pg_rest_pw"), name
        assert (access.raft_port, access.superuser_secret) == (5010, "pg_superuser_pw")


def test_each_member_is_taken_for_itself() -> None:
    found = accesses(rolled(three_nodes(), OPEN, "member-2"), OPEN)
    assert [found[f"member-{n}"].rest_secret for n in (1, 2, 3)] == ["pg_rest_pw", "", "pg_rest_pw"]
    ways = accesses(rolled(three_nodes(), PORTS, "member-3"), PORTS)
    assert [ways[f"member-{n}"].way for n in (1, 2, 3)] == [OLD, OLD, NEW]


@pytest.mark.parametrize("text", [SECRET, OPEN])
def test_the_lead_is_moved_with_the_leaders_own_password(text: str) -> None:
    observed = with_secrets(rolled(three_nodes(), text, "member-2", "member-3"), text)
    observed = with_configs_of(observed, text)
    (move,) = [a for a in plan_for(observed, text).actions if isinstance(a, PatchSettings)]
    assert (move.address, move.port, move.secret) == ("10.77.0.12", 8008, "pg_rest_pw")


def test_no_member_moves_before_the_proxies_look_there() -> None:
    plan = plan_for(with_configs_of(three_nodes(), PORTS), PORTS)
    assert updates(plan) == ["main_proxy"]
    assert_words(*(hold for hold in plan.holds if hold.key == "update-service/main_member-2"))


@pytest.mark.parametrize("state", ["updating", "paused", "rollback_paused"])
def test_no_member_moves_before_every_proxy_looks_there(state: str) -> None:
    observed = with_live_service(in_transition(), "main_proxy", update_state=state)
    assert updates(plan_for(observed, PORTS)) == []


def test_members_move_once_every_proxy_looks_there() -> None:
    plan = plan_for(in_transition(), PORTS)
    assert updates(plan) == ["main_member-2"]
    plan = plan_for(in_transition("member-2", "member-3"), PORTS)
    assert updates(plan) == []
    assert "route/main" in [action.key for action in plan.actions], "the lead is about to move"


def test_the_proxies_forget_the_former_ports_when_all_are_well() -> None:
    observed = in_transition("member-1", "member-2", "member-3")
    observed = with_configs_of(observed, PORTS)
    proxy = live(in_transition(), "main_proxy").value
    observed = with_service(observed, "main_proxy", configs=proxy.configs)
    both = [c for c in swarm_of(in_transition()).configs if c not in swarm_of(observed).configs]
    observed = with_swarm(observed, configs=(*swarm_of(observed).configs, *both))
    assert updates(plan_for(observed, PORTS)) == ["main_proxy"]
    busy = with_live_service(observed, "main_member-1", updated_at=NOW)
    plan = plan_for(busy, PORTS)
    assert updates(plan) == []
    assert any(hold.key == "ports/main_proxy" for hold in plan.holds)
    assert_words(*plan.holds, *plan.actions)


def test_a_port_that_another_service_has_stops_nothing() -> None:
    other = dataclasses.replace(
        live(three_nodes(), "main_member-2").value,
        name="other",
        labels={},
        ports=(Port(15432, 5432, mode="ingress"),),
    )
    observed = in_transition()
    stranger = dataclasses.replace(live(observed, "main_proxy"), id="id-other", value=other)
    observed = with_swarm(observed, services=(*swarm_of(observed).services, stranger))
    plan = plan_for(observed, PORTS)
    assert updates(plan) == []
    assert_words(*(hold for hold in plan.holds if hold.key == "update-service/main_member-2"))


BAD = [
    b"#" * 200_000,
    b"",
    b"- 1",
    b"restapi: 3",
    b"\xff\xfe\x00",
    b"{",
    b"a: &a [*a]",
    b"restapi: {listen: x:y}",
]


@pytest.mark.parametrize("data", BAD)
def test_a_template_that_is_none_tells_nothing(data: bytes) -> None:
    assert read_template(data) is None
    observed = three_nodes()
    name = live(observed, "main_member-1").value.configs[0].name
    damaged = tuple(
        Live(c.id, c.version, Config(name, data)) if c.value.name == name else c
        for c in swarm_of(observed).configs
    )
    observed = with_swarm(observed, configs=damaged)
    assert template_of(live(observed, "main_member-1").value, swarm_of(observed)) is None
    assert accesses(observed, PORTS)["member-1"].way == NEW


def test_ports_are_read_strictly() -> None:
    texts = ("1.2.3.4:5010", "5010", ":70000", "x:-1", "", "a:٣", "a:999999999999")
    assert [port_in(text) for text in texts] == [5010, 5010, 0, 0, 0, 0, 0]


DEEP_TEXTS = ("[" * 131_000, "- " * 65_000, "{a: " * 30_000, "? " * 65_000)


@pytest.mark.parametrize(
    "text",
    [pytest.param(t, marks=pytest.mark.slow if t[0] == "[" else []) for t in DEEP_TEXTS],
    ids=[t[:3] for t in DEEP_TEXTS],
)
def test_a_deep_text_is_no_template_and_ends_no_process(text: str) -> None:
    assert loader_for(text.encode()) is yaml.SafeLoader
    assert read_template(text.encode()) is None


def test_a_template_is_read_by_the_fast_loader() -> None:
    text = render_patroni_template(document(MANIFEST).resource).encode()
    assert loader_for(text) is FAST_LOADER
    assert read_template(text) is not None
