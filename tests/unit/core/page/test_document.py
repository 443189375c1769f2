"""The page of one document: its size, and hostile values in every place."""

from __future__ import annotations

import dataclasses

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

WORD = HOSTILE * 100
BASIS = Basis(at=NOW)
MANY = 100
HOLDS = tuple(Hold(f"{WORD}/{k}", WORD, wants_attention=True) for k in range(MANY))
ENTRY = Entry(WORD, WORD, WORD, "needs you", WORD, HOLDS, (WORD,) * MANY, WORD)
PART = Part(WORD, WORD, WORD, "broken", (WORD, WORD), 7, WORD)
RECORDS = (Record(WORD, (WORD,) * 5),) * MANY
ACTION = CreateService(service=Service(WORD, WORD), reason=WORD, disrupts=WORD)
ODD = Detail(
    ENTRY,
    Plan(WORD, "", (ACTION,) * MANY, HOLDS),
    (Line(WORD, WORD, wants_attention=True),) * MANY,
    HOLDS,
    (Place(WORD, WORD, WORD, False, (PART,) * 3),) * MANY,
    (Running(WORD, WORD, WORD),) * MANY,
    ENTRY,
    (ENTRY,) * MANY,
    {WORD: (1, None, 10**12) * 20},
    RECORDS,
)


def test_hostile_values_stay_texts_and_within_the_limit() -> None:
    assets = len(asset("style.css").encode()) + len(asset("script.js").encode())
    for page in (document_page(ODD, BASIS), trail_page(RECORDS, Trail(WORD), BASIS)):
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
