"""The page of one document: its size, and hostile values in every place."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.actions import CreateService
from queenright.core.page.document import document_page
from queenright.core.page.frame import MOST_BYTES, asset
from queenright.core.page.routes import Trail
from queenright.core.page.trail import trail_page
from queenright.core.page.values import Basis, Detail, Entry, Record, Running
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
    records = (Record(word, (word,) * 5),) * MANY
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
    )
    return detail, records


@pytest.mark.parametrize("word", [HOSTILE * 100, "'" * 5000], ids=["markup", "quotes"])
def test_hostile_values_stay_texts_and_within_the_limit(word: str) -> None:
    assets = len(asset("style.css").encode()) + len(asset("script.js").encode())
    detail, records = odd(word)
    for page in (document_page(detail, BASIS), trail_page(records, Trail(word), BASIS)):
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
