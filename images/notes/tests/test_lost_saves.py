"""Tests a save of edits which a failover loses between the look at the log and the save.

Their numbers may be those of other edits by then, and the log may end before them.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from notes.db.migrate import migrations
from notes.db.pool import Database
from notes.edits import checkpoint, live
from notes.edits.checkpoint import Checkpoints
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.viewer import Seen, Viewer
from notes.pages import content
from notes.pages.saves import SaveIn, save
from notes.workers.documents import Documents
from notes.workers.pool import Workers
from tests.editing import HELLO, Editor, typed
from tests.postgres import Postgres, database_in
from tests.replica import Client, Replica
from tests.test_first_edit import forget
from tests.workspace import page, space

Start = Callable[..., Replica]
#: In this order: the log ends at its first edit; another edit has the second one's number.
LOSE = "DELETE FROM page_edits WHERE node_id = '{node}' AND seq > 1"
ANOTHER = (
    "INSERT INTO page_edits (node_id, seq, author_id, client, n, steps)"
    " SELECT node_id, 2, author_id, gen_random_uuid(), 1,"
    """ '[{{"stepType":"replace","from":1,"to":1,"slice":"""
    """{{"content":[{{"type":"text","text":"another "}}]}}}}]'"""
    " FROM page_edits WHERE node_id = '{node}' AND seq = 1"
)
END = (
    "UPDATE page_logs SET (seq, edit_id) = (SELECT seq, id FROM page_edits"
    " WHERE node_id = '{node}' ORDER BY seq DESC LIMIT 1) WHERE node_id = '{node}'"
)


def text_of(doc: Any) -> str:
    return str(doc.get("text", "")) + "".join(map(text_of, doc.get("content", ())))


@asynccontextmanager
async def checkpoints(url: str) -> AsyncIterator[Checkpoints]:
    """Checkpoints of a database, without their own task."""
    db, workers = Database(url), Workers()
    await db.open()
    try:
        yield Checkpoints(db, Documents(workers))
    finally:
        await workers.close()
        await db.close()


def waiting(own_replica: Start) -> tuple[str, str]:
    """The database of a replica that has ended, and a page there with two edits that wait."""
    first = own_replica()
    with first.client() as client:
        node = page(client.set_up(), space(client), doc=HELLO)
        editor = Editor(client, node)
        editor.write(typed("kept "))
        editor.write(typed("lost "))
    first.end()
    return first.database_url, node


@pytest.mark.parametrize(("then", "left"), [((), "kept hello"), ((ANOTHER,), "another kept hello")])
async def test_lost_edits_are_not_saved(
    postgres: Postgres,
    own_replica: Start,
    monkeypatch: pytest.MonkeyPatch,
    then: tuple[str, ...],
    left: str,
) -> None:
    url, node = waiting(own_replica)
    database = database_in(url)
    prepare = checkpoint.content.prepare

    async def lose(*given: Any, **more: Any) -> Any:
        ready = await prepare(*given, **more)
        for statement in (LOSE, *then, END):
            postgres.sql(statement.format(node=node), database)
        return ready

    async with checkpoints(url) as saves:
        monkeypatch.setattr(checkpoint.content, "prepare", lose)
        await saves.save(UUID(node))
        assert list(saves._due) == [UUID(node)]  # what is left of its edits is saved soon
        monkeypatch.setattr(checkpoint.content, "prepare", prepare)
        await saves.save(UUID(node))
    with own_replica(url).client() as client:
        client.log_in()
        editor = Editor(client, node)
        found = client.ok("GET", f"{editor.url}/live")
        assert text_of(found["doc"]) == left
        assert (found["seq"], found["version"]) == (1 + len(then), 2)
        editor.write(typed("more "))


