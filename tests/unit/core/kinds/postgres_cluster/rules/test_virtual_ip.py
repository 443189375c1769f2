"""The virtual address: deployed, replaced whole where nodes could not hear each other, removed."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Any

import pytest

from queenright.core.actions import RemoveService, UpdateService
from queenright.core.kinds.postgres_cluster.desired.virtual_ip import (
    CAPABILITIES,
    NO_INTERFACE_STATUS,
    DesiredVip,
)
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Node, Observed, SwarmState
from queenright.core.swarm.objects import DELETION_POLICY_LABEL, ROLE_LABEL, VRRP_LABEL
from tests.golden.messages import assert_words
from tests.support.builders import (
    LONG_AGO,
    NOW,
    VIP,
    VIP_IMAGE,
    bare_swarm,
    desired,
    found_images,
    manifest,
    plan_for,
    summary,
    swarm_of,
    task,
    three_nodes,
)
from tests.support.changed import live, with_service, with_swarm, without
from tests.support.plans import plan_cluster_deletion

WITH_VIP = manifest(vip=VIP)


def edited_vip(old: str, new: str) -> str:
    assert old in VIP
    return manifest(vip=VIP.replace(old, new))


def wanted(text: str = WITH_VIP) -> DesiredVip:
    vip = desired(text).vip
    assert vip is not None
    return vip


def test_a_converged_cluster_with_an_address_has_nothing_to_do() -> None:
    assert summary(plan_for(three_nodes(text=WITH_VIP), WITH_VIP)) == ([], [])


def test_a_bare_swarm_gets_the_secret_then_the_config_then_the_service() -> None:
    plan = plan_for(bare_swarm(), WITH_VIP)
    assert "create-secret/main_vrrp_pw" in summary(plan)[0]
    assert "create-secret/main_vrrp_pw" not in summary(plan_for(bare_swarm()))[0]
    found = dataclasses.replace(three_nodes(text=WITH_VIP), images=found_images())
    without_service = without(found, "main_vip")
    assert summary(plan_for(without_service, WITH_VIP))[0] == ["create-service/main_vip"]
    config = wanted().config.name
    without_config = without(without_service, config)
    assert summary(plan_for(without_config, WITH_VIP))[0] == [f"create-config/{config}"]


def test_without_a_password_there_is_no_secret() -> None:
    text = edited_vip("routerId: 51", "routerId: 51, authentication: none")
    assert wanted(text).secret is None
    assert wanted(text).service.secrets == ()
    assert "create-secret/main_vrrp_pw" not in summary(plan_for(bare_swarm(), text))[0]


def test_keepalived_has_the_nodes_network_and_no_capability_but_its_own() -> None:
    service = wanted().service
    assert [item.network for item in service.networks] == ["host"]
    assert service.mode == "global"
    assert service.capabilities_dropped == ("ALL",)
    assert service.capabilities_added == tuple(sorted(CAPABILITIES))
    assert service.read_only
    assert not service.ports
    assert {mount.kind for mount in service.mounts} == {"tmpfs"}
    assert service.update.order == "stop-first"
    assert service.update.parallelism == 1
    assert service.constraints == ("node.labels.pg-ha-node==true",)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (VIP_IMAGE, f"{VIP_IMAGE}@sha256:{'f' * 64}"),
        ("10.77.0.100", "10.77.0.101"),
        ("routerId: 51", "routerId: 51, check: {rise: 3}"),
        ("routerId: 51", "routerId: 51, preempt: true"),
        ("routerId: 51", "routerId: 51, memory: {limit: 48M}"),
    ],
)
def test_what_keeps_the_nodes_hearing_each_other_is_rolled(old: str, new: str) -> None:
    text = edited_vip(old, new)
    observed = three_nodes(text=WITH_VIP)
    if wanted(text).config.name != wanted().config.name:
        observed = with_config(observed, text)
    found = [a for a in plan_for(observed, text).actions if isinstance(a, UpdateService)]
    assert [action.service.name for action in found] == ["main_vip"]


def with_config(observed: Observed, text: str) -> Observed:
    (old,) = [c for c in swarm_of(observed).configs if "_keepalived-" in c.value.name]
    fresh = dataclasses.replace(old, id="id-fresh", value=wanted(text).config)
    return with_swarm(observed, configs=(*swarm_of(observed).configs, fresh))


def replacing(text: str, **fields: Any) -> tuple[list[str], list[str]]:
    observed = with_config(three_nodes(text=WITH_VIP), text)
    if fields:
        observed = dataclasses.replace(observed, **fields)
    plan = plan_for(observed, text)
    assert first_refusal(plan, observed) is None
    return summary(plan)


@pytest.mark.parametrize(
    "new", ["routerId: 52", "routerId: 51, authentication: none", "routerId: 51, advertInterval: 2"]
)
def test_what_would_keep_them_apart_replaces_the_service_whole(new: str) -> None:
    actions, _ = replacing(edited_vip("routerId: 51", new))
    assert "remove-service/main_vip" in actions
    assert not any(key.startswith("update-service") for key in actions)


def test_it_is_not_stopped_before_the_new_image_is_there() -> None:
    other = "10.77.0.1:5000/queenright-vip:9"
    text = edited_vip("routerId: 51", "routerId: 52").replace(VIP_IMAGE, other)
    actions, holds = replacing(text)
    assert "remove-service/main_vip" not in actions
    assert "image/main_vip" in holds


def test_a_label_taken_off_by_hand_is_put_back_and_no_reason_to_stop_it() -> None:
    observed = three_nodes(text=WITH_VIP)
    labels = {k: v for k, v in live(observed, "main_vip").value.labels.items() if k != VRRP_LABEL}
    actions, _ = summary(plan_for(with_service(observed, "main_vip", labels=labels), WITH_VIP))
    assert actions == ["adjust-service/main_vip"]


def test_without_the_address_in_the_file_its_service_goes_and_its_secret_stays() -> None:
    observed = three_nodes(text=WITH_VIP)
    plan = plan_for(observed)
    removed = [action for action in plan.actions if isinstance(action, RemoveService)]
    assert [action.name for action in removed] == ["main_vip"]
    assert_words(removed[0])
    assert first_refusal(plan, observed) is None
    assert not any("secret" in action.key for action in plan.actions)


def test_its_config_goes_once_no_service_has_it() -> None:
    observed = without(three_nodes(text=WITH_VIP), "main_vip")
    actions, _ = summary(plan_for(observed))
    assert f"remove-config/{wanted().config.name}" in actions


def test_it_starts_anew_only_when_the_removed_one_has_ended_everywhere() -> None:
    """Swarm forgets a removed service at once, and its tasks when they have ended."""
    whole = dataclasses.replace(three_nodes(text=WITH_VIP), images=found_images())
    orphan = dataclasses.replace(
        task("main_vip", "node3"), service_id="id-removed", desired_state="remove"
    )
    observed = without(whole, "main_vip")
    ending = with_swarm(observed, tasks=(*swarm_of(observed).tasks, orphan))
    plan = plan_for(ending, WITH_VIP)
    assert summary(plan) == ([], ["create-service/main_vip"])
    assert_words(plan.holds[0])
    down = with_swarm(ending, nodes=with_down(swarm_of(ending), "node3"))
    assert "create-service/main_vip" in summary(plan_for(down, WITH_VIP))[0]
    assert summary(plan_for(observed, WITH_VIP))[0] == ["create-service/main_vip"]


def with_down(swarm: SwarmState, name: str) -> tuple[Node, ...]:
    return tuple(
        dataclasses.replace(node, state="down") if node.name == name else node
        for node in swarm.nodes
    )


@pytest.mark.parametrize("field", ["role", "volume", "cluster"])
def test_the_guard_lets_nothing_but_keepalived_go(field: str) -> None:
    """The guard keeps a service with another role, a volume, or another owner, whatever a rule
    plans."""
    observed = three_nodes(text=WITH_VIP)
    plan = plan_for(observed)
    service = live(observed, "main_vip").value
    if field == "role":
        observed = with_service(observed, "main_vip", labels={**service.labels, ROLE_LABEL: "x"})
    elif field == "cluster":
        observed = with_service(observed, "main_vip", labels={ROLE_LABEL: "vip"})
    else:
        member = live(observed, "main_member-1").value
        observed = with_service(observed, "main_vip", mounts=member.mounts)
    refusal = first_refusal(plan, observed)
    assert refusal is not None
    assert refusal.guard == "removal-is-asked-for"


def test_a_nodes_own_address_is_told_and_nothing_is_deployed() -> None:
    text = edited_vip("10.77.0.100", "10.77.0.11")
    plan = plan_for(bare_swarm(), text)
    assert summary(plan) == ([], ["preflight/spec.vip.address"])
    assert_words(plan.holds[0])
    deployed = without(
        dataclasses.replace(three_nodes(text=text), images=found_images()), "main_vip"
    )
    assert summary(plan_for(deployed, text)) == ([], ["preflight/spec.vip.address"])


def test_while_a_peers_address_is_unknown_what_is_deployed_stays() -> None:
    """A proxy node that left the swarm: without its address nobody knows all peers."""
    text = MORE_PROXIES
    observed = three_nodes(text=WITH_VIP)
    plan = plan_for(observed, text)
    (hold,) = [hold for hold in plan.holds if hold.key == "vip/main"]
    assert_words(hold)
    assert not any("main_vip" in action.key for action in plan.actions)


MORE_PROXIES = WITH_VIP.replace(
    "queenright-proxy:3.0-alpine\n",
    "queenright-proxy:3.0-alpine\n    nodes: [node2, node3, node4, node9]\n",
)


def test_a_node_without_the_interface_is_named() -> None:
    observed = three_nodes(text=WITH_VIP)
    failed = task(
        "main_vip", "node3", state="failed", desired_state="shutdown",
        exit_code=NO_INTERFACE_STATUS, at=NOW, error=f"task: non-zero exit ({NO_INTERFACE_STATUS})",
    )  # fmt: skip
    tasks = tuple(t for t in swarm_of(observed).tasks if t.id != "task-main_vip-node3")
    plan = plan_for(with_swarm(observed, tasks=(*tasks, failed)), WITH_VIP)
    (hold,) = [hold for hold in plan.holds if hold.key == "vip/main/node3"]
    assert_words(hold)
    assert hold.wants_attention
    for state in ("ready", "preparing", "starting"):
        again = dataclasses.replace(
            failed, id="task-next", state=state, desired_state="ready", exit_code=0, error=""
        )
        tried = with_swarm(observed, tasks=(*tasks, failed, again))
        assert hold in plan_for(tried, WITH_VIP).holds, state
    services = tuple(
        dataclasses.replace(s, updated_at=NOW + timedelta(seconds=1))
        if s.value.name == "main_vip"
        else s
        for s in swarm_of(observed).services
    )
    updated = with_swarm(observed, tasks=(*tasks, failed), services=services)
    assert "vip/main/node3" not in summary(plan_for(updated, WITH_VIP))[1]
    well = dataclasses.replace(failed, id="task-old", at=LONG_AGO)
    plan = plan_for(with_swarm(observed, tasks=(*swarm_of(observed).tasks, well)), WITH_VIP)
    assert plan.is_converged


def test_somebody_elses_service_of_the_name_is_not_taken_over() -> None:
    stranger = dataclasses.replace(
        live(three_nodes(text=WITH_VIP), "main_vip"), id="id-stranger",
        value=dataclasses.replace(wanted().service, labels={}),
    )  # fmt: skip
    plan = plan_for(with_swarm(bare_swarm(), services=(stranger,)), WITH_VIP)
    assert "preflight/service/main_vip" in summary(plan)[1]
    assert not plan.actions


def test_a_cluster_that_is_removed_takes_its_address_with_it() -> None:
    text = manifest(vip=VIP, deletionPolicy="remove")
    observed = three_nodes(text=text)
    state_config = desired(text).state_config
    assert state_config.labels[DELETION_POLICY_LABEL] == "remove"
    labels = {**state_config.labels, "queenright.retiring-since": NOW.isoformat()}
    configs = tuple(
        dataclasses.replace(c, value=dataclasses.replace(c.value, labels=labels))
        if c.value.name == state_config.name
        else c
        for c in swarm_of(observed).configs
    )
    gone = dataclasses.replace(with_swarm(observed, configs=configs), absent_s={"main": 60})
    plan = plan_cluster_deletion("main", gone, NOW)
    assert "remove-service/main_vip" in summary(plan)[0]


def test_the_proxies_log_is_spared_the_checks_only_where_there_are_any() -> None:
    assert b"silent if METH_HEAD" in desired(WITH_VIP).haproxy.data
    assert b"METH_HEAD" not in desired().haproxy.data
