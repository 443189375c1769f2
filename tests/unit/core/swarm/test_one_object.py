"""Equal values are one object, and differ in nothing from what was given."""

from __future__ import annotations

from dataclasses import replace

from queenright.core.swarm.objects import HealthCheck, Mount, Port, RestartPolicy, Service
from queenright.core.swarm.one_object import OneObject, one_data, one_texts, with_shared_parts


def service() -> Service:
    """A service of which no part is one object with another's."""
    return Service(
        "main_member-1",
        "image",
        labels={"a": "1"},
        environment={"NODE_NAME": "member-1"},
        ports=(Port(5432, 5432),),
        mounts=(Mount("/data", source="data"),),
        health_check=HealthCheck(("CMD", "x"), 1.0, 1.0, 1.0, 3),
        restart=RestartPolicy(delay_s=7.0),
    )


def test_equal_services_share_their_parts() -> None:
    one, other = with_shared_parts(service()), with_shared_parts(service())
    assert one == other == service()
    for name in ("labels", "environment", "ports", "mounts", "health_check", "restart"):
        assert getattr(one, name) is getattr(other, name), name


def test_values_of_two_types_stay_two() -> None:
    """A digest tells them apart, and an empty mapping from an empty tuple."""
    whole = replace(service(), restart=RestartPolicy(delay_s=7), labels={}, ports=())
    with_shared_parts(service())
    found = with_shared_parts(whole)
    assert type(found.restart.delay_s) is int
    assert (found.labels, found.ports) == ({}, ())


def test_the_order_of_texts_stays() -> None:
    one_texts({"a": "1", "b": "2"})
    assert list(one_texts({"b": "2", "a": "1"})) == ["b", "a"]


def test_odd_answers_of_the_engine_stay_as_they_are() -> None:
    odd = {"a": ["x"]}
    assert one_texts(odd) is odd  # type: ignore[arg-type]
    listed = replace(service(), constraints=(["x"],))  # type: ignore[arg-type]
    assert with_shared_parts(listed) == listed


def test_contents_are_one_object() -> None:
    assert one_data(bytes([1, 2, 3])) is one_data(bytes([1, 2, 3]))


def test_what_nobody_asks_for_is_forgotten() -> None:
    found = OneObject(4)
    first = found.of("a", object())
    for number in range(3):
        found.of(number, object())
        assert found.of("a", object()) is first
    for number in range(8):
        found.of(number, object())
    assert found.of("a", object()) is not first
