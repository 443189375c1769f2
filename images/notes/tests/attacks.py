"""The attacks of `test_attacks.py`: requests that are slow to answer, sent by one account."""

import contextlib
import itertools
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.replica import PASSWORD, Client, Replica

_numbers = itertools.count(1)


def client_of(replica: Replica) -> Client:
    number = next(_numbers)
    return Client(replica.url, headers={"x-forwarded-for": f"10.9.{number // 250}.{number % 250}"})


@dataclass
class Stage:
    """The attacker, the victim and the page of an attack."""

    replica: Replica
    client: Client
    space: str
    node: str

    def strike(self, method: str, path: str, body: Any = None, **more: Any) -> int:
        """Sends one request of the attacker on a new connection; returns its status."""
        with Client(self.replica.url, headers=dict(self.client.headers)) as client:
            client.jar.update(self.client.jar)
            client.timeout = 170  # type: ignore[assignment]
            if body is not None:
                more["content"] = body if isinstance(body, bytes) else json.dumps(body).encode()
                more.setdefault("headers", {"content-type": "application/json"})
            return client.request(method, path, **more).status_code

    def save(self, **content: Any) -> None:
        version = self.client.ok("GET", f"/api/v1/nodes/{self.node}")["version"]
        body = {"base_version": version, "title": "A page", **content}
        self.client.ok("PUT", f"/api/v1/nodes/{self.node}", body)


def made(replica: Replica) -> Stage:
    with client_of(replica) as admin:
        admin.log_in()
        name = f"m{next(_numbers)}"
        admin.ok(
            "POST",
            "/api/v1/users",
            {"email": f"{name}@example.org", "name": name, "password": PASSWORD},
        )
    client = client_of(replica)
    client.log_in(f"{name}@example.org", PASSWORD)
    client.timeout = 170  # type: ignore[assignment]
    space = client.ok("POST", "/api/v1/spaces", {"slug": name, "name": name})["id"]
    node = client.ok("POST", f"/api/v1/spaces/{space}/nodes", {"title": "A page"})["id"]
    return Stage(replica, client, space, node)


Strike = Callable[[], int]
Attack = Callable[[Stage], Strike]


def _markdown(text: str) -> Attack:
    def attack(stage: Stage) -> Strike:
        path = f"/api/v1/spaces/{stage.space}/nodes"
        return lambda: stage.strike("POST", path, {"title": "T", "markdown": text})

    return attack


def _document(doc: Any) -> Attack:
    content = json.dumps({"title": "T", "doc": doc}).encode()

    def attack(stage: Stage) -> Strike:
        return lambda: stage.strike("POST", f"/api/v1/spaces/{stage.space}/nodes", content)

    return attack


def _raw_document(doc: bytes) -> Attack:
    content = b'{"title":"T","doc":' + doc + b"}"

    def attack(stage: Stage) -> Strike:
        return lambda: stage.strike("POST", f"/api/v1/spaces/{stage.space}/nodes", content)

    return attack


def _text(text: str) -> dict[str, Any]:
    return {"type": "paragraph", "content": [{"type": "text", "text": text}]}


def _cell(text: str = "") -> dict[str, Any]:
    return {"type": "tableCell", "content": [_text(text)] if text else []}


_WIDE = {
    "type": "doc",
    "content": [
        {
            "type": "table",
            "content": [
                {"type": "tableRow", "content": [_cell("x") for _ in range(300)]},
                *({"type": "tableRow", "content": [_cell()]} for _ in range(330)),
            ],
        }
    ],
}
_LARGE = {"type": "doc", "content": [_text("words " * 50) for _ in range(6_000)]}


def _diff(stage: Stage) -> Strike:
    source = random.Random(1)
    stage.save(markdown=" ".join(source.choices("ab", k=900)))
    stage.save(markdown="  ".join(source.choices("abc", k=900)))
    return lambda: stage.strike("GET", f"/api/v1/nodes/{stage.node}/diff?old=2&new=3")


def _diff_of_lines(stage: Stage) -> Strike:
    source = random.Random(1)
    for _ in range(2):
        stage.save(markdown="\n\n".join(source.choices("abc", k=40_000)))
    return lambda: stage.strike("GET", f"/p/{stage.node}/diff?old=2&new=3")


def _read_large(path: str) -> Attack:
    def attack(stage: Stage) -> Strike:
        stage.save(doc=_LARGE)
        return lambda: stage.strike("GET", path.format(stage.node))

    return attack


def _retitle(stage: Stage) -> Strike:
    stage.save(doc=_LARGE)
    body = {"base_version": 1, "title": "Other"}
    return lambda: stage.strike("PUT", f"/api/v1/nodes/{stage.node}", body)


def _wide_page(stage: Stage) -> Strike:
    stage.save(doc=_WIDE)
    return lambda: stage.strike("GET", f"/p/{stage.node}")


def _comment(stage: Stage) -> Strike:
    body = {"body": "a" * 19_000 + "\0"}
    return lambda: stage.strike("POST", f"/api/v1/nodes/{stage.node}/comments", body)


