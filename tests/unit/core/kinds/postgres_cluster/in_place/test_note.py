"""Labels of a restore in place: what can't be read, or is too old, counts as absent."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from queenright.core.kinds.postgres_cluster.in_place.note import (
    RESTORE_REQUEST_LABEL,
    RESTORED_LABEL,
    Restored,
    RestoreRequest,
    WantedRestore,
    read_request,
    read_restored,
    with_request,
    with_restored,
)
from queenright.core.kinds.postgres_cluster.places import DeployedMember

AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
WISH = WantedRestore(AT, "time 2026-01-31T11:59:59+00:00", "20260131T020004", "7" * 19, 4)
PLACES = (DeployedMember("member-1", "node2", "10.77.0.12", 1, "main_member-1-old"),)


@pytest.mark.parametrize("wanted", [WISH, WantedRestore(AT), WantedRestore(AT, "former")])
@pytest.mark.parametrize("begun", [True, False])
def test_a_request_is_read_as_it_was_written(wanted: WantedRestore, *, begun: bool) -> None:
    request = RestoreRequest(wanted, begun)
    labels = with_request({"a": "b"}, request)
    assert read_request(labels, AT) == request
    assert with_request(labels, None) == {"a": "b"}


@pytest.mark.parametrize("left", [True, False])
def test_a_note_is_read_as_it_was_written(*, left: bool) -> None:
    labels = with_restored({"a": "b"}, Restored(WISH, PLACES, left))
    assert read_restored(labels) == Restored(WISH, PLACES, left)
    assert with_restored(labels, None) == {"a": "b"}


@pytest.mark.parametrize(("minutes", "is_read"), [(-6, False), (0, True), (14, True), (16, False)])
def test_a_request_is_begun_within_a_quarter_of_an_hour_or_never(
    minutes: int, *, is_read: bool
) -> None:
    labels = with_request({}, RestoreRequest(WISH))
    now = AT + timedelta(minutes=minutes)
    assert (read_request(labels, now) is not None) is is_read
    begun = with_request({}, RestoreRequest(WISH, has_begun=True))
    assert read_request(begun, now) is not None, "one that has begun is ended"


@pytest.mark.parametrize(
    "wrong",
    [
        {"at": "yesterday"},
        {"target": "tomorrow"},
        {"target": "time noon"},
        {"target": "lsn "},
        {"target": "name a'; DROP"},
        {"target": 5},
        {"base": "../x"},
        {"system": "one"},
        {"timeline": -1},
        {"begun": 1},
        {"former": []},
    ],
)
def test_what_cant_be_carried_out_counts_as_absent(wrong: dict[str, object]) -> None:
    written = json.loads(with_request({}, RestoreRequest(WISH))[RESTORE_REQUEST_LABEL])
    noted = json.loads(with_restored({}, Restored(WISH, PLACES))[RESTORED_LABEL])
    found = {**written, **wrong}
    if "former" not in wrong:
        assert read_request({RESTORE_REQUEST_LABEL: json.dumps(found)}, AT) is None
    if "begun" not in wrong:
        assert read_restored({RESTORED_LABEL: json.dumps({**noted, **wrong})}) is None
    assert read_request({RESTORE_REQUEST_LABEL: "{"}, AT) is None
    assert read_restored({RESTORED_LABEL: "[]"}) is None
