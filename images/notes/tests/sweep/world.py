"""The data that the sweep acts on, and an independent model of the permissions.

The model implements the rules of the README on the rows of the tables; it shares no code and no
SQL function with the application.
"""

import hashlib
import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import uuid4

import psycopg
from psycopg.rows import dict_row

from tests.postgres import Postgres
from tests.replica import Client

ROLES = {"viewer": 1, "commenter": 2, "editor": 3, "manager": 4}
#: Columns that change by themselves, or are checked elsewhere: not compared.
BESIDE = {
    "schema_migrations", "rate_limits", "event_epochs", "share_views", "settings", "chunks",
    "oidc_logins", "events", "space_usage", "account_usage",
}  # fmt: skip
#: Restored with every other table: rows that the database counts and stores by itself.
ALONG = {"chunks", "rate_limits", "space_usage", "account_usage"}
#: Not restored: the order of events must not go backwards.
KEPT = {"schema_migrations", "events", "event_epochs", "settings"}

Row = dict[str, Any]
Tables = dict[str, dict[str, Row]]


@dataclass(frozen=True)
class Actor:
    """The sender of requests. `user_id` None: not signed in."""

    name: str
    user_id: str | None = None
    is_admin: bool = False
    home: str = ""


@dataclass
class Page:
    """A page with its files, comments, links and uploads."""

    name: str
    id: str
    space: str
    comment: str = ""
    attachment: str = ""
    share: str = ""
    link: str = ""
    upload: str = ""
    #: The id on which the first edit is based.
    first: str = ""
    sums: list[str] = field(default_factory=list)

    @property
    def marks(self) -> tuple[str, ...]:
        """Words that occur only in the page's data; those of its comment separately."""
        return tuple(f"{kind}{self.name}mark" for kind in ("title", "words", "former", "file", "b"))

    @property
    def comment_mark(self) -> str:
        return f"comment{self.name}mark"


class Model:
    """Computes permissions from rows."""

    def __init__(self, tables: Tables) -> None:
        self.nodes = tables["nodes"]
        self._spaces = tables["spaces"]
        self._groups = {(r["group_id"], r["user_id"]) for r in tables["group_members"].values()}
        self._members = list(tables["space_members"].values())
        self._grants = dict[str, list[Row]]()
        for row in tables["node_permissions"].values():
            self._grants.setdefault(row["node_id"], []).append(row)

    def space(self, actor: Actor, space: str) -> int:
        if actor.is_admin:
            return 4
        row = self._spaces.get(space)
        if row is None:
            return 0
        return max(int(row["public"]), self.inside(actor, space))

    def inside(self, actor: Actor, space: str) -> int:
        """The role without the rights that everybody has in a public space."""
        row = self._spaces.get(space)
        if actor.is_admin:
            return 4
        if actor.user_id is None or row is None:
            return 0
        own = [m["role"] for m in self._members if m["space_id"] == space and self._is(actor, m)]
        return max([row["everyone_role"], *own])

    def _is(self, actor: Actor, row: Row) -> bool:
        return (
            row["principal"] == actor.user_id or (row["principal"], actor.user_id) in self._groups
        )

    def root(self, node: str) -> str | None:
        """The nearest page, the page itself included, with permissions of its own."""
        at: str | None = node
        while at is not None and at in self.nodes:
            if at in self._grants:
                return at
            at = self.nodes[at]["parent_id"]
        return None

    def page(self, actor: Actor, node: str) -> int:
        if node not in self.nodes:
            return 0
        in_space = self.space(actor, self.nodes[node]["space_id"])
        root = self.root(node)
        if root is None or in_space == 4:
            return in_space
        return max([g["role"] for g in self._grants[root] if self._is(actor, g)], default=0)

    def is_insider(self, actor: Actor, node: str) -> bool:
        if self.root(node) is not None:
            return self.page(actor, node) > 0
        return self.inside(actor, self.nodes[node]["space_id"]) > 0

    def below(self, node: str) -> list[str]:
        """The page and all pages below it, in any state."""
        found = [node]
        for at in found:
            found += [n for n, row in self.nodes.items() if row["parent_id"] == at]
        return found

    def is_trashed(self, node: str) -> bool:
        return self.nodes[node]["trashed_at"] is not None


_read = cache(json.loads)  # most rows are the same each time


