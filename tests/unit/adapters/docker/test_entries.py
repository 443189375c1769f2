"""A list's objects, told apart by their beginnings: the same as when the whole list is parsed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from queenright.adapters.docker.entries import Entry, NotSlicedError, entries_of

KINDS = ("node", "service", "task", "secret", "config")


def recorded(kind: str) -> bytes:
    """A list as an engine has sent it (Docker 20.10, with one cluster)."""
    return (Path(__file__).parent / "recorded/lists" / f"{kind}s.json").read_bytes()


def entries(kind: str, text: bytes, size: int = 1 << 17, *, whole: bool = False) -> list[Entry]:
    """The objects of a text that comes in pieces of this size."""
    pieces = (text[at : at + size] for at in range(0, len(text), size))
    return list(entries_of(kind, pieces, whole=whole))


def one(number: int, **fields: Any) -> dict[str, Any]:
    times = {"CreatedAt": "2026-01-01T00:00:00Z", "UpdatedAt": f"2026-01-01T00:00:0{number}Z"}
    return {"ID": f"id{number}", "Version": {"Index": number}, **times, **fields}


def text_of(raws: list[Any]) -> bytes:
    return json.dumps(raws, separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize("size", [1, 7, 64, 4096, 1 << 17])
@pytest.mark.parametrize("kind", KINDS)
def test_an_engines_own_list_is_read_object_by_object(kind: str, size: int) -> None:
    text = recorded(kind)
    found = entries(kind, text, size)
    assert [entry.parse() for entry in found] == json.loads(text)
    assert [entry.key for entry in found] == [raw["ID"] for raw in json.loads(text)]


@pytest.mark.parametrize("kind", KINDS)
def test_each_object_has_the_state_that_it_has_where_the_list_is_parsed(kind: str) -> None:
    text = recorded(kind)
    parts, whole = entries(kind, text), entries(kind, text, whole=True)
    if kind != "node":  # a node is compared whole
        assert [entry.state for entry in parts] == [entry.state for entry in whole]
    assert [entry.state for entry in parts] == [entry.state for entry in entries(kind, text)]


def test_a_node_is_another_one_whatever_has_changed() -> None:
    before, after = (
        entries("node", text_of([one(1, ManagerStatus={"Reachability": word})]))[0].state
        for word in ("reachable", "unreachable")
    )
    assert before != after


@pytest.mark.parametrize(
    "hostile",
    [
        '},{"ID":"x","Version":{"Index":1},"CreatedAt":"","UpdatedAt":"y"',
        '"},{"ID":"',
        '\\"},{\\"ID\\":\\"',
        "]",
        "ä\u2028\x00",
    ],
)
def test_text_in_an_object_ends_none(hostile: str) -> None:
    raws = [one(1, Spec={"Labels": {hostile: hostile}}), one(2, Data=hostile)]
    found = entries("config", text_of(raws))
    assert [entry.parse() for entry in found] == raws


def test_a_network_within_a_task_is_no_object_of_the_list() -> None:
    raws = [one(1, NetworksAttachments=[{"Network": one(9)}]), one(2)]
    found = entries("task", text_of(raws))
    assert [entry.parse() for entry in found] == raws


def test_a_list_within_an_object_is_found_out_when_it_is_parsed() -> None:
    """No object of swarm has such a list. The text is then parsed as a whole."""
    raws = [one(1, Inner=[one(8), one(9)]), one(2)]
    with pytest.raises(NotSlicedError):
        [entry.parse() for entry in entries("task", text_of(raws))]
    whole = entries("task", text_of(raws), whole=True)
    assert [entry.parse() for entry in whole] == raws


@pytest.mark.parametrize("text", [b"[]\n", b"null\n", b" []", b'[ {"ID":"x"}]', b'[{"Name":"x"}]'])
def test_other_texts_are_parsed_as_a_whole(text: bytes) -> None:
    assert [entry.parse() for entry in entries("service", text)] == (json.loads(text) or [])


@pytest.mark.parametrize("text", [b"{}", b'"x"', b"5"])
def test_another_answer_than_a_list_is_none(text: bytes) -> None:
    with pytest.raises(TypeError):
        entries("service", text)


def test_a_cut_list_is_an_error() -> None:
    for cut in (b"", b"[", text_of([one(1), one(2)])[:-30]):
        with pytest.raises(ValueError, match=r"Expecting|cut off"):
            entries("service", cut)


def test_an_object_that_begins_otherwise_has_the_list_parsed() -> None:
    with pytest.raises(NotSlicedError):
        entries("service", b'[{"ID":"x"}]')
