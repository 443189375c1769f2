"""Backups of one cluster: what the field renders, and what waits for the secrets that it names."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from images.member.queenright_member.backup.repository import read_repository
from queenright.core.actions import PatchSettings
from queenright.core.kinds.postgres_cluster.desired.patroni_yml import dynamic_configuration
from queenright.core.kinds.postgres_cluster.patroni.config_keys import PARAMETERS_KEY
from queenright.core.kinds.postgres_cluster.schema.parameters import REPLICA_PARAMETERS
from queenright.core.kinds.postgres_cluster.status.rows import ClusterStatus, cluster_status
from queenright.core.observed import Archiving, Known, NotAsked, Observed, Unknown
from queenright.core.swarm.objects import Service
from tests.golden.messages import Text, assert_words
from tests.support.builders import (
    BACKUP,
    MANIFEST,
    NOW,
    desired,
    document,
    manifest,
    plan_for,
    summary,
    swarm_of,
    three_nodes,
)
from tests.support.changed import with_settings, with_swarm, without
from tests.support.plans import make_plan

WITH = manifest(backup=BACKUP)
FROM_BACKUP = manifest(backup=BACKUP.replace("}}", "}, createReplicasFrom: backup}"))
FULL = manifest(
    backup="{repository: {bucket: backups, credentials: main_backup, ca: s3_ca, prefix: a/b, "
    "endpoint: 'https://s3.example:9000', region: eu-1}, compression: none}"
)


def member(text: str) -> Service:
    return desired(text).members[0].service


def backup_files(service: Service) -> dict[str, str]:
    return {f.target: f.name for f in service.secrets if f.target.startswith("backup_")}


def test_without_the_field_a_member_knows_nothing_of_backups() -> None:
    assert not [name for name in member(MANIFEST).environment if name.startswith("BACKUP")]
    assert backup_files(member(MANIFEST)) == {}
    parameters = desired().settings["postgresql"]["parameters"]
    assert parameters["archive_mode"] == "off"
    assert "archive_command" not in parameters


@pytest.mark.parametrize("text", [WITH, FULL], ids=["few fields", "all fields"])
def test_the_members_program_understands_what_is_rendered(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secrets = tmp_path_factory.mktemp("secrets")
    service = member(text)
    for target in backup_files(service):
        (secrets / target).touch()
    found = read_repository(service.environment, secrets)
    spec = document(text).resource.spec.backup
    assert spec is not None
    assert found.endpoint == spec.repository.endpoint
    assert found.bucket == "backups"
    assert found.url == ("s3://backups/a/b/main" if text == FULL else "s3://backups/main")
    assert found.region == spec.repository.region
    assert found.compression == spec.compression
    assert (found.ca is not None) == (text == FULL)


def test_the_secrets_are_mounted_for_the_member_alone_and_nobody_makes_them() -> None:
    wanted = desired(FULL)
    assert backup_files(member(FULL)) == {
        "backup_credentials": "main_backup",
        "backup_ca": "s3_ca",
    }
    mounted = [f for f in member(FULL).secrets if f.target.startswith("backup_")]
    assert {(f.uid, f.gid, f.mode) for f in mounted} == {("999", "999", 0o400)}
    assert not {"main_backup", "s3_ca"} & {secret.name for secret in wanted.secrets}
    assert not [f for f in wanted.proxy.secrets if f.name in {"main_backup", "s3_ca"}]


def test_the_command_is_the_same_for_every_repository() -> None:
    both = [dynamic_configuration(document(text).resource) for text in (WITH, FULL)]
    assert both[0] == both[1]
    parameters = both[0]["postgresql"]["parameters"]
    assert parameters["archive_command"] == "wal-archive %p"
    assert (parameters["archive_mode"], parameters["archive_timeout"]) == ("always", "1min")
    own = manifest(backup=BACKUP, postgresql="{parameters: {archive_timeout: 5min}}")
    parameters = desired(own).settings["postgresql"]["parameters"]
    assert parameters["archive_timeout"] == "5min"


def test_a_cluster_as_the_file_has_it_needs_nothing() -> None:
    assert summary(plan_for(three_nodes(text=FULL), FULL))[0] == []


def test_the_field_is_put_in_with_the_settings_and_one_replica_first() -> None:
    observed = with_swarm(three_nodes(), secrets=swarm_of(three_nodes(text=WITH)).secrets)
    plan = plan_for(observed, WITH)
    keys, _ = summary(plan)
    assert [key for key in keys if "!" in key] == ["update-service/main_member-2 !main_member-2"]
    (patch,) = [step for step in plan.actions if isinstance(step, PatchSettings)]
    assert patch.patch["postgresql"]["parameters"] == {
        "archive_mode": "always",
        "archive_command": "wal-archive %p",
        "archive_timeout": "1min",
    }
    assert patch.patch[PARAMETERS_KEY] == "archive_command archive_timeout"


def test_the_field_is_taken_out_with_its_parameters() -> None:
    plan = plan_for(three_nodes(text=WITH), MANIFEST)
    (patch,) = [step for step in plan.actions if isinstance(step, PatchSettings)]
    assert patch.patch["postgresql"]["parameters"] == {
        "archive_mode": "off",
        "archive_command": None,
        "archive_timeout": None,
    }


def test_replicas_are_made_from_the_backup_by_a_setting_that_restarts_nobody() -> None:
    plan = plan_for(three_nodes(text=WITH), FROM_BACKUP)
    (patch,) = plan.actions
    assert isinstance(patch, PatchSettings)
    assert patch.patch["postgresql"] == {
        "create_replica_methods": ["queenright_backup", "basebackup"],
        "queenright_backup": {"command": "replica-restore"},
        "parameters": dict(REPLICA_PARAMETERS),
    }
    assert summary(plan_for(three_nodes(text=FROM_BACKUP), FROM_BACKUP))[0] == []


def test_the_setting_is_taken_out_with_all_that_it_wrote() -> None:
    plan = plan_for(three_nodes(text=FROM_BACKUP), WITH)
    (patch,) = plan.actions
    assert isinstance(patch, PatchSettings)
    assert patch.patch["postgresql"] == {
        "create_replica_methods": None,
        "queenright_backup": None,
        "parameters": {"restore_command": None},
    }


def test_methods_of_a_persons_own_are_not_touched() -> None:
    section = three_nodes(text=WITH)
    found = with_settings(
        section, postgresql={**settings_of(WITH), "create_replica_methods": ["x"]}
    )
    assert summary(plan_for(found, WITH))[0] == []


def settings_of(text: str) -> dict[str, Any]:
    return {**dynamic_configuration(document(text).resource)["postgresql"]}


def test_a_missing_secret_holds_members_and_settings() -> None:
    observed = without(with_settings(three_nodes(text=WITH), ttl=45), "main_backup")
    plan = plan_for(observed, WITH)
    assert summary(plan) == ([], ["backup/main", "secret/main_backup", "settings/main"])
    assert_words(*plan.holds[1:])
    assert plan.holds[1].wants_attention


# Archiving as the leader reports it

AT = datetime(2026, 1, 1, 12, 0, 7, tzinfo=UTC)
WAL = "000000010000000000000007"
WORKING = Archiving(AT, is_on=True, last_wal=WAL, last_at=AT - timedelta(seconds=23))


def waiting(files: int, seconds: int, *, fails: bool = True) -> Archiving:
    return dataclasses.replace(
        WORKING,
        failed_wal=WAL if fails else "",
        failed_at=AT - timedelta(seconds=2) if fails else None,
        waiting=files,
        waiting_bytes=files << 24,
        waiting_since=AT - timedelta(seconds=seconds),
    )


def archiving(reading: Archiving | Unknown) -> Observed:
    found = reading if isinstance(reading, Unknown) else Known(reading)
    return dataclasses.replace(three_nodes(text=WITH), archiving={"main": found})


def seen(observed: Observed) -> ClusterStatus:
    decision = make_plan(document(WITH), observed, NOW)
    return cluster_status("main", decision.desired, decision.plan, observed, NOW)


@pytest.mark.parametrize(
    ("reading", "wants_attention"),
    [
        (WORKING, None),
        (dataclasses.replace(WORKING, last_at=AT - timedelta(days=3)), None),
        (dataclasses.replace(WORKING, last_wal="", last_at=None), None),
        (waiting(1, 299), None),
        (waiting(1, 301), True),
        (waiting(1, 301, fails=False), True),
        (waiting(64, 10), None),
        (waiting(65, 10), True),
        (dataclasses.replace(waiting(2, 400), last_at=None, last_wal=""), True),
        (Archiving(AT, is_on=False), False),
        (Unknown("no answer in 3 s"), False),
        (NotAsked("secret pg_superuser_pw is not mounted here"), False),
    ],
    ids=[
        "working", "idle for days", "nothing archived yet", "a file waits", "a file waits long",
        "no try has failed", "a gigabyte waits", "more than a gigabyte waits",
        "nothing was ever archived", "off", "unknown", "not asked",
    ],
)  # fmt: skip
def test_what_the_leader_reports_is_a_line_and_a_hold_where_it_is_overdue(
    reading: Archiving | Unknown, wants_attention: bool | None
) -> None:
    observed = archiving(reading)
    plan = plan_for(observed, WITH)
    assert plan.actions == ()
    assert [hold.key for hold in plan.holds] == ["backup/main"] * (wants_attention is not None)
    assert [hold.wants_attention for hold in plan.holds] == [wants_attention] * len(plan.holds)
    assert [h.is_informational for h in plan.holds] == [isinstance(reading, NotAsked)] * len(
        plan.holds
    )
    assert_words(*plan.holds)
    lines = seen(observed).lines
    assert {line.about for line in lines} == {"Backup"}
    assert any(line.wants_attention for line in lines) is bool(wants_attention)
    assert_words(*(Text(f"status {line.about}", line.text) for line in lines))
    assert seen(observed).holds == ()


def test_nothing_is_said_while_nobody_leads_or_nothing_is_archived() -> None:
    leaderless = dataclasses.replace(
        three_nodes(leader="nobody", text=WITH), archiving={"main": Unknown("nobody leads")}
    )
    assert "backup/main" not in [hold.key for hold in plan_for(leaderless, WITH).holds]
    assert plan_for(three_nodes()).holds == ()


def test_a_clock_that_was_set_back_makes_nothing_older() -> None:
    ahead = dataclasses.replace(WORKING, last_at=AT + timedelta(hours=1))
    assert ahead.last_age == timedelta(0)
    assert dataclasses.replace(waiting(1, 0), waiting_since=AT + timedelta(1)).waiting_age == (
        timedelta(0)
    )
