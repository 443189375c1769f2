"""The operator's page in Chromium, with a thousand clusters and a hundred applications on it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from queenright.adapters.page.access import Access
from queenright.adapters.page.server import Server
from queenright.adapters.system_clock import SystemClock
from queenright.core.kinds.load import load
from queenright.core.planning.plan import Refusal
from queenright.engine.pages import SightPages
from queenright.engine.planning import PlannedPass, observe_and_plan
from queenright.engine.sight import Sight
from tests.bench.scale_world import fill, still_ports
from tests.fakes.files import FakeAudit
from tests.support.many_clusters import cluster_name, deployed, texts_of

HERE = Path(__file__).parent
JUDGES = HERE.parents[2] / "images" / "notes" / "tests" / "judges"
ASSETS = HERE.parents[2] / "operator" / "queenright" / "core" / "page"
CLUSTERS = 1000
MOST_BYTES = 60_000
"""Of a page with its style and script (docs/page.md)."""
WORD = "it would lose its quorum"
GAP_MS = 31_415
PATHS = (
    "/",
    "/?condition=converged&page=2",
    "/holds",
    f"/clusters/{cluster_name(0)}",
    "/applications/a0000",
    "/trail?q=31415",
    "/nowhere",
)


@dataclass
class Shown:
    """A served page; `found` is the pass that it shows."""

    sight: Sight
    found: PlannedPass
    port: int = 0
    said: list[dict[str, Any]] = field(default_factory=list)

    def refuse(self, name: str) -> None:
        """End another pass, in which a guard refused a cluster's plan."""
        self.sight.note(self.found, {name: Refusal("quorum", WORD)}, ())

    def of(self, key: str) -> list[Any]:
        """Return what the browser's lines have under a key."""
        return [line[key] for line in self.said if key in line]


def moved(timeline: int) -> dict[str, object]:
    """A canary's record of a change of leader of the cluster whose page is shown."""
    return {
        "phase": "measured",
        "seq": timeline,
        "at": f"2026-01-01T12:{timeline:02}:00.000Z",
        "cluster": cluster_name(0),
        "leader_before": "member-1",
        "leader": "member-2",
        "timeline": timeline,
        "cause": "not planned by the operator",
        "write_gap_ms": GAP_MS,
        "lost_rows": 0,
    }


@asynccontextmanager
async def page_of(clusters: int) -> AsyncIterator[Shown]:
    texts = texts_of(clusters)
    documents = load(texts).documents
    ports = replace(still_ports(texts, FakeAudit()), clock=SystemClock())
    fill(ports, deployed(documents))
    found = await observe_and_plan(ports, documents)
    shown = Shown(Sight(ports.clock), found)
    shown.sight.note(found, {}, ())
    for timeline in range(2, 12):
        shown.sight.take(moved(timeline))
    async with anyio.create_task_group() as group:
        server = Server(SightPages(shown.sight, ports.clock), Access())
        shown.port = await group.start(server.serve, "127.0.0.1", 0)
        yield shown
        group.cancel_scope.cancel()


async def browse(shown: Shown) -> None:
    """Run the browser; when it has seen the first pass, end another one."""
    base = f"http://127.0.0.1:{shown.port}"
    command = ["node", str(HERE / "browser.mjs"), str(JUDGES), base, WORD, *PATHS]
    async with await anyio.open_process(command) as process:
        with anyio.fail_after(240):
            async for line in lines_of(process):
                if line == "end":
                    break
                shown.said.append(json.loads(line))
                if "before" in shown.said[-1]:
                    shown.refuse(cluster_name(7))
                    assert process.stdin is not None
                    await process.stdin.send(b"go\n")
            errors = await rest(process)
            assert await process.wait() == 0, errors


async def lines_of(process: Process) -> AsyncIterator[str]:
    assert process.stdout is not None
    begun = ""
    async for text in TextReceiveStream(process.stdout):
        *whole, begun = (begun + text).split("\n")
        for line in whole:
            yield line


async def rest(process: Process) -> str:
    assert process.stderr is not None
    return "".join([text async for text in TextReceiveStream(process.stderr)])


@pytest.fixture(scope="module")
def seen() -> Shown:
    """Everything that one browser said."""
    assert (JUDGES / "node_modules" / "axe-core").exists(), "run make notes-judges-install first"

    async def main() -> Shown:
        async with page_of(CLUSTERS) as shown:
            await browse(shown)
            return shown

    return anyio.run(main)


def test_axe_finds_nothing_in_light_and_dark_on_a_phone_and_a_desk(seen: Shown) -> None:
    checked = [line for line in seen.said if "violations" in line]
    assert len(checked) == 4 * len(PATHS)
    assert [line for line in checked if line["violations"]] == []
    assert min(line["passes"] for line in checked) > 10
    assert {line["path"]: line["status"] for line in checked} == {
        path: 404 if path == "/nowhere" else 200 for path in PATHS
    }


def test_nothing_is_wider_than_a_phone(seen: Shown) -> None:
    assert {overflow for overflow in seen.of("overflow") if overflow > 0} == set()


def test_each_page_is_light(seen: Shown) -> None:
    assets = sum((ASSETS / name).stat().st_size for name in ("style.css", "script.js"))
    assert assets < min(seen.of("bytes")) <= max(seen.of("bytes")) < MOST_BYTES


def without_age(words: str) -> str:
    """Return a page's words without the warning of an old pass: it may come, and counts on, while
    a slow browser reads one page after the other."""
    return re.sub(r"The last pass ended \d+ seconds ago.*?the operator's log\s*", "", words)


def test_without_script_the_page_is_whole(seen: Shown) -> None:
    (without,), (before,) = seen.of("withoutScript"), seen.of("before")
    assert without_age(without) == without_age(before)
    assert cluster_name(0) in without


def test_the_gaps_of_leader_changes_are_on_the_cluster_and_in_the_trail(seen: Shown) -> None:
    words = {line["path"]: line["words"] for line in seen.said if "words" in line}
    assert words[f"/clusters/{cluster_name(0)}"].count(f"{GAP_MS} ms") >= 10
    assert words["/trail?q=31415"].count(f"{GAP_MS} ms") == 10


def test_the_next_pass_is_seen_without_loading_again_under_the_page_s_policy(seen: Shown) -> None:
    (before,), (same,) = seen.of("before"), seen.of("sameDocument")
    assert WORD not in before
    assert same is True
    assert seen.of("errors") == [[], [], [], [], []]
