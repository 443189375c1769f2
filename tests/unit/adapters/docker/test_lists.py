"""Objects are decoded again when they have changed, and only then."""

from __future__ import annotations

import json
from typing import Any

import pytest

from queenright.adapters.docker.entries import Entry, entries_of
from queenright.adapters.docker.lists import Reader, always

OBJECT = {
    "ID": "one",
    "Version": {"Index": 7},
    "CreatedAt": "2026-01-01T00:00:00Z",
    "UpdatedAt": "2026-01-01T00:00:00Z",
    "State": "a",
}


def entries(kind: str, *raws: object) -> list[Entry]:
    """A list as swarm writes it."""
    text = json.dumps(raws, separators=(",", ":")).encode()
    whole = any(not isinstance(raw, dict) or not raw["Version"] for raw in raws)
    return list(entries_of(kind, [text], whole=whole))


class Decoder:
    """Counts what is decoded."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, raw: dict[str, Any]) -> tuple[str, int]:
        self.count += 1
        return raw["State"], self.count


def read(reader: Reader, decode: Decoder, kind: str, **fields: object) -> tuple[str, int]:
    (found,) = reader.read(kind, entries(kind, {**OBJECT, **fields}), decode, always)
    return found


@pytest.mark.parametrize("kind", ["service", "task", "secret", "config", "node", "network"])
def test_an_unchanged_object_is_decoded_once(kind: str) -> None:
    reader, decode = Reader(), Decoder()
    first = read(reader, decode, kind)
    assert read(reader, decode, kind) is first
    assert decode.count == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"Version": {"Index": 8}, "State": "b"},
        {"UpdatedAt": "2026-01-01T00:00:01Z", "State": "b"},
        {"ID": "two", "State": "b"},
    ],
)
def test_a_changed_object_is_decoded_again(fields: dict[str, object]) -> None:
    reader, decode = Reader(), Decoder()
    read(reader, decode, "service")
    assert read(reader, decode, "service", **fields) == ("b", 2)


@pytest.mark.parametrize("kind", ["node", "network", "engine"])
def test_what_is_not_versioned_is_compared_whole(kind: str) -> None:
    """A manager's reachability changes without a new version of its node."""
    reader, decode = Reader(), Decoder()
    read(reader, decode, kind)
    assert read(reader, decode, kind, State="b") == ("b", 2)


def test_an_object_without_a_version_is_compared_whole() -> None:
    reader, decode = Reader(), Decoder()
    read(reader, decode, "service", Version={})
    assert read(reader, decode, "service", Version={}, State="b") == ("b", 2)


def test_what_an_object_is_decoded_with_counts() -> None:
    reader, decode = Reader(), Decoder()
    first, other = {"n1": "db"}, {"n1": "other"}
    for names in (first, first, other):
        reader.read("service", entries("service", OBJECT), decode, always, beside=names)
    assert decode.count == 2


def test_an_object_that_was_away_is_decoded_again() -> None:
    reader, decode = Reader(), Decoder()
    read(reader, decode, "service")
    assert reader.read("service", [], decode, always) == ()
    read(reader, decode, "service")
    assert decode.count == 2


def test_a_part_of_a_list_leaves_the_rest_known() -> None:
    reader, decode = Reader(), Decoder()
    both = OBJECT, {**OBJECT, "ID": "two"}
    reader.read("service", entries("service", *both), decode, always)
    reader.read("service", entries("service", OBJECT), decode, always, keeps=True)
    reader.read("service", entries("service", *both), decode, always)
    assert decode.count == 2
