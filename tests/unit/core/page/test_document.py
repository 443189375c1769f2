"""The page of one document: its size, and hostile values in every place."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from queenright.core.actions import CreateService, FieldChange
from queenright.core.page.document import document_page
from queenright.core.page.frame import MOST_BYTES, asset
from queenright.core.page.routes import Trail
from queenright.core.page.trail import trail_page
from queenright.core.page.values import Basis, Detail, Entry, LeaderMove, Record, Running
from queenright.core.planning.picture import Part, Place
from queenright.core.planning.plan import Hold, Plan
from queenright.core.planning.status import Line
from queenright.core.swarm.objects import Service
from tests.support.builders import NOW
from tests.support.sights import HOSTILE

BASIS = Basis(at=NOW)
MANY = 100


def odd(word: str) -> tuple[Detail, tuple[Record, ...]]:
    """A document in which every text is this word, and its records."""
    holds = tuple(Hold(f"{word}/{k}", word, wants_attention=True) for k in range(MANY))
    entry = Entry(word, word, word, "needs you", word, holds, (word,) * MANY, word)
    part = Part(word, word, word, "broken", (word, word), 7, word)
    records = (Record(word, (word,) * 5, word),) * MANY
    action = CreateService(service=Service(word, word), reason=word, disrupts=word)
    detail = Detail(
        entry,
        Plan(word, "", (action,) * MANY, holds),
        (Line(word, word, wants_attention=True),) * MANY,
        holds,
        (Place(word, word, word, False, (part,) * 3),) * MANY,
        (Running(word, word, word),) * MANY,
        entry,
        (entry,) * MANY,
        {word: (1, None, 10**12) * 20},
        records,
        (LeaderMove(word, word, word, 10**12, word, is_measured=True, gap_ms=10**12),) * MANY,
    )
    return detail, records


@pytest.mark.parametrize("word", [HOSTILE * 100, "'" * 5000], ids=["markup", "quotes"])
def test_hostile_values_stay_texts_and_within_the_limit(word: str) -> None:
    assets = len(asset("style.css").encode()) + len(asset("script.js").encode())
    detail, records = odd(word)
    basis = Basis(NOW, waits=word, problems=(word,) * MANY, blind=word)
    for page in (document_page(detail, basis), trail_page(records, Trail(word), basis)):
        assert len(page) + assets < MOST_BYTES
        assert b"<script>" not in page
        assert b"<img" not in page
        page.decode()


def test_a_step_that_was_begun_is_not_shown_as_one_to_do() -> None:
    action = CreateService(service=Service("main_proxy", "i"), reason="it is missing")
    entry = Entry("cluster", "clusters", "main", "to do", "1 to do")
    found = Detail(entry, Plan("main", "", (action,)))
    assert " to do: it is missing" in document_page(found, BASIS).decode()
    begun = dataclasses.replace(found, running=(Running(action.key, "it is missing", "noon"),))
    page = document_page(begun, BASIS).decode()
    assert " begun at noon: it is missing" in page
    assert " to do: it is missing" not in page


def test_a_step_to_do_shows_what_it_changes_and_no_secret() -> None:
    names = ["image", "environment.PGPASSWORD", *(f"labels[{number}]" for number in range(5))]
    changes = tuple(FieldChange(name, f"old {name}", f"new {name}") for name in names)
    action = CreateService(service=Service("p", "i"), reason="a test", changes=changes)
    entry = Entry("cluster", "clusters", "main", "to do", "1 to do")
    page = document_page(Detail(entry, Plan("main", "", (action,))), BASIS).decode()
    assert "image: old image → new image" in page
    assert "labels[2]" in page
    assert "labels[3]" not in page
    assert "and 2 more" in page
    assert "new environment.PGPASSWORD" not in page


@pytest.mark.parametrize(
    ("move", "words"),
    [
        ({"is_measured": True, "gap_ms": 1502, "lost_rows": 0}, ["1502 ms", "0"]),
        ({"is_measured": True}, ["unknown", "unknown"]),
        ({"is_measured": False}, ["not measured", "not measured"]),
    ],
)
def test_a_change_of_leader_has_its_gap_or_says_that_it_is_not_known(
    move: dict[str, Any], words: list[str]
) -> None:
    entry = Entry("cluster", "clusters", "main", "converged", "converged")
    changed = LeaderMove("noon", "member-1", "member-2", 6, "a switchover", **move)
    page = document_page(Detail(entry, Plan("main", ""), leaders=(changed,)), BASIS).decode()
    cells = "".join(f"<td>{word}</td>" for word in ("member-1 → member-2", "6", *words))
    assert cells in page
    assert "Leader changes" not in document_page(Detail(entry, Plan("main", "")), BASIS).decode()


def test_the_trail_is_searched_in_every_cell() -> None:
    records = (
        Record("a", ("t1", "a", "create/x", "Failed")),
        Record("b", ("t2", "b", "y", "done")),
    )
    page = trail_page(records, Trail(search="failed"), BASIS).decode()
    assert "create/x" in page
    assert "t2" not in page
    behind = (Record("a", ("t1", "a", "create/x", "done"), "rule members"), *records)
    found = trail_page(behind, Trail(search="rule"), BASIS).decode()
    assert "<small>(rule members)</small>" in found
    assert "t2" not in found
    assert "None of the 2" in trail_page(records, Trail(search="odd"), BASIS).decode()
