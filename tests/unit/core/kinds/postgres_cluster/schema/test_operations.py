"""Moments, words that stand for mappings, and desired values with an end."""

from datetime import UTC, datetime

import pytest

from queenright.core.kinds.postgres_cluster.schema.operations import Failback, Maintenance
from queenright.core.manifest.moments import Pausing, format_moment
from queenright.core.manifest.moments import parse_moment as parse
from queenright.core.manifest.suggestions import UnfitValueError
from tests.support.documents import document, edited

SIX = datetime(2026, 12, 1, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2026-12-01T06:00Z",
        "2026-12-01T06:00:00Z",
        "2026-12-01 06:00 Z",
        "2026-12-01T07:00+01:00",
        "2026-12-01 07:00:00.000 +01:00",
        " 2026-11-30T23:30:00-06:30 ",
    ],
)
def test_one_moment_in_many_spellings(text: str) -> None:
    assert parse(text) == SIX
    assert format_moment(parse(text)) == "2026-12-01T06:00Z"


@pytest.mark.parametrize(
    "value",
    ["", "soon", "2026-12-01T06:00", "2026-12-01", "06:00Z", "2026-12-01T25:00Z", "2026-12-01Z",
     "2026-12-01T06:00+01", "２０２６-12-01T06:00Z", "9999-12-31T23:59-14:00", 1, None, True, []],
)  # fmt: skip
def test_what_is_no_moment(value: object) -> None:
    with pytest.raises(UnfitValueError, match=r"such as|zone"):
        parse(value)


def test_a_moment_that_python_made_keeps_its_zone() -> None:
    assert parse(SIX) == SIX
    with pytest.raises(UnfitValueError, match="has no zone"):
        parse(SIX.replace(tzinfo=None))


def test_a_file_can_write_either_form() -> None:
    spec = document(
        edited(
            more="failback: automatic\npromotion: {state: paused, until: 2026-12-01T06:00:00Z}\n"
            "reconcile: paused\nprimary: member-2"
        )
    ).resource.spec
    assert spec.failback == Failback(mode="automatic")
    assert spec.promotion == Pausing(state="paused", until=SIX)
    assert spec.reconcile == Pausing(state="paused")


def test_what_has_an_end_is_over_at_it() -> None:
    before, after = SIX.replace(hour=5), SIX
    pausing = Pausing(state="paused", until=SIX)
    assert pausing.is_paused(before)
    assert not pausing.is_paused(after)
    assert Pausing(state="paused").is_paused(after)
    assert not Pausing(state="active").is_paused(before)
    maintenance = Maintenance(nodes=("node3",), until=SIX)
    assert maintenance.nodes_at(before) == ("node3",)
    assert maintenance.nodes_at(after) == ()
    assert Maintenance(nodes=("node3",)).nodes_at(after) == ("node3",)