def _form(stage: Stage) -> Strike:
    body = b"base_version=1&title=T&markdown=" + b"%41" * 2_600_000
    headers = {"content-type": "application/x-www-form-urlencoded"}
    return lambda: stage.strike("POST", f"/p/{stage.node}/edit", body, headers=headers)


def _search(stage: Stage) -> Strike:
    for _ in range(25):
        body = {"title": "T", "markdown": "ж" * 90 + " " + "слово и дело " * 12_000 + " lupus"}
        stage.client.ok("POST", f"/api/v1/spaces/{stage.space}/nodes", body)
    return lambda: stage.strike("GET", "/api/v1/search?q=lupus&limit=50")


def _multipart(body: bytes) -> Attack:
    headers = {"content-type": "multipart/form-data; boundary=b"}

    def attack(stage: Stage) -> Strike:
        path = f"/api/v1/nodes/{stage.node}/uploads"
        return lambda: stage.strike("POST", path, body, headers=headers)

    return attack


_PART = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'


def _members(stage: Stage) -> Strike:
    one = b'{"principal":"00000000-0000-0000-0000-000000000000","kind":"user","role":"viewer"},'
    body = b'{"grants":[' + one * 190_000 + b"{}]}"
    return lambda: stage.strike("PUT", f"/api/v1/spaces/{stage.space}/members", body)


def _headers(name: str, value: str) -> Attack:
    def attack(stage: Stage) -> Strike:
        path = f"/api/v1/nodes/{stage.node}"
        return lambda: stage.strike("GET", path, headers={name: value})

    return attack


def _query(stage: Stage) -> Strike:
    path = "/api/v1/search?q=" + "a" * 200 + "".join(f"&a{n}=%41" for n in range(2000))
    return lambda: stage.strike("GET", path)


def _many_pages(stage: Stage) -> Strike:
    with contextlib.closing(_connect(stage.replica.database_url)) as conn:
        conn.execute(
            "INSERT INTO nodes (space_id, position, title, doc, created_by)"
            ' SELECT %s, n, \'Page \' || n, \'{"type":"doc","content":[]}\', created_by'
            " FROM spaces, generate_series(1, 20000) n WHERE id = %s",
            (stage.space, stage.space),
        )
    return lambda: stage.strike("GET", f"/spaces/{stage.space}")


def _connect(url: str) -> Any:
    import psycopg

    return psycopg.connect(url, autocommit=True)


ATTACKS: dict[str, tuple[Attack, set[int]]] = {
    "a diff of 1.8 kB": (_diff, {200}),
    "a diff of many lines": (_diff_of_lines, {200, 503}),
    "images that nothing closes": (_markdown("![" * 14_000), {201, 422, 429, 503}),
    "brackets that nothing closes": (_markdown("[" * 200_000), {201, 422, 429, 503}),
    "emphasis": (_markdown("**a*" * 50_000), {201, 422, 429, 503}),
    "quotes in quotes": (_markdown("> " * 500_000), {422, 429, 503}),
    "two million letters": (_markdown("word " * 400_000), {201, 503}),
    "a large document": (_document(_LARGE), {201}),
    "too many nodes": (_raw_document(b'{"type":"doc","content":[' + b"{}," * 5_000_000 + b"{}]}"),
                       {422}),
    "deep nesting": (_raw_document(b"[" * 7_000_000 + b"]" * 7_000_000), {400, 422}),
    "many empty lists": (_raw_document(b"[" + b"[]," * 5_000_000 + b"[]]"), {422}),
    "a wide table": (_document(_WIDE), {201}),
    "a wide table's page": (_wide_page, {200}),
    "a wide table in Markdown": (
        _markdown("|a" * 300 + "|\n" + "|-" * 300 + "|\n" + "|\n" * 330), {201, 422, 429, 503}),
    "a large page": (_read_large("/p/{}"), {200}),
    "a large page's Markdown": (_read_large("/api/v1/nodes/{}/markdown"), {200}),
    "a large page to edit": (_read_large("/p/{}/edit"), {200}),
    "a large page's export": (_read_large("/api/v1/nodes/{}/export"), {200}),
    "a large page's title": (_retitle, {200, 409}),
    "a comment that the pattern refuses": (_comment, {422}),
    "a form of percent signs": (_form, {303, 409, 413, 422, 429, 503}),
    "a search in long texts": (_search, {200}),
    "a form of many parts": (_multipart(_PART * 100_000 + b"--b--\r\n"), {413, 422}),
    "a form that does not begin": (_multipart(b"\r\n" * 4_000_000), {400}),
    "a part with long headers": (_multipart(b"--b\r\nX: " + b"x" * 8_000_000), {400, 431}),
    "sixteen megabytes of members": (_members, {413}),
    "a range of ranges": (_headers("range", "bytes=" + ",".join(["0-1"] * 3000)), {200}),
    "entity tags": (_headers("if-none-match", ",".join(['"a"'] * 3000)), {200}),
    "languages": (_headers("accept-language", ",".join(["de;q=0.1"] * 1500)), {200}),
    "cookies": (_headers("cookie", ";".join(f"a{n}=b" for n in range(1500))), {431}),
    "a long query": (_query, {422}),
    "a space of many pages": (_many_pages, {200}),
}  # fmt: skip
