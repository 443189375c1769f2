"""The hash chain: whatever is done to a trail in its middle shows, and nothing sound is blamed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queenright.core.audit.chain import (
    ZERO_HASH,
    Chain,
    chain_after,
    decode,
    encode,
    record_hash,
    stamp,
    verify,
)
from queenright.core.audit.lines import cells
from queenright.core.audit.reading import read_step
from queenright.core.audit.record import Body, note_body

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)

texts = st.text(max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
bodies = st.fixed_dictionaries({"reason": texts, "details": json_values}).map(
    lambda details: note_body("refused", **details)
)
trails = st.lists(bodies, min_size=3, max_size=8).map(lambda found: trail(*found))


def trail(*bodies: Body, chain: Chain | None = None) -> list[bytes]:
    chain = chain or Chain()
    lines = []
    for number, body in enumerate(bodies):
        record, chain = chain.seal(body, NOON + timedelta(seconds=number))
        lines.append(encode(record))
    return lines


def as_stream(line: bytes, prefix: bytes = b"") -> bytes:
    envelope = {"timestamp": "2026-01-31T12:00:00Z", "level": "info", "event": "audit"}
    return prefix + json.dumps({**envelope, **json.loads(line)}).encode() + b"\n"


@given(trails)
def test_an_untouched_trail_is_sound(lines: list[bytes]) -> None:
    found = verify(lines)
    assert found.breaks == ()
    assert (found.records, found.first_seq, found.last_seq) == (len(lines), 1, len(lines))
    assert found.head == json.loads(lines[-1])["hash"]


@given(trails, st.data())
def test_an_altered_field_is_found_at_its_line(lines: list[bytes], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(lines) - 1))
    record = json.loads(lines[at])
    field = data.draw(st.sampled_from(sorted(record)))
    other = data.draw(
        json_values.filter(lambda value: json.dumps(value) != json.dumps(record[field]))
    )
    lines[at] = encode({**record, field: other})
    found = verify(lines)
    assert not found.is_sound
    assert found.breaks[0].line in {at + 1, at + 2}


@given(trails, st.data())
def test_any_altered_byte_is_found(lines: list[bytes], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(lines) - 1))
    position = data.draw(st.integers(0, len(lines[at]) - 2))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != lines[at][position]))
    altered = lines[at][:position] + bytes([byte]) + lines[at][position + 1 :]
    if decode(altered) == decode(lines[at]):
        return  # Another spelling of the same record is the same record.
    lines[at] = altered
    assert not verify(b"".join(lines).splitlines(keepends=True)).is_sound


@given(trails, st.data())
def test_a_removed_record_is_found(lines: list[bytes], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(lines) - 2))
    del lines[at]
    assert [found.line for found in verify(lines).breaks] == [at + 1]


@given(trails, st.data())
def test_moved_records_are_found(lines: list[bytes], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(lines).filter(lambda moved: moved != lines))
    assert not verify(shuffled).is_sound


@given(trails, st.data())
def test_a_repeated_record_is_found_in_a_file(lines: list[bytes], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(lines) - 1))
    lines.insert(data.draw(st.integers(0, len(lines))), lines[at])
    assert not verify(lines).is_sound


@given(trails, st.data())
def test_an_added_record_is_found(lines: list[bytes], data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(lines) - 1))
    before = json.loads(lines[at - 1])
    chain = chain_after(before)
    forged = trail(note_body("refused", reason="forged"), chain=chain)
    lines[at:at] = forged
    assert not verify(lines).is_sound


@given(trails, st.data())
def test_only_a_torn_last_line_is_tolerated(lines: list[bytes], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(lines) - 1))
    cut = data.draw(st.integers(1, len(lines[at]) - 2))
    torn = lines[at][:cut]
    tail = verify([*lines[:at], torn])
    assert tail.is_sound
    assert tail.torn_tail
    if at < len(lines) - 1:
        assert not verify([*lines[:at], torn + b"\n", *lines[at + 1 :]]).is_sound


@given(trails, st.lists(st.sampled_from([b"starting\n", b'{"event":"pass"}\n', b"\n", b"{{{\n"])))
def test_a_stream_may_have_other_lines_and_prefixes(lines: list[bytes], noise: list[bytes]) -> None:
    prefix = b"queenright_operator.1.k2x@node1    | "
    stream = [prefix + b"hello\n"]
    for line in lines:
        stream += [as_stream(line, prefix), *(prefix + other for other in noise)]
    found = verify(stream)
    assert found.breaks == ()
    assert found.records == len(lines)


def test_a_stream_may_begin_midway_but_a_file_may_not() -> None:
    lines = trail(*(note_body("refused", number=number) for number in range(4)))
    stream = verify([as_stream(line) for line in lines[2:]])
    assert stream.is_sound
    assert stream.starts_midway
    assert (
        verify(lines[2:]).breaks[0].what
        == "the trail begins at seq 3: what was before it is missing"
    )


def test_a_rotated_file_begins_midway() -> None:
    begin = Chain(7, "a" * 64, "a" * 12)
    found = verify(trail(note_body("rotated"), note_body("stop"), chain=begin))
    assert found.is_sound
    assert (found.first_seq, found.last_seq) == (8, 9)


def test_processes_without_a_file_each_begin_a_chain() -> None:
    one = trail(note_body("start", file=""), note_body("stop"))
    two = trail(note_body("start", file="", pid=2), note_body("stop"))
    found = verify([as_stream(line) for line in [*one, *two]])
    assert found.is_sound
    assert (found.chains, found.records) == (2, 4)


def test_a_stream_may_mix_the_chains_of_an_operator_that_moves_between_nodes() -> None:
    one = trail(*(note_body("refused", node="node1", number=number) for number in range(4)))
    two = trail(*(note_body("refused", node="node2", number=number) for number in range(4)))
    mixed = [as_stream(line) for line in [*one[:2], *two[:3], *one[2:], two[3]]]
    found = verify(mixed)
    assert found.is_sound
    assert found.chains == 2
    assert [broken.what for broken in verify([*mixed[:5], *mixed[6:]]).breaks] == ["seq 3 missing"]


def test_a_file_has_one_chain() -> None:
    one = trail(note_body("start"), note_body("stop"))
    two = trail(note_body("start", pid=2), note_body("stop"))
    assert [(broken.line, broken.what) for broken in verify([*one, *two]).breaks] == [
        (3, "it begins another chain: the file was replaced, or two were mixed")
    ]


def test_a_record_that_a_start_repeats_in_the_stream_counts_once() -> None:
    lines = [as_stream(line) for line in trail(note_body("start"), note_body("stop"))]
    found = verify([lines[0], lines[0], lines[1]])
    assert found.is_sound
    assert found.records == 2
    altered = lines[0].replace(b'"start"', b'"stop"')
    assert not verify([lines[0], altered, lines[1]]).is_sound


def test_a_gap_names_what_is_missing() -> None:
    lines = trail(*(note_body("refused", number=number) for number in range(6)))
    found = verify([lines[0], *lines[4:]])
    assert [(broken.line, broken.seq, broken.what) for broken in found.breaks] == [
        (2, 5, "seq 2 to 4 missing")
    ]


def test_a_key_that_stands_twice_is_no_record() -> None:
    (line,) = trail(note_body("start"))
    assert decode(line[:-2] + b',"seq":1}\n') is None


def test_an_intent_without_outcome_is_named() -> None:
    lines = trail(
        note_body("start"),
        note_body("intent"),
        note_body("outcome", intent_seq=2),
        note_body("intent"),
    )
    assert verify(lines).unfinished == (4,)


@pytest.mark.parametrize("lines", [[], [b"hello\n"]])
def test_nothing_to_verify(lines: list[bytes]) -> None:
    assert verify(lines).records == 0


def test_the_hash_is_what_the_documentation_says() -> None:
    record, chain = Chain().seal(note_body("start", version="0.1"), NOON)
    assert record["prev_hash"] == ZERO_HASH
    assert record["at"] == stamp(NOON) == "2026-01-31T12:00:00.000Z"
    assert record_hash(record) == chain.head
    assert chain.head == "16652b3a5d95259e6d9e8c171afc1e2073095e29323a074f8b43f56737174bbf"


def test_a_trail_of_the_first_release_is_sound_and_shown() -> None:
    trail = Path(__file__).parent / "recorded" / "trail-0.1.0.jsonl"
    lines = trail.read_bytes().splitlines(keepends=True)
    found = verify(lines)
    assert (found.is_sound, found.records) == (True, 5)
    intent, _, refused = map(read_step, map(json.loads, lines[1:4]))
    assert (intent.key, intent.disturbs) == ("failover/main", "main_member-2")
    assert refused.guard == "one-disturbance"
    assert cells(json.loads(lines[3]))[2:4] == ("(whole plan)", "refused")
