"""Calls operations as every user at every place, and checks what they show and change.

The operations come from the application's own table; `expected` has the rule of each, and an
operation without a rule fails. The sweep checks effects: which data an answer contains, which rows
have changed, and who may do more than before. Statuses only have to agree with them.
"""

import io
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import httpx

from notes.http.routing import Operation
from tests.replica import Client, Replica
from tests.sweep.cases import COMMENTER, EDITOR, MANAGER, VIEWER, Case
from tests.sweep.expected import RULES
from tests.sweep.world import Actor, Model, Row, Tables, World

REFUSED = {400, 401, 403, 404, 409, 422, 429}
#: Tables in which any signed-in user may create rows.
OWN = {"favourites": "user_id", "api_tokens": "user_id", "sessions": "user_id", "jobs": "user_id",
       "users": "id", "watches": "user_id"}  # fmt: skip
NEEDED = {"comments": COMMENTER, "node_permissions": MANAGER}
#: Columns of a page's row in which the database counts.
COUNTED = {"stored_bytes": None}


@dataclass
class Sweep:
    """Sends a request, compares the tables and restores them."""

    world: World
    clients: dict[str, Client]
    tables: Tables
    wrong: list[str] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.model = Model(self.tables)
        self.roles = self._roles(self.model)
        self.seen_at = self.world.at()

    def _roles(self, model: Model) -> dict[tuple[str, str], int]:
        everybody = [*self.world.actors, self.world.keeper]
        return {(a.name, n): model.page(a, n) for a in everybody for n in self.model.nodes}

    def all_of(self, operation: Operation) -> None:
        self.world.forget_limits()
        if is_stream(operation):
            self._streams(operation)
            return
        for rule in RULES[operation.name]:
            for actor in self.world.actors:
                path = operation.path
                if operation.name in {"approve_domain", "withdraw_domain", "domain_form"}:
                    path = path.replace("{id}", self.world.spaces["team"])
                elif operation.name == "delete_favourite":
                    path = path.replace("{id}", self.world.pages["public"].id)
                for case in rule.cases(self.world, self.model, actor, path):
                    self._one(operation, actor, case)

    def _one(self, operation: Operation, actor: Actor, case: Case) -> None:
        self.counted[operation.name] += 1
        client = self.clients[actor.name]
        answer = client.request(operation.method, case.path, **case.sent)
        here = f"{operation.name} by {actor.name} at {case.where}: {answer.status_code}"
        allowed = case.allowed
        if operation.scope is not None and actor.user_id is None:
            allowed = False
        if allowed is True and answer.status_code >= 400:
            self.wrong.append(f"{here}, though it is allowed: {answer.text[:200]}")
        # A view redirects clients without a session to the login.
        sent_away = answer.headers.get("location", "").startswith("/login?")
        if allowed is False and answer.status_code not in REFUSED and not sent_away:
            self.wrong.append(f"{here}, though it is not allowed")
        for mark in self._leaks(actor, case, answer):
            self.wrong.append(f"{here}, and shows {mark}")
        if self.world.at() == self.seen_at:
            return
        after = self.world.look()
        changed = {t for t in after if after[t] != self.tables[t]}
        if changed:
            self._judge(here, actor, after, changed, allowed=allowed)
            self.world.put_back(changed)
        self.seen_at = self.world.at()

    def _leaks(self, actor: Actor, case: Case, answer: httpx.Response) -> Iterator[str]:
        body = _text(answer)
        for page in self.world.pages.values():
            role, trashed = self.roles[actor.name, page.id], self.model.is_trashed(page.id)
            seen = role >= (EDITOR if trashed else VIEWER) or page.id in case.readable
            if not seen:
                yield from (mark for mark in page.marks if mark in body)
            if not (seen and role and self.model.is_insider(actor, page.id)):
                yield from [page.comment_mark] if page.comment_mark in body else []
        # Outsiders and clients without a session see no names of members at any place.
        if actor.name in {"anonymous", "outsider"}:
            names = ("keepernamemark", "adanamemark", str(self.world.keeper.user_id),
                     str(self.world.actors[-1].user_id))  # fmt: skip
            yield from (name for name in names if name in body)

    def _judge(
        self, here: str, actor: Actor, after: Tables, changed: set[str], *, allowed: bool | None
    ) -> None:
        if allowed is False:
            self.wrong.append(f"{here}, and changes {sorted(changed)}")
        for table in changed - {"audit"}:
            before = self.tables[table]
            for key in before.keys() | after[table].keys():
                old, new = before.get(key), after[table].get(key)
                if old != new and not self._may_change(actor, table, old, new):
                    self.wrong.append(f"{here}, and changes {table} {old} to {new}")
        for who, role in self._roles(Model(after)).items():
            if role > self.roles[who] and not self._may_grant(actor, who[1]):
                self.wrong.append(f"{here}, and {who} has {role} instead of {self.roles[who]}")

    def _may_grant(self, actor: Actor, node: str) -> bool:
        """True if the actor may change permissions: a manager, or an editor's unrestricted move."""
        needed = EDITOR if self.model.root(node) is None else MANAGER
        return self.roles[actor.name, node] >= needed

    def _may_change(self, actor: Actor, table: str, old: Row | None, new: Row | None) -> bool:
        row = old or new or {}
        if actor.is_admin:
            return True
        if table in OWN:
            return bool(row.get(OWN[table]) == actor.user_id)
        if table == "notifications" and new is not None:
            return actor.user_id in {row["actor_id"], row["user_id"]}
        if table in {"spaces", "space_members", "space_looks"}:
            space = row["id"] if table == "spaces" else row["space_id"]
            return space not in self.tables["spaces"] or self.model.space(actor, space) >= MANAGER
        node = row["id"] if table == "nodes" else row.get("node_id", row.get("from_node"))
        if table == "nodes" and old and new and {**old, **COUNTED} == {**new, **COUNTED}:
            return self.roles[actor.name, row["id"]] >= COMMENTER  # the size of a comment
        if node in self.model.nodes:
            return self.roles[actor.name, node] >= NEEDED.get(table, EDITOR)
        if table == "uploads" and row["user_id"] == actor.user_id:
            return self.model.space(actor, row["space_id"]) >= VIEWER
        if table == "uploads" and new is None and row["space_id"] in self.tables["spaces"]:
            return self.model.space(actor, row["space_id"]) >= MANAGER  # it goes with its space
        return old is None and table in {"nodes", "revisions", "links"}

    def _streams(self, operation: Operation) -> None:
        """Reads the streams of all actors at once, since each is read until nothing more comes."""
        self.counted[operation.name] += len(self.world.actors)
        with ThreadPoolExecutor(len(self.world.actors)) as pool:
            list(pool.map(lambda actor: self._events(operation, actor), self.world.actors))

    def _events(self, operation: Operation, actor: Actor) -> None:
        """Reads all events from the beginning: no user may get one of an invisible page."""
        text = ""
        client = self.clients[actor.name]
        row = self.world.conn.execute("SELECT epoch FROM event_epochs").fetchone()
        assert row is not None
        start = {"last-event-id": f"{row['epoch']}.0.1.0"}
        with client.stream("GET", operation.path, headers=start, timeout=3) as answer:
            if actor.user_id is None:
                if answer.status_code != 401:
                    self.wrong.append(f"events by {actor.name}: {answer.status_code}")
                return
            try:
                for part in answer.iter_text():
                    text += part
            except httpx.ReadTimeout:
                pass
        # That a page has left is for those who may not read it any more: it has ids alone.
        parts = [part for part in text.split("\n\n") if "event: page.left\n" not in part]
        for page in self.world.pages.values():
            told = [part for part in parts if f'"node_id":"{page.id}"' in part]
            if bool(told) != (self.roles[actor.name, page.id] > 0):
                self.wrong.append(f"events by {actor.name}: {page.name} is in {told[:3]}")


