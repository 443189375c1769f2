"""A thousand event streams of one replica: of one person without a page, and of people at pages."""

import contextlib
import resource
import selectors
import socket
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit
from uuid import uuid4

import msgspec
import psycopg

from bench.stand import signed_in
from bench.web import document
from bench.wire import Wire
from notes.auth.token_digest import digest
from tests.replica import Replica
from tests.workspace import page

STREAMS = 1000
#: Each page is open in so many tabs, each of another person.
TOGETHER = 4
BLOCKS = 50
ROUNDS = 3
AT_ONCE = 8


def idle(running: Replica) -> str:
    """Opens all streams at once and waits until each has received the same save."""
    client, headers = signed_in(running)
    with contextlib.closing(client), _opened(running, [headers] * STREAMS) as hears:
        hears(b"event: hello", 1)
        space = client.ok("POST", "/api/v1/spaces", {"slug": "heard", "name": "H"})["id"]
        begun = time.monotonic()
        client.ok("POST", f"/api/v1/spaces/{space}/nodes", {"title": "B"})
        hears(b"event: page.made", 1)
        return f"all told of a page within {time.monotonic() - begun:.2f} s"


def open_pages(running: Replica) -> str:
    """Opens streams of people who each have a page open, while all pages are edited.

    Each tab reads its page and reports itself with a caret; then somebody edits the page. Each
    stream has to hear of each edit of its page, and of the people there.
    """
    client, headers = signed_in(running)
    with contextlib.closing(client), ThreadPoolExecutor(AT_ONCE) as threads:
        space = client.ok("POST", "/api/v1/spaces", {"slug": uuid4().hex, "name": "O"})["id"]
        tokens = _people(running.database_url, space)
        pages = [page(client, space, doc=document(BLOCKS)) for _ in range(STREAMS // TOGETHER)]
        own = [{**_without_session(headers), "Authorization": f"Bearer {t}"} for t in tokens]
        tabs = [str(uuid4()) for _ in own]
        with _opened(running, own) as hears:
            hears(b"event: hello", 1)
            begun = time.monotonic()
            for done in range(1, ROUNDS + 1):

                def use(number: int, done: int = done) -> None:
                    first = number * TOGETHER
                    for at in range(first, first + TOGETHER):
                        with Wire(running.url, own[at]) as wire:
                            _show(wire, pages[number], tabs[at])
                    with Wire(running.url, own[first]) as wire:
                        _edit(wire, pages[number], done)

                list(threads.map(use, range(len(pages))))
                hears(b"event: page.edited", done)
            hears(b"event: page.people", 1)
            took = time.monotonic() - begun
        # The database is used again.
        client.ok("DELETE", f"/api/v1/spaces/{space}")
        return f"{len(pages)} pages, {ROUNDS} edits of each told to all within {took:.0f} s"


def _show(wire: Wire, node: str, tab: str) -> None:
    """Reads a page as the workspace does, and reports a tab that edits it."""
    wire.ask("GET", f"/api/v1/nodes/{node}")
    caret = {"seq": 0, "anchor": 1, "head": 1}
    body = msgspec.json.encode({"tab": tab, "caret": caret})
    json = {"Content-Type": "application/json"}
    wire.ask("POST", f"/api/v1/nodes/{node}/presence", body, json)


def _edit(wire: Wire, node: str, done: int) -> None:
    """Types a letter into a page as its editor."""
    at = msgspec.json.decode(wire.ask("GET", f"/api/v1/nodes/{node}/live")[1])
    letter = {"content": [{"type": "text", "text": "x"}]}
    step = {"stepType": "replace", "from": 1, "to": 1, "slice": letter}
    body = {"client": node, "n": done, "base_seq": at["seq"], "base_id": at["id"], "steps": [step]}
    json = {"Content-Type": "application/json"}
    wire.ask("POST", f"/api/v1/nodes/{node}/edits", msgspec.json.encode(body), json)


def _without_session(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name != "Cookie"}


def _people(database_url: str, space: str) -> list[str]:
    """Makes editors of a space, and a token for each: without passwords, which take minutes."""
    tokens = [f"nt_{uuid4().hex}" for _ in range(STREAMS)]
    with psycopg.connect(database_url, autocommit=True) as conn:
        conn.execute(
            "WITH made AS (INSERT INTO users (email, name) SELECT gen_random_uuid() || '@e.org',"
            " 'Person ' || n FROM generate_series(1, %(count)s) n RETURNING id),"
            " numbered AS (SELECT id, row_number() OVER () AS n FROM made),"
            " member AS (INSERT INTO space_members (space_id, principal, kind, role)"
            " SELECT %(space)s, id, 'user', 3 FROM made)"
            " INSERT INTO api_tokens (user_id, name, secret_hash, scopes)"
            " SELECT id, 'bench', (%(hashes)s::bytea[])[n], '{read,write}' FROM numbered",
            {"count": STREAMS, "space": space, "hashes": [digest(token) for token in tokens]},
        )
    return tokens


class _Hearing:
    """The streams, and how often each has had an event."""

    def __init__(self, selector: selectors.DefaultSelector, count: int) -> None:
        self._selector, self._count = selector, count
        self._kept = dict[int, bytes]()
        self._heard = dict[bytes, Counter[int]]()

    def __call__(self, wanted: bytes, times: int) -> None:
        """Reads until each stream has had an event so often. Raises after a minute."""
        deadline = time.monotonic() + 60
        while (left := self._count - self._with(wanted, times)) > 0:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{left} of {self._count} streams did not hear {wanted!r}")
            for key, _ in self._selector.select(1):
                data = self._kept.get(key.fd, b"") + key.fileobj.recv(65536)  # type: ignore[union-attr]
                *lines, self._kept[key.fd] = data.split(b"\n")
                for line in lines:
                    if line.startswith(b"event: "):
                        self._heard.setdefault(line.strip(), Counter())[key.fd] += 1

    def _with(self, wanted: bytes, times: int) -> int:
        return sum(n >= times for n in self._heard.get(wanted, Counter()).values())


@contextlib.contextmanager
def _opened(running: Replica, headers: Sequence[dict[str, str]]) -> Iterator[_Hearing]:
    """Opens a stream with each headers."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    where = urlsplit(running.url)
    with contextlib.ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for each in headers:
            lines = "".join(f"{name}: {value}\r\n" for name, value in each.items())
            address = (where.hostname or "", where.port or 0)
            made = stack.enter_context(socket.create_connection(address, timeout=30))
            made.sendall(f"GET /api/v1/events HTTP/1.1\r\n{lines}\r\n".encode())
            selector.register(made, selectors.EVENT_READ)
        yield _Hearing(selector, len(headers))
