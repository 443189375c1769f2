"""Measures the HTML view of a page beside its JSON read: statements, kilobytes, requests a second.

Half of the pages are at the top level, the others below each other in groups of twenty, so that the
views cover a page with thousands of siblings and one with children and ancestors.
"""

import contextlib
import re
import statistics
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec
import psycopg

from bench.figures import Figure
from bench.pages import MARKDOWN, load, own
from bench.stand import ORIGIN, postgres, replica, signed_in
from notes.doc.markdown_parser import parse
from tests.postgres import Postgres
from tests.replica import Client, Replica

SIZES = (1_150, 10_000)
GROUP = 20  # pages below one page
ROUNDS = 10  # short rounds in turn: other load on the machine affects both sides
MOST_STATEMENTS = 2
MOST_KB = 30
SHARE = 0.5  # of the rate of the JSON read


def measure() -> Iterator[Figure]:
    for size in SIZES:
        with ExitStack() as stack:
            server = stack.enter_context(postgres())
            running = stack.enter_context(replica(server, "plain"))
            client, headers = signed_in(running)
            with contextlib.closing(client):
                space = client.ok("POST", "/api/v1/spaces", {"slug": "s", "name": "S"})["id"]
                nodes = _fill(server.url("plain"), space, size)
                yield from _rates(client, running.url, headers, nodes, size)
            running.stop()
            yield from _statements(server, headers, nodes, size)


def _fill(url: str, space: str, size: int) -> list[str]:
    """Creates the pages; returns the four that are read: two at the top, two further down."""
    doc = msgspec.json.encode(parse(MARKDOWN)).decode()
    made = [str(uuid.uuid4()) for _ in range(size)]
    top = size // 2
    with psycopg.connect(url) as conn, conn.cursor() as cursor:
        with cursor.copy(
            "COPY nodes (id, space_id, parent_id, position, title, doc) FROM STDIN"
        ) as copy:
            for number, node in enumerate(made):
                parent = None if number < top else made[(number - top) // GROUP]
                title = f"What was decided in week {number}"
                copy.write_row((node, space, parent, number * 1024, title, doc))
        conn.commit()
        conn.autocommit = True
        cursor.execute("VACUUM ANALYZE nodes")
    return [made[0], made[top // 2], made[top + GROUP // 2], made[-1]]


def _rates(
    client: Client, url: str, headers: dict[str, str], nodes: list[str], size: int
) -> Iterator[Figure]:
    views = [f"/p/{node}" for node in nodes]
    reads = [f"/api/v1/nodes/{node}" for node in nodes]
    first = client.get(views[0])
    tag = first.headers.get("etag")
    sides = {"JSON": (reads, headers), "view": (views, headers)}
    if tag is not None:
        known = {**headers, "If-None-Match": tag}
        sides["unchanged view"] = ([views[0]] * len(nodes), known)
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(ROUNDS + 1):
        for name, (paths, sent) in sides.items():
            rate = load(url, "GET", paths, "", sent, seconds=1)
            if number:  # the first round warms up
                rates[name].append(rate)
    read = statistics.median(rates.pop("JSON"))
    yield Figure(f"{size:,} pages: JSON read, a second", read, "/s")
    for name, found in rates.items():
        rate = statistics.median(found)
        yield Figure(f"{size:,} pages: {name}, a second", rate, "/s")
        at_least = SHARE if name == "view" else None
        yield Figure(f"{size:,} pages: {name}, share of JSON", rate / read, "", at_least=at_least)
    largest = max(len(client.get(path).content) for path in views) / 1000
    note = f"JSON: {max(len(client.get(path).content) for path in reads) / 1000:.1f} kB"
    yield Figure(f"{size:,} pages: largest view", largest, "kB", at_most=MOST_KB, note=note)


def _statements(
    server: Postgres, headers: dict[str, str], nodes: list[str], size: int
) -> Iterator[Figure]:
    with tempfile.NamedTemporaryFile() as file:
        env = {"ORIGIN": ORIGIN, "RECORD_TO": file.name}
        running = Replica(server.url("plain"), env, module="bench.recording")
        with running.running(), running.client() as client:
            client.headers["cookie"] = headers["Cookie"]
            counts = dict[str, int]()
            for path in (f"/api/v1/nodes/{nodes[0]}", *(f"/p/{node}" for node in nodes)):
                client.get(path).raise_for_status()
                # Statements of a new connection and of event readers are not the request's.
                Path(file.name).write_bytes(b"")
                client.get(path).raise_for_status()
                kind = re.sub(r"[0-9a-f-]{36}", "{id}", path)
                found = len(own(Path(file.name).read_bytes()))
                counts[kind] = max(counts.get(kind, 0), found)
    read, view = counts["/api/v1/nodes/{id}"], counts["/p/{id}"]
    name = f"{size:,} pages: statements of a view"
    yield Figure(name, view, "", at_most=MOST_STATEMENTS, note=f"JSON: {read}")