def is_stream(operation: Operation) -> bool:
    return any(rule.on == "events" for rule in RULES.get(operation.name, ()))


def _text(answer: httpx.Response) -> str:
    """The text of an answer; a zip is unpacked."""
    if answer.headers.get("content-type") != "application/zip":
        return answer.content.decode(errors="replace")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        names = archive.namelist()
        return "\n".join([*names, *(archive.read(name).decode() for name in names)])


def sweep(made: World, replica: Replica, operations: list[Operation], least: int) -> None:
    """Calls these operations; AssertionError for a wrong effect, or fewer requests than `least`."""
    clients = {a.name: replica.client() for a in made.actors}
    for name, client in clients.items():
        if name in made.cookies:
            client.jar["__Host-notes"] = made.cookies[name]
            client.send = _with(client, made.cookies[name])  # type: ignore[method-assign]
    sweeping = Sweep(made, clients, made.look())
    told = 0
    try:
        # Event streams first: later tests move pages to places where others could see them.
        for operation in sorted(operations, key=lambda one: not is_stream(one)):
            if operation.name in RULES:
                sweeping.all_of(operation)
                found = sweeping.wrong[told:]
                print(
                    operation.name, sweeping.counted[operation.name], *found, sep="\n- ", flush=True
                )
                told = len(sweeping.wrong)
    finally:
        for client in clients.values():
            client.close()
    total = sum(sweeping.counted.values())
    print(f"{total} combinations of {len(sweeping.counted)} operations, {len(clients)} roles,"
          f" {len(made.pages)} pages; {len(sweeping.wrong)} wrong")  # fmt: skip
    assert not sweeping.wrong, "\n".join(sweeping.wrong)
    assert total > least, total
    assert set(sweeping.counted) == {op.name for op in operations}


def _with(client: Client, session: str) -> Callable[..., httpx.Response]:
    """Sends the same session each time, whatever cookies the last answer set."""
    plain = client.send

    def send(request: httpx.Request, **more: object) -> httpx.Response:
        request.headers["cookie"] = f"__Host-notes={session}"
        return plain(request, **more)  # type: ignore[arg-type]

    return send