class World:
    """Spaces, pages and users; read and restored directly in the database."""

    def __init__(self, server: Postgres, url: str, admin: Client) -> None:
        self.conn = psycopg.connect(url, autocommit=True, row_factory=dict_row)
        self.admin = admin
        self.pages = dict[str, Page]()
        self.actors = list[Actor]()
        self.cookies = dict[str, str]()
        self.things = dict[str, str]()
        self._people()
        self._places()
        self._tables = [
            r["tablename"]
            for r in self.conn.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
            )
        ]
        looked = [t for t in self._tables if t not in BESIDE]
        self._look = " UNION ALL ".join(
            f"SELECT '{t}' AS t, to_jsonb(x)::text AS row FROM {t} x"
            for t in looked  # type: ignore[assignment]
        )
        self.conn.execute("CREATE SCHEMA kept")
        for table in self._tables:
            self.conn.execute(f"CREATE TABLE kept.{table} AS SELECT * FROM public.{table}")  # type: ignore[call-overload]

    def _person(self, name: str, **more: Any) -> Actor:
        row = self.conn.execute(
            "INSERT INTO users (email, name) VALUES (%s, %s) RETURNING id::text",
            (f"{name}@sweep.example", f"{name}namemark"),
        ).fetchone()
        assert row is not None
        token = f"session of {name}"
        self.conn.execute(
            "INSERT INTO sessions (token_hash, user_id, expires_at)"
            " VALUES (%s, %s, now() + interval '1 day')",
            (hashlib.sha256(token.encode()).digest(), row["id"]),
        )
        self.cookies[name] = token
        home = self._space(f"home-{name}", {row["id"]: 4})
        return Actor(name, row["id"], home=home, **more)

    def _space(self, slug: str, members: dict[str, int]) -> str:
        row = self.conn.execute(
            "INSERT INTO spaces (slug, name) VALUES (%s, %s) RETURNING id::text",
            (slug, f"space{slug}mark"),
        ).fetchone()
        assert row is not None
        self.conn.execute(
            "INSERT INTO space_looks (space_id, version, logo, logo_type, logo_sha256)"
            " VALUES (%s, 0, '<svg></svg>', 'image/svg+xml', 'a')",
            (row["id"],),
        )
        for user, role in members.items():
            self.conn.execute(
                "INSERT INTO space_members VALUES (%s, %s, 'user', %s)", (row["id"], user, role)
            )
        return str(row["id"])

    def _people(self) -> None:
        me = self.admin.ok("GET", "/api/v1/me")
        self.conn.execute("UPDATE users SET name = 'adanamemark' WHERE id = %s", (me["id"],))
        ada_home = self._space("home-ada", {me["id"]: 4})
        ada = Actor("admin", me["id"], is_admin=True, home=ada_home)
        self.cookies["admin"] = self.admin.jar["__Host-notes"]
        self.keeper = self._person("keeper")
        self.in_space = {role: self._person(f"space-{role}") for role in ROLES}
        self.on_page = {role: self._person(f"page-{role}") for role in ROLES}
        outsider = self._person("outsider")
        self.actors = [
            Actor("anonymous"), outsider, *self.in_space.values(), *self.on_page.values(), ada,
        ]  # fmt: skip

    def _places(self) -> None:
        members = {a.user_id: ROLES[r] for r, a in self.in_space.items() if a.user_id}
        team, foreign = self._space("team", members), self._space("foreign", {})
        public = self._space("public", {})
        self.conn.execute("UPDATE spaces SET public = true WHERE id = %s", (public,))
        self.conn.execute("UPDATE spaces SET domain = 'team.example.org' WHERE id = %s", (team,))
        self.spaces = {"team": team, "foreign": foreign, "public": public}
        for name, space, parent in (
            ("top", team, None), ("own", team, "top"), ("below", team, "own"),
            ("secret", team, "own"), ("deep", team, "secret"), ("open", team, None),
            ("bin", team, None), ("binsecret", team, "bin"), ("openbin", team, None),
            ("foreign", foreign, None), ("public", public, None),
        ):  # fmt: skip
            self._page(name, space, parent)
        grants = {a.user_id: r for r, a in self.on_page.items()}
        self._grant("own", grants)
        for name in ("secret", "binsecret"):
            self._grant(name, {self.keeper.user_id: "editor"})
        for name in self.pages:
            self._furnish(self.pages[name])
        for name in ("bin", "openbin"):
            self.admin.ok("DELETE", f"/api/v1/nodes/{self.pages[name].id}")
        made = self.admin.ok("POST", "/api/v1/tokens", {"name": "t", "scopes": ["read"]})
        provider = {"issuer": "https://i.example", "client_id": "c", "client_secret": "s"}
        invited = {"email": "invited@sweep.example", "is_admin": True}
        invitation = self.admin.ok("POST", "/api/v1/invitations", invited)
        trial = self.admin.ok("POST", "/api/v1/settings/oidc/trials", provider)
        self.things = {
            "token": made["id"],
            "trial": trial["id"],
            "invitation": invitation["id"],
            "session": self.admin.ok("GET", "/api/v1/sessions")[-1]["id"],
            "group": self.admin.ok("POST", "/api/v1/groups", {"name": "groupmark"})["id"],
            "user": str(self.keeper.user_id),
        }
        # Jobs do not run here: their changes would come at unknown times.
        self.conn.execute("ALTER TABLE jobs ALTER run_at SET DEFAULT now() + interval '1 day'")
        row = self.conn.execute(
            "INSERT INTO jobs (kind, user_id) VALUES ('import', %s) RETURNING id::text",
            (self.actors[-1].user_id,),
        ).fetchone()
        assert row is not None
        self.things["job"] = row["id"]
        url = f"/api/v1/spaces/{self.spaces['team']}/imports/uploads"
        self.things["zip upload"] = self.admin.ok("POST", url, {"name": "z.zip", "size": 5})["id"]

    def _page(self, name: str, space: str, parent: str | None) -> None:
        body = {"title": f"title{name}mark", "markdown": f"former{name}mark common\n",
                "parent_id": self.pages[parent].id if parent else None}  # fmt: skip
        made = self.admin.ok("POST", f"/api/v1/spaces/{space}/nodes", body)["id"]
        change = {"base_version": 1, "markdown": f"words{name}mark common\n"}
        self.admin.ok("PUT", f"/api/v1/nodes/{made}", change)
        first = self.admin.ok("GET", f"/api/v1/nodes/{made}/live")["id"]
        self.pages[name] = Page(name, made, space, first=first)

    def _grant(self, name: str, grants: dict[str | None, str]) -> None:
        body = [{"principal": p, "kind": "user", "role": r} for p, r in grants.items()]
        url = f"/api/v1/nodes/{self.pages[name].id}/permissions"
        self.admin.ok("PUT", url, {"grants": body})

    def _furnish(self, page: Page) -> None:
        url = f"/api/v1/nodes/{page.id}"
        sent = {"file": (f"file{page.name}mark.txt", f"b{page.name}mark".encode(), "text/plain")}
        page.attachment = self.admin.post(f"{url}/uploads", files=sent).json()["id"]
        share = self.admin.ok("POST", f"{url}/shares", {"include_children": True})
        page.share, page.link = share["id"], share["url"].rpartition("/")[2]
        opened = {"name": "unfinished", "size": 5}
        page.upload = self.admin.ok("POST", f"{url}/uploads", opened)["id"]
        page.comment = str(uuid4())
        self.conn.execute(
            "INSERT INTO comments (id, node_id, author_id, body) VALUES (%s, %s, %s, %s)",
            (page.comment, page.id, self.keeper.user_id, page.comment_mark),
        )

    def at(self) -> str:
        """The position in the write-ahead log: if it does not move, no row has changed."""
        row = self.conn.execute("SELECT pg_current_wal_insert_lsn()::text AS at").fetchone()
        assert row is not None
        return str(row["at"])

    def look(self) -> Tables:
        """All rows of all tables, as a mapping by table."""
        tables: Tables = {t: {} for t in self._tables}
        for row in self.conn.execute(self._look):  # type: ignore[call-overload]
            content = _read(row["row"])
            key = str(content["id"]) if "id" in content else row["row"]
            tables[row["t"]][key] = content
        return tables

    def put_back(self, tables: set[str]) -> None:
        """Restores these tables to their state at the beginning."""
        with self.conn.transaction():
            self.conn.execute("SET LOCAL session_replication_role = replica")
            for table in (tables | ALONG) - KEPT:
                self.conn.execute(f"DELETE FROM public.{table}")  # type: ignore[call-overload]
                over = "OVERRIDING SYSTEM VALUE" if table == "audit" else ""
                self.conn.execute(f"INSERT INTO public.{table} {over} SELECT * FROM kept.{table}")  # type: ignore[call-overload]

    def forget_limits(self) -> None:
        self.conn.execute("DELETE FROM rate_limits")