async def test_a_title_is_not_saved_with_the_document_of_a_lost_version(
    postgres: Postgres, own_replica: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version has its number by the time of the save, and keeps its own document."""
    replica = own_replica()
    with replica.client() as client:
        node = page(client.set_up(), space(client), doc=HELLO)
        url, person = f"/api/v1/nodes/{node}", UUID(client.ok("GET", "/api/v1/me")["id"])
        client.ok("PUT", url, {"base_version": 1, "markdown": "a version that is lost"})
        database = database_in(replica.database_url)
        prepare = content.prepare

        async def lose(*given: Any, **more: Any) -> Any:
            ready = await prepare(*given, **more)
            monkeypatch.setattr(content, "prepare", prepare)
            forget(postgres, database, node)
            again = {"base_version": 1, "markdown": "a version in its place"}
            await asyncio.to_thread(client.ok, "PUT", url, again)
            return ready

        monkeypatch.setattr(content, "prepare", lose)
        async with checkpoints(replica.database_url) as saves:
            app: Any = SimpleNamespace(db=saves._db, documents=saves._documents, edits=saves)
            viewer = Viewer(person, "Ada", is_admin=True)
            call = Call(cast("Any", None), Seen("https", "x", "10.0.0.1"), viewer, app)
            made = await save(call, UUID(node), SaveIn(2, "another title"))
        assert (made.version, made.title) == (3, "another title")
        assert "in its place" in text_of(client.ok("GET", url)["doc"])


def test_a_save_of_a_lost_version_replaces_no_other(postgres: Postgres, own_replica: Start) -> None:
    """By the API, a restore and the plain form; each names the moment of its base."""
    replica = own_replica()
    with replica.client() as client:
        node = page(client.set_up(), space(client), doc=HELLO)
        url = f"/api/v1/nodes/{node}"
        client.ok("PUT", url, {"base_version": 1, "markdown": "a version that is lost"})
        base = client.ok("GET", url)
        form = client.get(f"/p/{node}/edit").text
        history = client.get(f"/p/{node}/history").text
        forget(postgres, database_in(replica.database_url), node)
        client.ok("PUT", url, {"base_version": 1, "markdown": "a version in its place"})
        named = {"base_version": 2, "base_updated_at": base["updated_at"]}
        refused = client.problem(409, "PUT", url, json={**named, "markdown": "mine"})
        assert "in its place" in text_of(refused["current"]["theirs"]["doc"])
        client.problem(409, "POST", f"{url}/revisions/1/restore", json=named)
        sent = {**hidden(form, f"/p/{node}/edit"), "title": "Mine", "markdown": "mine"}
        answer = client.post(f"/p/{node}/edit", data=sent)
        assert answer.status_code == 409
        assert "in its place" in answer.text
        back = client.post(f"/p/{node}/revert", data=hidden(history, f"/p/{node}/revert"))
        assert back.status_code == 409
        assert client.get(f"{url}/markdown").text == "a version in its place\n"
        # who has seen the version in its place replaces it
        assert client.post(f"/p/{node}/edit", data=again(answer.text)).status_code == 303
        assert client.get(f"{url}/markdown").text == "mine\n"


def test_the_form_with_both_versions_names_its_base(postgres: Postgres, own_replica: Start) -> None:
    replica = own_replica()
    with replica.client() as client:
        node = page(client.set_up(), space(client), doc=HELLO)
        url = f"/api/v1/nodes/{node}"
        form = client.get(f"/p/{node}/edit").text
        client.ok("PUT", url, {"base_version": 1, "markdown": "a version that is lost"})
        sent = {**hidden(form, f"/p/{node}/edit"), "title": "Mine", "markdown": "mine"}
        conflict = client.post(f"/p/{node}/edit", data=sent)
        assert conflict.status_code == 409
        forget(postgres, database_in(replica.database_url), node)
        client.ok("PUT", url, {"base_version": 1, "markdown": "a version in its place"})
        answer = client.post(f"/p/{node}/edit", data=again(conflict.text))
        assert answer.status_code == 409


def hidden(text: str, action: str) -> dict[str, str]:
    """The hidden fields of the form with this action."""
    part = text.partition(f'action="{action}')[2].partition("</form>")[0]
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', part))


def again(text: str) -> dict[str, str]:
    """The form with both versions, sent once more."""
    return {**hidden(text, "/p/"), "title": "Mine", "markdown": "mine"}


def test_the_moment_of_a_base_is_refused_without_its_zone(admin: Client) -> None:
    node = page(admin, space(admin))
    body = {"base_version": 1, "base_updated_at": "2026-01-01T12:00:00", "markdown": "x"}
    admin.problem(422, "PUT", f"/api/v1/nodes/{node}", json=body)


class Replaced:
    """A connection on which a save replaces the content between any two statements."""

    async def execute(self, statement: str, _: object) -> "Replaced":
        self.row = {"title": "x", "version": 2, "doc": b"{}", "seq": 9, "saved_seq": 8}
        return self

    async def fetchone(self) -> dict[str, object]:
        return self.row

    async def fetchall(self) -> list[dict[str, object]]:
        return []


async def test_a_page_that_is_replaced_again_and_again_is_not_told_to_be_gone() -> None:
    with pytest.raises(Problem) as raised:
        await live.read(cast("Any", Replaced()), UUID(int=1))
    assert raised.value.status == 503


async def test_the_database_refuses_a_log_that_ends_before_what_is_saved(
    postgres: Postgres, own_replica: Start
) -> None:
    """A replica of a version before 0021 saves by the number alone."""
    url, node = waiting(own_replica)
    async with await psycopg.AsyncConnection.connect(url) as conn:
        with pytest.raises(errors.CheckViolation):
            await conn.execute(
                "UPDATE page_logs SET saved_seq = seq + 1 WHERE node_id = %s", (node,)
            )


async def test_a_page_with_such_a_log_can_be_edited_again(
    postgres: Postgres, own_replica: Start
) -> None:
    url, node = waiting(own_replica)
    async with await psycopg.AsyncConnection.connect(url) as conn:
        await conn.execute("ALTER TABLE page_logs DROP CONSTRAINT page_logs_end")
        await conn.execute("UPDATE page_logs SET saved_seq = 5, since = NULL")
        # The file alone: those after it are in the database already.
        [mends] = [one.sql for one in migrations() if one.name == "log_end"]
        await conn.execute(mends.encode())
    with own_replica(url).client() as client:
        client.log_in()
        editor = Editor(client, node)
        assert (editor.seq, text_of(client.ok("GET", f"{editor.url}/live")["doc"])) == (6, "hello")
        told = client.ok("GET", f"{editor.url}/edits?since=2")
        assert [(edit["seq"], edit["steps"]) for edit in told["edits"]] == [(6, None)]
        editor.write(typed("more "))
