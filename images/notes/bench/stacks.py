"""Measures the workspace's editor beside those of other projects, on the same documents in one run.

Docmost uses TipTap with Yjs, La Suite Docs BlockNote with Yjs, Outline ProseMirror with Yjs. Their
pages (`editors/`) have no server and no application around the editor: nothing that is typed there
is sent or stored. The workspace runs whole, and stores and sends what is typed.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.figures import Figure
from bench.stand import HERE, found_by, postgres
from bench.web import MANIFEST, document, written
from tests.judges.programs import NEW_NODE, front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica

EDITORS = HERE / "editors"
NAMES = {
    "workspace": "workspace",
    "prosemirror": "ProseMirror, Yjs",
    "tiptap": "TipTap, Yjs",
    "blocknote": "BlockNote, Yjs",
}
BLOCKS = (1_000, 10_000)
#: What is measured of an editor, with its unit, in the order in which it is printed.
ROWS = (
    ("opening", "open for editing", "ms"),
    ("p50", "key to paint p50", "ms"),
    ("p95", "key to paint p95", "ms"),
    ("task", "processor time a key", "ms"),
    ("selectAll", "select all", "ms"),
    ("heap", "heap of the tab", "MB"),
)


def measure() -> Iterator[Figure]:
    """Yields a figure for each size of page, speed of the processor and editor."""
    for name, size in _sizes(_built()).items():
        yield Figure(f"script, gzip: {name}", size / 1024, "KB")
    env = {"ORIGIN": "", "PROTOCOL_HEADER": "x-forwarded-proto"}
    with postgres() as server, Replica(server.database("stacks"), env).running() as running:
        with running.client(headers=PLAIN) as client:
            client.set_up()
            pages = written(client, BLOCKS)
        given = {
            "ada": {"email": ADMIN, "password": PASSWORD},
            "pages": pages,
            "documents": {str(blocks): document(blocks) for blocks in BLOCKS},
            "pagesFolder": str(EDITORS / "dist"),
            # The names of parts to measure ("1000 10000x4"), to look at some of them alone.
            "parts": os.environ.get("PARTS", ""),
        }
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file, front(running) as base:
            file.write(json.dumps(given))
            file.flush()
            done = node("stacks_figures.mjs", base, file.name, timeout_s=3000)
    yield from _figures(found_by(done))


def _figures(runs: list[dict[str, Any]]) -> Iterator[Figure]:
    groups = dict.fromkeys((run["blocks"], run["rate"]) for run in runs)
    for blocks, rate in groups:
        here = [run for run in runs if (run["blocks"], run["rate"]) == (blocks, rate)]
        title = f"{blocks:,} blocks{f', {rate}x slower' if rate > 1 else ''}"
        for key, name, unit in ROWS:
            for run in here:
                value = run["each"]["Task"] if key == "task" else run[key]
                yield Figure(f"{title}: {name}: {NAMES[run['editor']]}", value, unit)


def _built() -> Mapping[str, int]:
    """Installs the editors and builds their pages; the gzip bytes of each page's script."""
    lock, mark = EDITORS / "package-lock.json", EDITORS / "node_modules/.installed"
    if not mark.exists() or mark.read_bytes() != lock.read_bytes():
        install = ["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
        subprocess.run(install, cwd=EDITORS, check=True)
        mark.write_bytes(lock.read_bytes())
    done = subprocess.run(
        [NEW_NODE, "build.mjs"], cwd=EDITORS, check=True, capture_output=True, text=True
    )
    found: dict[str, int] = json.loads(done.stdout)
    return found


def _sizes(others: Mapping[str, int]) -> dict[str, int]:
    ours = json.loads(Path(MANIFEST).read_text())["sizes"]
    return {
        "workspace, editor alone": ours["editor_gzip"],
        "workspace, all": ours["editor_gzip"] + ours["first_load_script_gzip"],
        **{NAMES[name]: size for name, size in others.items()},
    }
