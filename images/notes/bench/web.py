"""Measures the workspace in a browser against its budgets: bytes, first visit, offline start, keys.

Wall times depend on what else runs on the machine; processor time (CDP's TaskDuration) much less.
"""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bench.budgets import BUDGETS
from bench.figures import Figure
from bench.stand import HERE, found_by, postgres
from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Client, Replica
from tests.workspace import page, space

MANIFEST = HERE.parent / "src/notes/web/static/manifest.json"
BLOCKS = (100, 1_000, 10_000)
#: The figures of the sizes that the build notes; it ends with an error over the same bounds.
SIZES = {
    "first_load_script_gzip": "script to read a page, gzip",
    "editor_gzip": "editor on top of it, gzip",
    "precached_gzip": "all that is stored for offline use, gzip",
}


def document(blocks: int) -> dict[str, Any]:
    """A document of so many blocks, most of them paragraphs, with all kinds that people write."""
    return {"type": "doc", "content": [_block(at) for at in range(blocks)]}


def _block(at: int) -> dict[str, Any]:
    match at % 20:
        case 0:
            return _text("heading", f"Part {at // 20}", attrs={"level": 1 + at // 20 % 3})
        case 5 | 15:
            items = [_item("listItem", f"thing {at} {n}") for n in range(3)]
            return {"type": "bulletList", "content": items}
        case 9:
            items = [_item("taskItem", f"task {at} {n}", checked=n == 0) for n in range(2)]
            return {"type": "taskList", "content": items}
        case 13:
            return _text("codeBlock", f"x = {at}\nprint(x)", attrs={"language": "python"})
        case 18:
            rows = [
                {"type": "tableRow", "content": [_cell(kind, f"{at} {n}") for n in range(3)]}
                for kind in ("tableHeader", "tableCell")
            ]
            return {"type": "table", "content": rows}
        case _:
            return _text("paragraph", f"{at}. " + "Words that say what was decided, and why. " * 3)


def _text(kind: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, **more, "content": [{"type": "text", "text": text.strip()}]}


def _item(kind: str, text: str, **attrs: Any) -> dict[str, Any]:
    given = {"attrs": attrs} if attrs else {}
    return {"type": kind, **given, "content": [_text("paragraph", text)]}


def _cell(kind: str, text: str) -> dict[str, Any]:
    return {"type": kind, "content": [_text("paragraph", text)]}


def measure() -> Iterator[Figure]:
    yield from _bytes()
    env = {"ORIGIN": "", "PROTOCOL_HEADER": "x-forwarded-proto"}
    with postgres() as server, Replica(server.database("web"), env).running() as running:
        with running.client(headers=PLAIN) as client:
            client.set_up()
            pages = written(client, BLOCKS)
        given = {"ada": {"email": ADMIN, "password": PASSWORD}, "pages": pages}
        # The names of parts to measure, to look at one of them alone.
        parts = os.environ.get("PARTS", "")
        with front(running) as base:
            done = node("web_figures.mjs", base, json.dumps(given), parts, timeout_s=1800)
    for found in found_by(done):
        name = found["name"]
        bound = BUDGETS["web"].get(name)
        yield Figure(name, found["value"], found["unit"], bound, note=found["note"])


def _bytes() -> Iterator[Figure]:
    found = json.loads(Path(MANIFEST).read_text())["sizes"]
    for key, name in SIZES.items():
        yield Figure(name, found[key] / 1024, "KB", BUDGETS["web"][name])


def written(client: Client, sizes: Iterable[int]) -> dict[str, str]:
    """Creates a page of each number of blocks; their ids by that number."""
    home = space(client, name="Team")
    found = dict[str, str]()
    for blocks in sizes:
        id_ = page(client, home, f"{blocks} blocks")
        body = {"base_version": 1, "title": f"{blocks} blocks", "doc": document(blocks)}
        client.ok("PUT", f"/api/v1/nodes/{id_}", body)
        found[str(blocks)] = id_
    return found
