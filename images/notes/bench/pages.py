"""Measures page reads and saves per second against a bare handler with the same statements.

A save sends the document, as the workspace's editor does; saves that send Markdown, which has to be
parsed, are reported separately.
"""

import contextlib
import pickle
import re
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from bench.figures import Figure
from bench.stand import HERE, ORIGIN, postgres, process, replica, signed_in
from notes.doc.markdown_parser import parse
from tests.postgres import Postgres
from tests.replica import KEY, Client

CONNECTIONS = 4
ROUNDS = 10  # short rounds in turn: other load on the machine affects both sides
SECONDS = 1
TARGET = 0.7  # of the bare handler
MARKDOWN = (
    """# A page like any other

Some **bold** and *slanted* words with a [link](https://a.example/), `code` and a list:

- one thing
- another thing, which is described at some length
- [x] done

| when | who |
| --- | --- |
| today | Ada |

"""
    + "A paragraph of ordinary words that says what was decided, by whom and why. " * 6
)
_SKIPPED = ("SET ", "LISTEN", "SELECT current_setting")


def measure() -> Iterator[Figure]:
    with ExitStack() as stack:
        server = stack.enter_context(postgres())
        running = stack.enter_context(replica(server, "pages"))
        client, headers = signed_in(running)
        with contextlib.closing(client):
            space = client.ok("POST", "/api/v1/spaces", {"slug": "s", "name": "S"})["id"]
            nodes = [_page(client, space) for _ in range(CONNECTIONS)]
        running.stop()
        scripts = _record(server, nodes, headers)
        if not all(scripts.values()):
            raise RuntimeError("no statement was recorded")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "scripts").write_bytes(pickle.dumps(scripts))
        running.start()
        env = {"DATABASE_URL": server.url("pages"), "SCRIPTS": str(folder / "scripts")}
        bare = stack.enter_context(process("bench.bare", env, "/"))
        yield from _compare(running.url, bare, nodes, headers, scripts)


def _page(client: Client, space: str) -> str:
    body = {"title": "A page", "markdown": MARKDOWN}
    return str(client.ok("POST", f"/api/v1/spaces/{space}/nodes", body)["id"])


def _record(
    server: Postgres, nodes: list[str], headers: dict[str, str]
) -> dict[str, list[tuple[str, Any]]]:
    """Records the statements of one read and one save of each page."""
    scripts = dict[str, list[tuple[str, Any]]]()
    with tempfile.NamedTemporaryFile() as file:
        env = {
            "ORIGIN": ORIGIN,
            "APP_ENCRYPTION_KEY": KEY,
            "DATABASE_URL": server.url("pages"),
            "PROTOCOL_HEADER": "x-forwarded-proto",
            "RECORD_TO": file.name,
        }
        with process("bench.recording", env, "/readyz") as base, Client(base) as client:
            client.headers["cookie"] = headers["Cookie"]
            for node in nodes:
                client.ok("GET", f"/api/v1/nodes/{node}")
                for method, body in (
                    ("GET", None),
                    ("PUT", {"base_version": 1, "title": "A page", "markdown": MARKDOWN + "~\n"}),
                ):
                    # Statements of a new connection and of event readers are not the request's.
                    Path(file.name).write_bytes(b"")
                    client.ok(method, f"/api/v1/nodes/{node}", body)
                    scripts[f"{method}-{node}"] = own(Path(file.name).read_bytes())
    return scripts


def own(content: bytes) -> list[tuple[str, Any]]:
    import io

    file, found = io.BytesIO(content), list[tuple[str, Any]]()
    while file.tell() < len(content):
        statement, params = pickle.load(file)
        # A save wakes the event readers; they run at the same time in both servers' database.
        if statement.startswith(_SKIPPED) or " events e " in statement or "waiting" in statement:
            continue
        if "page_role(%s, %s, u.id" in statement:
            continue
        found.append((statement, params))
    return found


def _compare(
    url: str,
    bare: str,
    nodes: list[str],
    headers: dict[str, str],
    scripts: dict[str, list[tuple[str, Any]]],
) -> Iterator[Figure]:
    def body(**content: object) -> str:
        sent = msgspec.json.encode({"base_version": "@", "title": "A page", **content})
        return sent.decode().replace('"@"', "@")

    cases = (
        ("page read", "GET", "", TARGET),
        ("page save", "PUT", body(doc=parse(MARKDOWN + "~\n")), TARGET),
        ("page save from Markdown", "PUT", body(markdown=MARKDOWN + "~\n"), None),
    )
    for name, method, sent, target in cases:
        ours_paths = [f"/api/v1/nodes/{node}" for node in nodes]
        bare_paths = [f"/{method}-{node}" for node in nodes]
        load(url, method, ours_paths, sent, headers, seconds=1)
        load(bare, method, bare_paths, sent, headers, seconds=1)
        rates = list[tuple[float, float]]()
        for _ in range(ROUNDS):
            ours = load(url, method, ours_paths, sent, headers, seconds=SECONDS)
            rates.append((ours, load(bare, method, bare_paths, sent, headers, seconds=SECONDS)))
        ours, theirs = (statistics.median(side) for side in zip(*rates, strict=True))
        ratio = statistics.median(a / b for a, b in rates)
        count = len(scripts[f"{method}-{nodes[0]}"])
        note = f"bare handler: {theirs:,.0f}/s; {count} statements each; {CONNECTIONS} connections"
        yield Figure(f"{name}, a second", ours, "/s", note=note)
        yield Figure(f"{name}: share of the bare handler", ratio, "", at_least=target)


def load(
    base: str, method: str, paths: list[str], body: str, headers: dict[str, str], *, seconds: int
) -> float:
    """The requests per second. Raises if any was refused."""
    extra = {**headers, "Content-Type": "application/json"} if body else headers
    done = subprocess.run(
        [
            "wrk", "-t", str(CONNECTIONS), "-c", str(CONNECTIONS), "-d", f"{seconds}s",
            "-s", str(HERE / "load.lua"), base, "--", method, *paths, body,
            *(f"{name}: {value}" for name, value in extra.items()),
        ],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", done.stdout)
    # The last save of the run before may still have been running: one conflict per connection.
    if "Socket errors" in done.stdout or (refused and int(refused[1]) > CONNECTIONS):
        raise RuntimeError(done.stdout)
    found = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
    assert found, done.stdout
    return float(found[1])
