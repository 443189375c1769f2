"""Counters of quotas in tests: what they should be, from all rows, and what counts in them."""

import itertools
import os
import random
from typing import Any
from uuid import uuid4

import psycopg

from tests.replica import Client, Replica

_numbers = itertools.count(1)
ACTS = ["save", "edit", "upload", "comment", "move", "page", "trash", "drop"]
# The expected counters, computed from all rows.
_COUNTED = """
SELECT s.id::text, coalesce((SELECT sum(n.stored_bytes) FROM nodes n WHERE n.space_id = s.id), 0)
         + coalesce((SELECT sum(u.reserved) FROM uploads u WHERE u.space_id = s.id), 0),
       (SELECT count(*) FROM nodes n WHERE n.space_id = s.id), 0
FROM spaces s
UNION ALL
SELECT p.id::text,
       coalesce((SELECT sum(revision_bytes(r.size, r.doc, r.title)) FROM revisions r
                 WHERE r.author_id = p.id), 0)
     + coalesce((SELECT sum(a.size + 500) FROM attachments a WHERE a.created_by = p.id), 0)
     + coalesce((SELECT sum(u.reserved) FROM uploads u WHERE u.user_id = p.id), 0)
     + coalesce((SELECT sum(comment_bytes(c.body, c.quote)) FROM comments c
                 WHERE c.author_id = p.id), 0)
     + coalesce((SELECT sum(edit_bytes(e.steps, e.title)) FROM page_edits e
                 JOIN page_logs l ON l.node_id = e.node_id AND e.seq <= l.saved_seq
                 WHERE e.author_id = p.id), 0),
       (SELECT count(*) FROM nodes n WHERE n.created_by = p.id),
       (SELECT count(*) FROM spaces s WHERE s.created_by = p.id)
FROM users p
"""
_PAGES = """
SELECT n.id::text, n.stored_bytes,
       coalesce((SELECT sum(revision_bytes(r.size, r.doc, r.title)) FROM revisions r
                 WHERE r.node_id = n.id), 0)
     + coalesce((SELECT sum(a.size + 500) FROM attachments a WHERE a.node_id = n.id), 0)
     + coalesce((SELECT sum(u.reserved) FROM uploads u WHERE u.node_id = n.id), 0)
     + coalesce((SELECT sum(comment_bytes(c.body, c.quote)) FROM comments c
                 WHERE c.node_id = n.id), 0)
     + coalesce((SELECT sum(edit_bytes(e.steps, e.title)) FROM page_edits e
                 JOIN page_logs l ON l.node_id = e.node_id AND e.seq <= l.saved_seq
                 WHERE e.node_id = n.id), 0)
     + coalesce((SELECT sum(snapshot_bytes(p.doc, p.title)) FROM page_snapshots p
                 WHERE p.node_id = n.id), 0)
FROM nodes n
"""
_COUNTERS = """
SELECT space_id::text, bytes, pages, 0 FROM space_usage
UNION ALL SELECT user_id::text, bytes, pages, spaces FROM account_usage
"""


def is_exact(replica: Replica) -> None:
    with psycopg.connect(replica.database_url) as conn:
        assert set(conn.execute(_COUNTED)) == set(conn.execute(_COUNTERS))
        for page, stored, counted in conn.execute(_PAGES):
            assert stored == counted, page


def client_of(replica: Replica) -> Client:
    return replica.client(headers={"x-forwarded-for": f"10.8.0.{next(_numbers) % 250}"})


def person(admin: Client, replica: Replica) -> tuple[Client, str]:
    email = f"quota{next(_numbers)}@example.org"
    body = {"email": email, "name": "Q", "password": "password of mine"}
    made = admin.ok("POST", "/api/v1/users", body)["id"]
    return client_of(replica).log_in(email, "password of mine"), made


def space_of(client: Client) -> str:
    slug = f"q{next(_numbers)}"
    return str(client.ok("POST", "/api/v1/spaces", {"slug": slug, "name": "Q"})["id"])


def page_in(client: Client, space: str, **more: Any) -> str:
    path = f"/api/v1/spaces/{space}/nodes"
    return str(client.ok("POST", path, {"title": "Q", **more})["id"])


def upload(client: Client, node: str, size: int) -> Any:
    return client.post(f"/api/v1/nodes/{node}/uploads", files={"file": ("a.bin", os.urandom(size))})


def edit(client: Client, node: str, size: int) -> Any:
    """Sends an edit that adds a paragraph at the page's beginning."""
    live = client.get(f"/api/v1/nodes/{node}/live")
    if live.status_code != 200:
        return live
    at = live.json()
    added = {"type": "paragraph", "content": [{"type": "text", "text": "e" * size}]}
    step = {"stepType": "replace", "from": 0, "to": 0, "slice": {"content": [added]}}
    body = {"client": str(uuid4()), "n": 1, "base_seq": at["seq"], "base_id": at["id"]}
    return client.post(f"/api/v1/nodes/{node}/edits", json={**body, "steps": [step]})


def used_in(client: Client, space: str) -> int:
    return int(client.ok("GET", f"/api/v1/spaces/{space}/usage")["bytes"]["used"])


def act_at_random(
    other: Client, source: random.Random, nodes: list[str], spaces: list[str]
) -> tuple[str, Any]:
    """Return what was done to one of the pages, and the answer."""
    node, space = source.choice(nodes), source.choice(spaces)
    what = source.choice(ACTS)
    if what == "save":
        seen = other.get(f"/api/v1/nodes/{node}").json().get("version", 1)
        body = {"base_version": seen, "markdown": "w " * source.randint(1, 9000)}
        answer = other.put(f"/api/v1/nodes/{node}", json=body)
    elif what == "edit":
        answer = edit(other, node, source.randint(1, 9000))
    elif what == "upload":
        answer = upload(other, node, source.randint(0, 300_000))
    elif what == "comment":
        path = f"/api/v1/nodes/{node}/comments"
        answer = other.post(path, json={"body": "c" * source.randint(1, 9000)})
    elif what == "move":
        answer = other.post(f"/api/v1/nodes/{node}/move", json={"space_id": space})
    elif what == "page":
        answer = other.post(f"/api/v1/spaces/{space}/nodes", json={"title": "Q"})
    elif what == "trash":
        answer = other.delete(f"/api/v1/nodes/{node}")
    else:
        answer = other.delete(f"/api/v1/nodes/{node}?forever=true")
    return what, answer
