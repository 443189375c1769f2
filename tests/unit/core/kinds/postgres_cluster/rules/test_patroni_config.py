"""Settings that Patroni keeps: the file's are converged, what others set is theirs."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from queenright.core.kinds.postgres_cluster.annotations import PendingSwitchover
from queenright.core.observed import Known, Observed, RaftStatus, Unknown
from tests.golden.messages import assert_words
from tests.support.builders import MANIFEST, NOW, desired, manifest, plan_for, status, three_nodes
from tests.support.changed import with_member, with_notes, with_raft, with_settings
from tests.support.settings_patches import EXTRA, hold_of, patch_of, with_parameters


def test_the_settings_of_the_bootstrap_are_no_difference() -> None:
    for text in (MANIFEST, EXTRA):
        assert plan_for(three_nodes(text=text), text).is_converged


def test_a_difference_becomes_one_small_patch_that_rests_on_what_was_seen() -> None:
    observed = with_parameters(
        with_settings(three_nodes(), ttl=45), work_mem="8MB", archive_mode=None
    )
    patch = patch_of(observed)
    assert patch is not None
    assert patch.patch == {
        "ttl": 30,
        "postgresql": {"parameters": {"archive_mode": "off", "work_mem": "4MB"}},
    }
    assert patch.expected == {
        "ttl": 45,
        "postgresql": {"parameters": {"archive_mode": None, "work_mem": "8MB"}},
    }
    assert (patch.key, patch.address, patch.port) == ("settings/main", "10.77.0.12", 8008)
    assert patch.secret == desired().rest_secret != ""
    assert patch.disrupts == ""
    assert {(c.path, c.old, c.new) for c in patch.changes} == {
        ("ttl", "45", "30"),
        ("postgresql.parameters.archive_mode", "(absent)", "off"),
        ("postgresql.parameters.work_mem", "8MB", "4MB"),
    }


def test_it_goes_to_whoever_leads() -> None:
    patch = patch_of(with_settings(three_nodes("member-3"), ttl=45))
    assert patch is not None
    assert patch.address == "10.77.0.14"


@pytest.mark.parametrize(
    "foreign",
    [
        {"synchronous_mode": True},
        {"failsafe_mode": True, "standby_cluster": {"host": "10.0.0.1"}},
        {"queenright_route": "follow member-2 60 1.000", "queenright_pause": "promotion"},
        {"pause": True},
        {"slots": {"reporting": {"type": "physical"}}, "member_slots_ttl": "10min"},
    ],
)
def test_what_the_file_does_not_own_is_left_alone(foreign: dict[str, Any]) -> None:
    assert patch_of(with_settings(three_nodes(), **foreign)) is None
    patch = patch_of(with_settings(three_nodes(), ttl=45, **foreign))
    assert patch is not None
    assert patch.patch == {"ttl": 30}


def test_a_parameter_that_was_never_the_files_stays() -> None:
    assert patch_of(with_parameters(three_nodes(), log_lock_waits="on")) is None


def test_a_free_text_that_somebody_wrote_is_not_shown() -> None:
    patch = patch_of(with_parameters(three_nodes(), log_line_prefix="hunter2"))
    assert patch is not None
    assert "hunter2" not in repr((patch.reason, patch.changes))


def test_a_parameter_hidden_behind_another_case_is_the_files_all_the_same() -> None:
    patch = patch_of(with_parameters(three_nodes(), Work_Mem="64MB"))
    assert patch is not None
    assert patch.patch == {"postgresql": {"parameters": {"Work_Mem": None}}}


def test_access_rules_go_whole_and_in_the_contracts_order() -> None:
    rule = "host reporting report 192.168.20.0/24 scram-sha-256"
    text = manifest(postgresql=f'{{accessRules: ["{rule}"]}}')
    patch = patch_of(three_nodes(), text)
    assert patch is not None
    assert patch.patch == {
        "postgresql": {
            "pg_hba": [
                "local all postgres peer",
                "local all all scram-sha-256",
                "host replication replicator 10.77.0.0/24 scram-sha-256",
                "host replication replicator 10.0.0.0/8 scram-sha-256",
                "host all all 10.77.0.0/24 scram-sha-256",
                "host all all 10.0.0.0/8 scram-sha-256",
                "host all all 172.16.0.0/12 scram-sha-256",
                rule,
                "host all all 0.0.0.0/0 reject",
                "local replication replicator scram-sha-256",
            ]
        }
    }
    assert patch.expected == {"postgresql": {"pg_hba": desired().settings["postgresql"]["pg_hba"]}}
    assert [(c.path, c.old, c.new) for c in patch.changes] == [
        ("postgresql.pg_hba", "9 rules", f"10 rules, new are: {rule}")
    ]


@pytest.mark.parametrize(
    "edit",
    [
        lambda rules: rules[::-1],
        lambda rules: [*rules, "host all all 0.0.0.0/0 trust"],
        lambda rules: rules[:-2],
        lambda rules: None,
        lambda rules: "host all all 0.0.0.0/0 trust",
    ],
)
def test_access_rules_changed_by_hand_are_repaired(edit: Any) -> None:
    section = desired().settings["postgresql"]
    found = {**section, "pg_hba": edit(section["pg_hba"])}
    patch = patch_of(with_settings(three_nodes(), postgresql=found))
    assert patch is not None
    assert patch.patch == {"postgresql": {"pg_hba": section["pg_hba"]}}
    assert "trust" not in repr((patch.reason, patch.changes))


def test_spaces_between_a_rules_words_are_no_difference() -> None:
    section = desired().settings["postgresql"]
    spaced = [rule.replace(" ", "\t  ") + " " for rule in section["pg_hba"]]
    assert patch_of(with_settings(three_nodes(), postgresql={**section, "pg_hba": spaced})) is None


def test_an_access_file_set_by_hand_is_told() -> None:
    hold = hold_of(with_parameters(three_nodes(), hba_file="/tmp/x"), "access-rules/main")
    assert hold is not None
    assert hold.wants_attention
    assert_words(hold)


@pytest.mark.parametrize("lost", [None, "gone", 5])
def test_a_section_that_is_gone_or_no_section_is_written_whole(lost: object) -> None:
    patch = patch_of(with_settings(three_nodes(), postgresql=lost))
    assert patch is not None
    assert patch.patch == {"postgresql": desired().settings["postgresql"]}
    assert patch.expected == {"postgresql": lost}


def test_the_contracts_own_parameters_fall_back_to_the_contract() -> None:
    text = manifest(postgresql="{parameters: {work_mem: 16MB}}")
    patch = patch_of(three_nodes(text=text))
    assert patch is not None
    assert patch.patch == {"postgresql": {"parameters": {"work_mem": "4MB"}}}


def test_unknown_settings_are_not_different_ones() -> None:
    observed = dataclasses.replace(three_nodes(), settings={"main": Unknown("no answer")})
    assert patch_of(observed) is None
    hold = hold_of(observed)
    assert hold is not None
    assert_words(hold)


def no_quorum(name: str) -> Observed:
    return with_raft(three_nodes(), name, RaftStatus(has_quorum=False))


UNCERTAIN = {
    "silent": three_nodes(unknown=["member-3"]),
    "no quorum": no_quorum("member-1"),
    "Raft node silent": with_raft(three_nodes(), "member-1", Unknown("x")),
    "no leader": with_member(three_nodes(), "member-1", status("member-1", "member-2")),
    "switchover": with_notes(
        three_nodes(), move=PendingSwitchover("member-1", "member-2", 1, NOW, "primary")
    ),
}


@pytest.mark.parametrize("observed", UNCERTAIN.values(), ids=UNCERTAIN)
def test_nothing_is_written_while_anything_is_uncertain(observed: Observed) -> None:
    observed = with_settings(observed, ttl=45)
    assert patch_of(observed) is None
    hold = hold_of(observed)
    assert hold is not None
    assert_words(hold)


def test_a_cluster_that_was_never_whole_is_left_to_its_bootstrap() -> None:
    observed = with_settings(three_nodes(), ttl=45)
    young = with_notes(observed)
    swarm = young.swarm
    assert isinstance(swarm, Known)
    configs = tuple(
        dataclasses.replace(c, value=dataclasses.replace(c.value, labels={}))
        if c.value.name == "main_cluster"
        else c
        for c in swarm.value.configs
    )
    young = dataclasses.replace(
        young, swarm=Known(dataclasses.replace(swarm.value, configs=configs))
    )
    assert patch_of(young) is None


def test_a_paused_patroni_takes_settings_all_the_same() -> None:
    observed = with_settings(three_nodes(), ttl=45, pause=True)
    for name in ("member-1", "member-2", "member-3"):
        observed = with_member(observed, name, status(name, "member-1", paused=True))
    patch = patch_of(observed)
    assert patch is not None
    assert patch.patch == {"ttl": 30}
