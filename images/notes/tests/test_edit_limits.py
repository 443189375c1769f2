"""Tests that short hostile edits cannot take much time, memory or room of the log."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from notes.doc.attributes import Json
from notes.edits import api, applying, checkpoint, live
from notes.edits.live import LiveDocuments
from notes.jobs import housekeeping
from notes.steps.model import StepError
from notes.steps.reading import document
from notes.steps.step_json import apply_all, step_from
from tests.editing import HELLO, Editor, saved, typed
from tests.postgres import Postgres
from tests.replica import Client
from tests.workspace import page, space

ADDRESS = "https://example.org/" + "a" * 3900


def document_of(*texts: str) -> Json:
    lines = [{"type": "paragraph", "content": [{"type": "text", "text": t}]} for t in texts]
    return {"type": "doc", "content": lines}


def linking(end: int) -> Json:
    link = {"type": "link", "attrs": {"href": ADDRESS}}
    return {"stepType": "addMark", "from": 0, "to": end, "mark": link}


def test_a_short_step_cannot_make_a_long_document() -> None:
    doc = document(document_of(*("x" for _ in range(6_000))))
    with pytest.raises(StepError, match="links with more than"):
        apply_all(doc, [step_from(linking(doc.content_size), "step")])
    few = document(document_of("x", "y"))
    assert apply_all(few, [step_from(linking(few.content_size), "step")]).linked == 2 * len(ADDRESS)


def test_a_step_that_makes_the_document_large_counts_for_those_after_it() -> None:
    doc = document(document_of("x"))
    lines = document_of(*("x" for _ in range(4_000)))["content"]
    steps: list[Any] = [
        {"stepType": "replace", "from": 0, "to": 0, "slice": {"content": lines}},
        *([{"stepType": "addMark", "from": 0, "to": 12_000, "mark": {"type": "bold"}}] * 300),
    ]
    with pytest.raises(api.Problem) as refused:
        applying.applied(doc, steps)
    assert refused.value.status == 422
    assert applying.applied(doc, steps[:20]).nodes > 8_000


def test_steps_that_take_long_are_not_applied_in_the_event_loop() -> None:
    assert not live.is_long(1_000, 150)
    assert live.is_long(live.HERE_NODES + 1, 150)
    assert live.is_long(1_000, 500 * live.STEP_BYTES)
    assert live.is_long(10, live.HERE_BYTES + 1)


def test_kept_documents_are_counted_with_their_texts() -> None:
    kept = LiveDocuments()
    long = document(document_of("x" * 1_900_000))
    for _ in range(100):
        kept.keep(uuid4(), uuid4(), long)
    assert sum(len(doc.content[0].content[0].text) for _, doc in kept._kept.values()) < 40_000_000


def test_a_list_of_edits_has_a_bounded_size(admin: Client) -> None:
    node = page(admin, space(admin), doc=HELLO)
    editor = Editor(admin, node)
    for _ in range(3):
        editor.write(typed("a" * 900_000))
        editor.write({"stepType": "replace", "from": 1, "to": 900_001})
    for _ in range(4):
        editor.write(typed("b" * 600_000))
        editor.write({"stepType": "replace", "from": 1, "to": 600_001})
    first = admin.ok("GET", f"{editor.url}/edits")["edits"]
    assert 1 <= len(first) < 14
    rest = admin.ok("GET", f"{editor.url}/edits?since={first[-1]['seq']}")["edits"]
    assert [edit["seq"] for edit in first + rest] == list(range(1, 15))


def test_edits_that_cannot_be_saved_do_not_grow_the_log(admin: Client, postgres: Postgres) -> None:
    home = space(admin)
    node = page(admin, home, doc=HELLO)
    editor = Editor(admin, node)
    # The first edit of a page stores the document before it, which needs room itself.
    editor.write(typed("a"))
    saved(admin, node, 2)
    postgres.sql(f"UPDATE space_usage SET bytes_limit = bytes WHERE space_id = '{home}'", "main")
    text, answers = "c" * 900_000, list[int]()
    for number in range(24):
        step = typed(text)
        step["to"] = 900_001 if number else 1
        answer = editor.send(editor.body(step))
        answers.append(answer.status_code)
        if answer.status_code != 200:
            assert answer.status_code == 413, answer.text
            break
        editor.seq, editor.id = answer.json()["seq"], answer.json()["id"]
    assert answers[-1] == 413, answers
    assert live.LISTED_BYTES < api.WAITING_BYTES
    assert checkpoint.SNAPSHOT_BYTES <= api.WAITING_BYTES


def test_old_edits_are_deleted_in_parts(postgres: Postgres, admin: Client) -> None:
    node = page(admin, space(admin), doc=HELLO)
    Editor(admin, node).write(typed("a"))
    old = "now() - interval '31 days'"
    postgres.sql(
        "INSERT INTO page_edits (node_id, seq, at, steps)"
        f" SELECT '{node}', n, {old}, '[]' FROM generate_series(2, 50) n;"
        f" UPDATE page_edits SET at = {old} WHERE node_id = '{node}';"
        f" UPDATE page_snapshots SET at = {old} WHERE node_id = '{node}';"
        "INSERT INTO page_snapshots (node_id, seq, at, title, doc)"
        f" VALUES ('{node}', 40, {old}, 'x', '{{}}')",
        "main",
    )
    edits = next(one for one in housekeeping._STATEMENTS if "DELETE FROM page_edits" in one)
    assert f"LIMIT {housekeeping.MOST_EDITS}" in edits
    few = edits.replace(f"LIMIT {housekeeping.MOST_EDITS}", "LIMIT 15")
    left = f"SELECT count(*), min(seq) FROM page_edits WHERE node_id = '{node}'"
    counts = []
    for _ in range(4):
        postgres.sql(few, "main")
        counts.append(postgres.sql(left, "main")[0])
    assert [count for count, _ in counts] == [35, 20, 10, 10]
    assert counts[-1][1] == 41


def test_a_visitor_of_a_public_page_is_not_told_whose_edits_belong_together(
    admin: Client, person: Callable[[str], Client]
) -> None:
    eve, home = person("Eve"), space(admin)
    node = page(admin, home, doc=HELLO)
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True})
    editor = Editor(admin, node)
    editor.write(typed("a"))
    assert editor.name in admin.get(f"{editor.url}/edits").text
    shown = eve.get(f"{editor.url}/edits")
    assert shown.status_code == 200
    assert editor.name not in shown.text


def test_administrators_set_how_long_edits_are_kept(
    admin: Client, person: Callable[[str], Client]
) -> None:
    eve = person("Eve")
    assert admin.ok("GET", "/api/v1/edit-log") == {"days": 30}
    eve.problem(403, "PUT", "/api/v1/edit-log", json={"days": 1})
    for wrong in (0, 3651, "7"):
        admin.problem(422, "PUT", "/api/v1/edit-log", json={"days": wrong})
    assert admin.ok("PUT", "/api/v1/edit-log", {"days": 7}) == {"days": 7}
    assert admin.ok("GET", "/api/v1/edit-log") == {"days": 7}
    assert "edit_log.set" in str(admin.ok("GET", "/api/v1/audit"))
    admin.ok("PUT", "/api/v1/edit-log", {"days": 30})


def test_a_page_that_is_edited_seldom_gets_snapshots(admin: Client, postgres: Postgres) -> None:
    node = page(admin, space(admin), doc=HELLO)
    editor = Editor(admin, node)
    shots = f"SELECT seq FROM page_snapshots WHERE node_id = '{node}' ORDER BY seq"
    editor.write(typed("a"))
    saved(admin, node, 2)
    assert postgres.sql(shots, "main") == [(0,)]
    older = "UPDATE page_snapshots SET at = now() - interval '7 days'"
    postgres.sql(f"{older} WHERE node_id = '{node}'", "main")
    editor.write(typed("b"))
    saved(admin, node, 3)
    assert postgres.sql(shots, "main") == [(0,), (2,)]
