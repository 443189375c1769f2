"""Measures the ways to a page in a browser: a tree of 5,000 pages, a palette with 10,000 titles."""

import json
import os
import uuid
from collections.abc import Iterator

import psycopg

from bench.budgets import BUDGETS
from bench.figures import Figure
from bench.search import Language
from bench.stand import found_by, postgres
from notes.doc.tokenizer import vector
from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import space

ROWS = 5_000
TITLES = 5


def measure() -> Iterator[Figure]:
    """Yields the figures of the tree, and those of the palette."""
    env = {"ORIGIN": "", "PROTOCOL_HEADER": "x-forwarded-proto"}
    with postgres() as server, Replica(server.database("places"), env).running() as running:
        with running.client(headers=PLAIN) as client:
            client.set_up()
            large, other = space(client, name="Large"), space(client, name="Other")
        language = Language()
        _fill(server.url("places"), large, language, below=ROWS // 2)
        titles = _fill(server.url("places"), other, language, below=0)
        given = {
            "ada": {"email": ADMIN, "password": PASSWORD},
            "large": large,
            "other": other,
            "titles": titles[:TITLES],
        }
        # "tree" or "palette", to look at one of them alone.
        parts = os.environ.get("PARTS", "")
        with front(running) as base:
            done = node("places_figures.mjs", base, json.dumps(given), parts, timeout_s=900)
    for found in found_by(done):
        bound = BUDGETS["places"].get(found["name"])
        yield Figure(found["name"], found["value"], found["unit"], bound, note=found["note"])


def _fill(url: str, space_id: str, language: Language, *, below: int) -> list[str]:
    """Writes the pages of a space, `below` of them below the first one; returns their titles."""
    made, first = list[str](), uuid.uuid4()
    with psycopg.connect(url) as conn, conn.cursor() as cursor:
        with cursor.copy(
            "COPY nodes (id, space_id, parent_id, position, title, doc, body_text, search)"
            " FROM STDIN"
        ) as copy:
            for number in range(ROWS):
                title, text = language.text(4), language.text(100)
                made.append(title)
                place = (first if number == 0 else uuid.uuid4(), space_id)
                parent = first if 0 < number <= below else None
                doc = '{"type":"doc","content":[]}'
                found = vector(title, text)
                copy.write_row((*place, parent, number * 1024, title, doc, text, found))
        conn.commit()
        conn.autocommit = True
        cursor.execute("VACUUM ANALYZE nodes")
    return made
