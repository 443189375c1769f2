"""A new cluster that begins from a backup: what is rendered, what it says, and what stays."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import yaml

from images.member.queenright_member.backup.repository import PARENT, read_repository
from queenright.core.kinds.postgres_cluster.status.conditions import told_here
from queenright.core.observed import Live, Observed
from queenright.core.planning.plan import Hold
from queenright.core.swarm.objects import Secret, Service
from tests.golden.messages import assert_words
from tests.support.builders import (
    BACKUP,
    MANIFEST,
    bare_swarm,
    desired,
    manifest,
    pinned,
    plan_for,
    status,
    summary,
    swarm_of,
    three_nodes,
)
from tests.support.changed import live, with_member, with_service, with_swarm, without

PARENTS = "{bucket: backups, credentials: parent_backup, endpoint: 'https://s3.example'}"
TIME = "{time: '2026-01-31 12:59:59.5+01:00'}"


def restored(target: str = "", repository: str = PARENTS, **spec: object) -> str:
    ends = f", target: {target}" if target else ""
    field = f"{{from: {{backup: {{repository: {repository}, cluster: parent{ends}}}}}}}"
    return manifest(bootstrap=field, **spec)


WITH = restored(TIME)
FULL = restored(
    repository="{bucket: backups, credentials: parent_backup, ca: s3_ca, prefix: a/b, "
    "endpoint: 'https://s3.example', region: eu-1}"
)


def bootstrap_of(text: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(desired(text).template.data)["bootstrap"]
    return found


def mounted(service: Service) -> dict[str, str]:
    return {f.target: f.name for f in service.secrets if f.target.startswith("restore_")}


def test_without_the_field_nothing_is_rendered() -> None:
    assert set(bootstrap_of(MANIFEST)) == {"dcs", "initdb"}
    for member in desired().members:
        assert not [name for name in member.service.environment if name.startswith("RESTORE")]
        assert mounted(member.service) == {}


@pytest.mark.parametrize(
    ("target", "variable", "parameters"),
    [
        (
            TIME,
            "time 2026-01-31 11:59:59.500000+00:00",
            {"recovery_target_time": "2026-01-31 11:59:59.500000+00:00"},
        ),
        ("{lsn: 0/3000060}", "lsn 0/3000060", {"recovery_target_lsn": "0/3000060"}),
        ("{name: before}", "name before", {"recovery_target_name": "before"}),
        ("", None, {}),
    ],
)
def test_patroni_restores_in_place_of_initdb(
    target: str, variable: str | None, parameters: dict[str, str]
) -> None:
    text = restored(target)
    section = bootstrap_of(text)
    assert section.pop("dcs") == bootstrap_of(MANIFEST)["dcs"]
    assert section == {
        "method": "restore",
        "restore": {
            "command": "cluster-restore",
            "no_params": True,
            "recovery_conf": {
                "restore_command": "parent-wal-restore %f %p",
                "recovery_target_timeline": "latest",
                "recovery_target_action": "promote",
                **parameters,
            },
        },
        "post_bootstrap": "cluster-restored",
    }
    assert desired(text).members[0].service.environment.get("RESTORE_TARGET") == variable


@pytest.mark.parametrize("text", [WITH, FULL], ids=["few fields", "all fields"])
def test_the_first_member_alone_knows_the_parents_repository(text: str, tmp_path: Path) -> None:
    first, *others = desired(text).members
    for target in mounted(first.service):
        (tmp_path / target).touch()
    found = read_repository(first.service.environment, tmp_path, PARENT)
    assert found.endpoint == "https://s3.example"
    assert found.url == ("s3://backups/a/b/parent" if text == FULL else "s3://backups/parent")
    assert (found.ca is not None) == (text == FULL)
    assert mounted(first.service)["restore_credentials"] == "parent_backup"
    for other in others:
        assert mounted(other.service) == {}
        assert "RESTORE_URL" not in other.service.environment


def test_the_members_wait_for_the_secret_and_the_hold_names_the_field() -> None:
    plan = plan_for(without(begun(), "parent_backup"), WITH)
    (hold,) = [h for h in plan.holds if h.key == "secret/parent_backup"]
    assert "spec.bootstrap.from.backup.repository names it" in hold.reason
    assert hold.wants_attention
    both = restored(repository="{bucket: other, credentials: main_backup}", backup=BACKUP)
    assert desired(both).given_secrets == ("main_backup",)


@pytest.mark.parametrize("text", [MANIFEST, restored("{lsn: 0/1}"), FULL])
def test_no_edit_of_it_touches_a_cluster_that_was_healthy(text: str) -> None:
    observed = three_nodes(text=WITH)
    first = live(observed, "main_member-1").value
    deployed = desired(WITH).members[0].service
    observed = with_service(
        observed,
        "main_member-1",
        environment={
            **first.environment,
            **{k: v for k, v in deployed.environment.items() if k.startswith("RESTORE_")},
        },
        secrets=deployed.secrets,
    )
    assert summary(plan_for(observed, text)) == ([], [])
    assert not desired(text, was_whole=True).given_secrets


def begun() -> Observed:
    """A cluster that is deployed and was never healthy."""
    observed, wanted = three_nodes(text=WITH), desired(WITH)
    services = tuple(
        dataclasses.replace(found, value=pinned(service))
        for found in swarm_of(observed).services
        for service in wanted.services
        if service.name == found.value.name
    )
    secrets = (*swarm_of(observed).secrets, Live("id-parent", 50, Secret("parent_backup")))
    configs = tuple(Live(f"id-{config.name}", 60, config) for config in wanted.configs)
    return with_swarm(observed, services=services, secrets=secrets, configs=configs)


def test_a_cluster_with_data_says_that_the_field_has_no_effect() -> None:
    plan = plan_for(three_nodes(), WITH)
    assert plan.actions == ()
    (hold,) = [h for h in plan.holds if h.key == "restore/main"]
    assert hold.is_informational
    assert_words(hold)


def test_the_plan_of_a_new_cluster_says_what_it_is_to_begin_with() -> None:
    (hold,) = [h for h in plan_for(bare_swarm(), WITH).holds if h.key == "restore/main"]
    assert hold.is_informational
    assert_words(hold)


def held(state: str, role: str = "uninitialized", **tags: object) -> Hold:
    """The hold of a cluster whose first member says this of itself."""
    observed = begun()
    for name in ("member-2", "member-3"):
        waiting = status(name, "", state="stopped", role="uninitialized", replication_state="")
        observed = with_member(observed, name, waiting)
    said = status("member-1", "member-1", state=state, role=role, holds_lock=False, tags=tags)
    plan = plan_for(with_member(observed, "member-1", said), WITH)
    (hold,) = [h for h in plan.holds if h.key == "restore/main"]
    assert_words(hold)
    return hold


def test_how_far_it_is_is_told() -> None:
    assert told_here("restore/main")
    copying = held("running custom bootstrap script")
    assert not copying.wants_attention
    assert copying.recheck_at is not None
    assert held("starting after custom bootstrap").reason != copying.reason


def test_why_the_last_try_came_to_nothing_wants_attention() -> None:
    why = "target time 2026 is not covered, as no base backup ended before it"
    hold = held("running custom bootstrap script", queenright_restore=why)
    assert hold.wants_attention
    assert hold.reason.endswith(why)
