"""Field-level differences: each with its path, and without values that may be secret."""

from __future__ import annotations

import dataclasses

from queenright.core.actions import FieldChange
from queenright.core.swarm.diff import diff, disrupts
from queenright.core.swarm.digest import digest
from queenright.core.swarm.objects import Service
from tests.support.builders import desired, three_nodes
from tests.support.changed import live

MEMBER = desired().members[0].service


def changed(**fields: object) -> tuple[FieldChange, ...]:
    return diff(MEMBER, dataclasses.replace(MEMBER, **fields))  # type: ignore[arg-type]


def test_equal_values_have_none() -> None:
    assert diff(MEMBER, dataclasses.replace(MEMBER)) == ()


def test_a_field_has_its_path_old_and_new() -> None:
    assert changed(stop_grace_s=10.0) == (FieldChange("stop_grace_s", "10.0", "120"),)


def test_keyed_parts_are_told_by_their_key() -> None:
    mounts = tuple(
        dataclasses.replace(m, size_bytes=1) if m.target == "/run" else m for m in MEMBER.mounts
    )
    assert changed(mounts=mounts) == (FieldChange("mounts[/run].size_bytes", "1", "16777216"),)


def test_what_a_person_added_is_never_shown() -> None:
    """It may be a password that somebody put where it does not belong."""
    secret = "hunter2"
    found = changed(
        environment={**MEMBER.environment, "PGPASSWORD": secret},
        container_labels={**MEMBER.container_labels, "token": secret},
        command=("sh", "-c", f"login {secret}"),
        args=(secret,),
        hosts=(secret,),
        other={"TaskTemplate.X": f'"{secret}"'},
    )
    assert [change.path for change in found] == [
        "args",
        "command",
        "container_labels[token]",
        "environment[PGPASSWORD]",
        "hosts",
        "other[TaskTemplate.X]",
    ]
    assert not any(secret in f"{change}" for change in found)


def test_order_of_mappings_is_no_difference() -> None:
    environment = dict(reversed(list(MEMBER.environment.items())))
    assert changed(environment=environment) == ()
    assert digest(MEMBER) == digest(dataclasses.replace(MEMBER, environment=environment))


def test_only_what_is_outside_the_task_template_disrupts_nobody() -> None:
    undisrupting = set()
    for item in dataclasses.fields(Service):
        if disrupts((FieldChange(item.name, "a", "b"),)):
            assert disrupts((FieldChange(f"{item.name}[x].y", "a", "b"),))
        else:
            undisrupting.add(item.name)
    assert undisrupting == {"labels", "replicas", "update", "rollback"}


def test_a_digest_tells_every_field_of_the_desired_state_apart() -> None:
    assert digest(MEMBER) != digest(dataclasses.replace(MEMBER, init=False))
    assert digest(live(three_nodes(), MEMBER.name).value) != digest(MEMBER)
