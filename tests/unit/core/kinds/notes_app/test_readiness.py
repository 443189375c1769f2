"""Replicas are asked where they are: on the network that they were started with."""

from __future__ import annotations

import pytest

from queenright.core.kinds.notes_app.readiness import network_of
from tests.support.builders import task


@pytest.mark.parametrize(
    ("addresses", "found"),
    [
        ({"notes_app": "10.0.9.1", "other": "10.0.8.1"}, "notes_app"),
        ({"other": "10.0.8.1"}, "other"),
        ({"notes_app": "", "other": "10.0.8.1"}, "other"),
        ({"ingress": "10.0.0.1"}, ""),
        ({}, ""),
    ],
)
def test_a_replica_on_its_former_network_is_asked_there(
    addresses: dict[str, str], found: str
) -> None:
    assert network_of(task("notes_web", "node2", addresses=addresses), "notes_app") == found
