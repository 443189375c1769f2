"""Tests of the moments of a page: when it was edited, what changed, who sees it, what is kept."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from notes.edits.bursts import LONGEST_S, PAUSE, READ, grouped
from notes.jobs.housekeeping import _STATEMENTS
from tests.editing import HELLO, Editor, saved, typed
from tests.postgres import Postgres
from tests.replica import Client
from tests.workspace import grant, page, space

Person = Callable[[str], Client]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def edits(*seconds: float, name: str = "Ada") -> list[dict[str, object]]:
    """Edits so many seconds after noon, newest first."""
    found = [
        {"seq": seq, "at": NOON + timedelta(seconds=at), "name": name}
        for seq, at in enumerate(seconds, 1)
    ]
    return found[::-1]


def test_a_pause_and_the_clock_end_a_burst() -> None:
    pause, end = PAUSE.total_seconds(), float(LONGEST_S)
    assert [(b.first, b.seq) for b in grouped(edits(0, 1, 1 + pause))] == [(1, 3)]
    assert [(b.first, b.seq) for b in grouped(edits(0, 1, 2 + pause))] == [(3, 3), (1, 2)]
    assert [(b.first, b.seq) for b in grouped(edits(end - 1, end))] == [(2, 2), (1, 1)]
    assert grouped([]) == []
    # A transaction that began earlier may be the later edit.
    odd = grouped(edits(5, 4))
    assert (odd[0].begun_at, odd[0].at) == (
        NOON + timedelta(seconds=4),
        NOON + timedelta(seconds=5),
    )


def test_a_burst_at_the_end_of_a_full_list_is_left_to_the_next() -> None:
    long = [float(at) for at in range(400)]
    listed = edits(*[at / 20 for at in range(READ - 1)], 400)
    assert [(b.first, b.seq) for b in grouped(listed)] == [(READ, READ)]
    # Alone it is listed as far as it was read: the next list goes on before it.
    assert [(b.first, b.seq) for b in grouped(edits(*long * (READ // 400)))] == [(1, READ)]


def test_the_bursts_of_a_page_and_what_changed_in_them(
    admin: Client, person: Person, postgres: Postgres
) -> None:
    bob, home = person("Bob"), space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", editor=bob)
    node = page(admin, home, doc=HELLO)
    url = f"/api/v1/nodes/{node}"
    empty = admin.ok("GET", f"{url}/bursts")
    assert (empty["first"], empty["last"], empty["days"], empty["bursts"]) == (0, 0, 30, [])
    assert admin.ok("GET", f"{url}/edits/0")["doc"] == HELLO
    me, his = Editor(admin, node), Editor(bob, node)
    me.write(typed("a"), title="Renamed")
    his.read()
    his.write(typed("b"))
    me.read()
    # An empty paragraph, which the saved version does not have.
    line = {"content": [{"type": "paragraph"}]}
    me.write(typed("c"), {"stepType": "replace", "from": 0, "to": 0, "slice": line})
    for seq, minutes in ((1, 30), (2, 29), (3, 9)):
        at = f"timestamptz '2026-03-01 12:00Z' - interval '{minutes} min'"
        postgres.sql(f"UPDATE page_edits SET at = {at} WHERE node_id = '{node}' AND seq = {seq}",
                     "main")  # fmt: skip
    found = admin.ok("GET", f"{url}/bursts")
    ada = admin.ok("GET", "/api/v1/me")["name"]
    assert (found["first"], found["last"]) == (0, 3)
    assert [(b["first"], b["seq"], b["authors"]) for b in found["bursts"]] == [
        (3, 3, [ada]),
        (1, 2, [ada, "Bob"]),
    ]
    older = admin.ok("GET", f"{url}/bursts?before=3&limit=1")
    assert [b["seq"] for b in older["bursts"]] == [2]
    changed = admin.ok("GET", f"{url}/edits/2/diff?since=0")
    assert (changed["old_title"], changed["new_title"]) == ("A page", "Renamed")
    assert [p["text"] for p in changed["pieces"] if p["kind"] == "added"] == ["bahello\n"]
    last = admin.ok("GET", f"{url}/edits/3/diff?since=2")["pieces"]
    assert [p["text"] for p in last if p["kind"] == "added"] == ["cbahello\n"]
    admin.problem(404, "GET", f"{url}/edits/9/diff?since=0")
    admin.problem(422, "GET", f"{url}/edits/3/diff?since=-1")


def test_moments_are_seen_by_those_who_see_the_versions(admin: Client, person: Person) -> None:
    bob, eve, home = person("Bob"), person("Eve"), space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", viewer=bob)
    node = page(admin, home, doc=HELLO)
    url = f"/api/v1/nodes/{node}"
    Editor(admin, node).write(typed("oh "))
    version = saved(admin, node, 2)["version"]
    paths = (f"{url}/bursts", f"{url}/edits/1", f"{url}/edits/1/diff?since=0")
    for path in (*paths, f"{url}/revisions"):
        assert bob.get(path).status_code == 200, path
        assert eve.get(path).status_code == 404, path
    assert bob.ok("GET", paths[0])["bursts"][0]["authors"]
    bob.problem(403, "POST", f"{url}/edits/0/restore", json={"base_version": version})
    eve.problem(404, "POST", f"{url}/edits/0/restore", json={"base_version": version})
    # Who reads because the space is public sees what was written, not who works here.
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True})
    assert eve.ok("GET", paths[0])["bursts"][0]["authors"] == []
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": False})
    # A page takes its moments with it, for those who may see it there.
    away = space(admin)
    admin.ok("POST", f"{url}/move", {"space_id": away})
    assert admin.ok("GET", paths[1])["doc"]["content"][0]["content"][0]["text"] == "oh hello"
    assert bob.get(paths[0]).status_code == bob.get(paths[2]).status_code == 404
    admin.ok("DELETE", url)
    for path in (*paths, f"{url}/revisions"):
        admin.problem(404, "GET", path)


def test_a_moment_that_is_not_kept_any_more_says_so(admin: Client, postgres: Postgres) -> None:
    node = page(admin, space(admin), doc=HELLO)
    url = f"/api/v1/nodes/{node}"
    editor = Editor(admin, node)
    editor.write(typed("a"))
    editor.write(typed("b"))
    saved(admin, node, 2)
    for name in ("page_edits", "page_logs", "page_snapshots"):
        older = f"UPDATE {name} SET at = at - interval '31 days' WHERE node_id = '{node}'"
        postgres.sql(older, "main")
    for statement in _STATEMENTS:
        if "page_edits" in statement or "page_snapshots" in statement:
            postgres.sql(f"BEGIN; SET LOCAL notes.housekeeping = 'on'; {statement}; COMMIT", "main")
    found = admin.ok("GET", f"{url}/bursts")
    assert (found["first"], found["last"], found["bursts"]) == (2, 2, [])
    gone = admin.problem(410, "GET", f"{url}/edits/1")
    assert "edits are kept for 30 days" in gone["detail"]
    admin.problem(410, "GET", f"{url}/edits/2/diff?since=0")
    admin.problem(410, "POST", f"{url}/edits/0/restore", json={"base_version": 2})
    # What comes later is based on the last state.
    editor.write(typed("c"))
    found = admin.ok("GET", f"{url}/bursts")
    assert (found["first"], found["last"], len(found["bursts"])) == (2, 3, 1)
    assert admin.ok("GET", f"{url}/edits/3/diff?since=2")["pieces"]


def test_many_edits_are_listed_in_parts(admin: Client) -> None:
    """The lists of a page follow each other without gap or overlap."""
    node = page(admin, space(admin), doc=HELLO)
    editor = Editor(admin, node)
    for _ in range(5):
        editor.write(typed("x"))
    url, seen, before = f"/api/v1/nodes/{node}/bursts?limit=1", list[int](), 2**40
    while found := admin.ok("GET", f"{url}&before={before}")["bursts"]:
        seen += range(found[0]["seq"], found[0]["first"] - 1, -1)
        before = found[0]["first"]
    assert seen == [5, 4, 3, 2, 1]
