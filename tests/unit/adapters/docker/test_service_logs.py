"""A service's lines out of the engine's frames, and what the engine says when it lacks some."""

from __future__ import annotations

import struct

import pytest

from queenright.adapters.docker.service_logs import lines_of
from queenright.ports.swarm import UnavailableError

LACKS = (
    "Error grabbing logs: rpc error: code = Unknown desc = warning: incomplete log stream. some "
    "logs could not be retrieved for the following reasons: "
)
AWAY = f"{LACKS}node oy5g4ddaobusuvkid4z70tz94 is not available\n"
"""As Docker 20.10.24 says it, with status 200, of a node that was back for minutes."""


def frame(stream: int, text: str) -> bytes:
    content = text.encode()
    return struct.pack(">BxxxL", stream, len(content)) + content


def test_both_streams_are_read_in_their_order() -> None:
    content = frame(1, "one\n") + frame(2, "two\n") + frame(1, "three\n")
    assert lines_of(content) == "one\ntwo\nthree\n"
    assert lines_of(b"") == ""


def test_bytes_that_are_no_text_and_a_frame_that_is_cut_off_do_not_hide_the_rest() -> None:
    content = struct.pack(">BxxxL", 1, 2) + b"\xff\n" + frame(1, "whole\n")[:-3]
    assert lines_of(content) == "�\nwho"
    assert lines_of(frame(1, "whole\n") + b"\x01\x00") == "whole\n"


@pytest.mark.parametrize("before", [b"", frame(1, "listed 1 base backups\n")])
def test_lines_that_may_not_be_all_are_no_answer(before: bytes) -> None:
    with pytest.raises(UnavailableError) as found:
        lines_of(before + frame(3, AWAY))
    assert "gets none from node oy5g4ddaobusuvkid4z70tz94" in str(found.value)
    assert "restart Docker's engine there" in str(found.value)


def test_another_reason_of_the_engine_is_told_in_its_words() -> None:
    with pytest.raises(UnavailableError, match="service logs: task t1 has not been scheduled"):
        lines_of(frame(3, f"{LACKS}task t1 has not been scheduled\n"))
