"""Patroni's template: every key of the contract, and nothing that a person wrote can escape."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from queenright.core.kinds.load import load
from queenright.core.kinds.postgres_cluster.desired import patroni_yml
from queenright.core.kinds.postgres_cluster.desired.patroni_yml import (
    dynamic_configuration,
    local_part,
    render_patroni_template,
)
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from tests.golden.compare import assert_golden
from tests.support.documents import document, edited
from tests.support.examples import examples
from tests.unit.core.kinds.test_load_examples import EXAMPLES

sys.path.insert(0, str(Path(__file__).parents[6] / "images/member"))
from queenright_member.template import fill, placeholders  # the image's own code

VALUES = {
    "NODE_NAME": "member-1",
    "RAFT_SELF": "10.77.0.12:5010",
    "RAFT_PARTNERS": ("10.77.0.13:5010", "10.77.0.14:5010"),
    "NODE_CONNECT": "10.77.0.12",
    "FAILOVER_PRIORITY": 3,
    "PG_REPLICATION_PW": 'a"b\\c: #${NODE_NAME}',
    "PG_SUPERUSER_PW": "geheim",
    "PG_REST_PW": "rest",
}


def cluster(more: str = "") -> PostgresCluster:
    return document(edited(more=more)).resource


def filled(template: str) -> dict[str, Any]:
    """Return Patroni's file, after the member's entry point has filled the template in."""
    config: dict[str, Any] = yaml.safe_load(fill(template, VALUES))
    return config


def test_the_default_template() -> None:
    assert_golden("patroni.yml.tpl", render_patroni_template(cluster()))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_the_examples_templates(file: Path) -> None:
    documents = load({file.name: file.read_text()}).documents
    for one in (found for found in documents if found.kind == "PostgresCluster"):
        text = render_patroni_template(one.resource)
        assert filled(text)["scope"] == one.name
        if file.stem == "tuned":
            assert_golden("patroni-tuned.yml.tpl", text)


def test_the_contracts_keys_as_patroni_reads_them() -> None:
    config = filled(render_patroni_template(cluster()))
    assert config["name"] == "member-1"
    assert config["raft"] == {
        "self_addr": "10.77.0.12:5010",
        "data_dir": "/home/postgres/raft",
        "partner_addrs": ["10.77.0.13:5010", "10.77.0.14:5010"],
    }
    assert config["restapi"] == {
        "listen": "0.0.0.0:8008",
        "connect_address": "10.77.0.12:8008",
        "authentication": {"username": "queenright", "password": "rest"},
    }
    postgresql = config["postgresql"]
    assert postgresql["authentication"] == {
        "replication": {"username": "replicator", "password": VALUES["PG_REPLICATION_PW"]},
        "superuser": {"username": "postgres", "password": "geheim"},
    }
    assert (postgresql["listen"], postgresql["connect_address"]) == (
        "0.0.0.0:5432",
        "10.77.0.12:5432",
    )
    assert (postgresql["data_dir"], postgresql["pgpass"]) == (
        "/home/postgres/pgdata",
        "/tmp/pgpass0",
    )
    assert config["tags"] == {
        "failover_priority": 3,
        "nofailover": False,
        "noloadbalancer": False,
        "clonefrom": True,
    }
    assert config["bootstrap"]["initdb"] == [{"encoding": "UTF8"}, "data-checksums"]


def test_only_placeholders_that_the_entry_point_knows() -> None:
    assert placeholders(render_patroni_template(cluster())) == set(VALUES)


def test_without_authentication_there_is_no_third_secret() -> None:
    template = render_patroni_template(cluster("restApi: {authentication: none}"))
    assert "authentication" not in filled(template)["restapi"]
    assert placeholders(template) == {*VALUES} - {"PG_REST_PW"}


def test_ports_are_the_documents() -> None:
    template = render_patroni_template(cluster("ports: {postgresql: 5442, restApi: 8018}"))
    config = filled(template)
    assert config["restapi"]["listen"] == "0.0.0.0:8018"
    assert config["restapi"]["connect_address"] == "10.77.0.12:8018"
    assert config["postgresql"]["listen"] == "0.0.0.0:5442"
    assert config["postgresql"]["connect_address"] == "10.77.0.12:5442"


def test_extra_rules_stand_between_the_seventh_and_the_last() -> None:
    rule = "host shop app 192.168.0.0/24 scram-sha-256"
    rules = dynamic_configuration(cluster(f"postgresql: {{accessRules: [{rule}]}}"))["postgresql"][
        "pg_hba"
    ]
    assert rules.index(rule) == 7
    assert rules[8:] == [
        "host all all 0.0.0.0/0 reject",
        "local replication replicator scram-sha-256",
    ]


@pytest.mark.parametrize(
    "more",
    [
        "patroni: {ttl: 60s}",
        "postgresql: {parameters: {work_mem: 8MB}}",
        "postgresql: {accessRules: [host all all all reject]}",
    ],
)
def test_a_change_for_bootstrap_leaves_the_local_part_alone(more: str) -> None:
    before, after = render_patroni_template(cluster()), render_patroni_template(cluster(more))
    assert before != after
    assert local_part(before) == local_part(after)


@pytest.mark.parametrize("more", ["restApi: {authentication: none}", "ports: {restApi: 8018}"])
def test_a_change_for_a_member_changes_the_local_part(more: str) -> None:
    before, after = render_patroni_template(cluster()), render_patroni_template(cluster(more))
    assert local_part(before) != local_part(after)


def test_the_local_part_is_all_but_the_bootstrap_section() -> None:
    template = render_patroni_template(cluster())
    whole, local = yaml.safe_load(template), yaml.safe_load(local_part(template))
    assert {"bootstrap": whole["bootstrap"], **local} == whole
    assert local_part("a: 1\nbootstrap:\n- b\n  c: 2\nd: 3\n") == "a: 1\nd: 3\n"


@settings(max_examples=examples(50), deadline=None)
@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=30))
def test_whatever_a_person_writes_reaches_patroni_as_it_is(text: str) -> None:
    base = cluster()
    parameters = {**base.spec.postgresql.parameters, "log_line_prefix": text}
    changed = base.model_copy(
        update={
            "spec": base.spec.model_copy(
                update={
                    "postgresql": base.spec.postgresql.model_copy(update={"parameters": parameters})
                }
            )
        }
    )
    template = render_patroni_template(changed)
    config = filled(template)
    assert config["bootstrap"]["dcs"]["postgresql"]["parameters"]["log_line_prefix"] == text
    assert local_part(template) == local_part(render_patroni_template(base))


@pytest.mark.parametrize(
    "value",
    [
        *("plain", "yes", "1", "1e3", " a", "a: b", "# no", "- x", "%", "@x", "`", "!", "~", "{}"),
        *('"quoted"', "back\\slash", "two\nlines", "é", "\t", "x" * 300, "'", "0.0.0.0:8008", "="),
    ],
)
def test_the_text_does_not_depend_on_the_dumper(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"key": value, "list": [value, {"a": value, "b": [value]}, [], {}, True, None, 1.5]}
    texts = []
    for written in (values, {value: 1}, {"key": {value: [1]}}, {"": 1}, {"k" * 200: 1}):
        sections = json.dumps(written)
        both = []
        for dumper in (patroni_yml.FAST_DUMPER, yaml.SafeDumper):
            monkeypatch.setattr(patroni_yml, "FAST_DUMPER", dumper)
            patroni_yml._written.cache_clear()
            both.append(patroni_yml._written(sections))
        texts.append(both)
        monkeypatch.undo()
    assert all(fast == slow for fast, slow in texts)
    patroni_yml._written.cache_clear()
