"""An edit as the audit trail names it: field, file, line, before and after."""

import pytest

from queenright.core.manifest.changed_fields import ChangedField, changed_fields
from tests.support.documents import BASE, document, edited

OLD = document()


def test_the_same_document_has_no_changes() -> None:
    assert changed_fields(OLD, document()) == ()


def test_a_comment_or_another_spelling_is_no_change() -> None:
    text = edited(more="patroni: {ttl: 30}  # as ever\nmemory: {limit: 2048M}")
    assert changed_fields(OLD, document(text)) == ()


def test_a_changed_field_has_its_line_and_both_values() -> None:
    new = document(edited(("member:16", "member:16.1"), more="patroni:\n  ttl: 1m"))
    assert changed_fields(OLD, new) == (
        ChangedField(
            "spec.image",
            "cluster.yaml",
            5,
            "registry:5000/queenright-member:16",
            "registry:5000/queenright-member:16.1",
            "main",
        ),
        ChangedField("spec.patroni.ttl", "cluster.yaml", 14, "30s", "1m", "main"),
    )


def test_a_field_that_was_taken_out_is_told_where_it_was() -> None:
    old = document(edited(more="patroni:\n  ttl: 1m\n  loopWait: 5s"))
    new = document(edited(more="patroni:\n  loopWait: 5s"))
    assert changed_fields(old, new) == (
        ChangedField("spec.patroni.ttl", "cluster.yaml", 13, "1m", "30s", "main"),
    )


def test_an_added_member_is_told_field_by_field() -> None:
    more = "    - {name: member-4, node: n4}\n    - {name: member-5, node: n5}\n  proxies:"
    changes = changed_fields(OLD, document(edited(("  proxies:", more))))
    assert [(one.path, one.line, one.old, one.new) for one in changes if "[3]" in one.path] == [
        ("spec.members[3].failoverPriority", 11, None, 1),
        ("spec.members[3].name", 11, None, "member-4"),
        ("spec.members[3].node", 11, None, "n4"),
        ("spec.proxies.nodes[3]", 13, None, "n4"),
    ]


def test_a_new_document_is_all_change() -> None:
    changes = changed_fields(None, document(BASE))
    assert {one.old for one in changes} == {None}
    assert ("metadata.name", 3, "main") in {(one.path, one.line, one.new) for one in changes}


def test_a_parameter_with_a_dot_in_its_name_has_its_own_line() -> None:
    more = "postgresql:\n  parameters:\n    pg_stat_statements.max: 5"
    (change,) = changed_fields(OLD, document(edited(more=more)))
    assert str(change) == (
        "cluster.yaml:15: spec.postgresql.parameters.pg_stat_statements.max: None -> 5"
    )


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("", "reconcile: paused", ["14: spec.reconcile: active -> paused"]),
        ("", "reconcile:\n  state: paused", ["14: spec.reconcile: active -> paused"]),
        (
            "",
            "promotion:\n  state: paused\n  until: 2026-12-01 07:00 +01:00",
            [
                "14: spec.promotion: active -> paused",
                "16: spec.promotion.until: None -> 2026-12-01T06:00Z",
            ],
        ),
        (
            "reconcile: {state: paused, until: 2026-12-01T06:00:07.5Z}",
            "reconcile: paused",
            ["14: spec.reconcile.until: 2026-12-01T06:00:07Z -> None"],
        ),
        ("failback: manual", "failback: {mode: manual, after: 600}", []),
        (
            "",
            "failback: automatic\nprimary: member-2",
            ["14: spec.failback: manual -> automatic", "15: spec.primary: None -> member-2"],
        ),
        (
            "maintenance: {nodes: [node3]}",
            "maintenance:\n  nodes: [node4]\n  until: 2026-12-01T06:00Z",
            [
                "15: spec.maintenance.nodes[0]: node3 -> node4",
                "16: spec.maintenance.until: None -> 2026-12-01T06:00Z",
            ],
        ),
        ("canary: {enabled: true}", "", ["4: spec.canary.enabled: True -> False"]),
    ],
)
def test_a_wish_is_told_by_the_word_that_stands_for_it(
    before: str, after: str, told: list[str]
) -> None:
    pause = "ports: {}\n"
    changes = changed_fields(
        document(edited(more=pause + before)), document(edited(more=pause + after))
    )
    assert [str(one).removeprefix("cluster.yaml:") for one in changes] == told
