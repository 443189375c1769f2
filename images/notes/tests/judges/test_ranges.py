"""Compares the answers to range requests (RFC 9110 §14) with those of Caddy's file server.

Caddy serves the same bytes; for each row of the table both must give the same status,
Content-Range, length and content. If the standard leaves a choice (several ranges, which may be
answered with the whole file), the row says so.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from notes.files.chunks import CHUNK_BYTES
from tests.judges.programs import answers, process
from tests.postgres import free_port
from tests.replica import Client, Replica, get
from tests.uploads import opened, pieces, send
from tests.workspace import page, space

pytestmark = pytest.mark.judge
SIZE = 2 * CHUNK_BYTES + 777
ROWS = [
    "bytes=0-0",
    "bytes=0-",
    "bytes=1-1",
    "bytes=5-4",
    "bytes=-1",
    "bytes=-777",
    "bytes=-778",
    f"bytes=-{SIZE}",
    f"bytes=-{SIZE + 1}",
    f"bytes={CHUNK_BYTES - 1}-{CHUNK_BYTES}",
    f"bytes={CHUNK_BYTES}-{2 * CHUNK_BYTES - 1}",
    f"bytes={CHUNK_BYTES - 1}-{2 * CHUNK_BYTES}",
    f"bytes={SIZE - 1}-",
    f"bytes={SIZE - 1}-{SIZE + 100}",
    f"bytes={SIZE}-",
    f"bytes={SIZE}-{SIZE}",
    f"bytes=0-{SIZE - 1}",
    f"bytes=0-{SIZE}",
    "bytes=0-99999999999999",
]
IGNORED = ["bytes=a-b", "bytes=", "bytes=-", "lines=0-1", "bytes 0-1", "bytes=1-0x2", "bytes=--1"]


@pytest.fixture(scope="module")
def data() -> bytes:
    return os.urandom(SIZE)


@pytest.fixture(scope="module")
def judge(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("served")
    (folder / "file.bin").write_bytes(data)
    url = f"http://127.0.0.1:{free_port()}"
    with process(
        "caddy", "file-server", "--root", str(folder), "--listen", url.removeprefix("http://"),
        until=answers(f"{url}/file.bin"), env={"HOME": str(folder), "PATH": "/usr/bin"},
    ):  # fmt: skip
        yield f"{url}/file.bin"


@pytest.fixture(scope="module")
def ask(replica: Replica, data: bytes) -> Iterator[Callable[[str], httpx.Response]]:
    with replica.client() as client:
        client.log_in()
        stored = _store(client, data)
        yield lambda text: client.get(
            f"/api/v1/attachments/{stored}",
            headers={"range": text, "accept-encoding": "identity"},
        )


def _store(client: Client, data: bytes) -> str:
    home = page(client, space(client))
    upload: str = opened(client, home, data)["id"]
    for number, part in pieces(data):
        send(client, home, upload, number, part)
    return upload


@pytest.mark.parametrize("text", ROWS)
def test_a_range_is_answered_as_the_judge_answers_it(
    judge: str, ask: Callable[[str], httpx.Response], data: bytes, text: str
) -> None:
    theirs = get(judge, headers={"range": text, "accept-encoding": "identity"})
    ours = ask(text)
    if theirs.status_code == 416 and text == "bytes=5-4":
        # Invalid, not unsatisfiable (§14.1.1): to be ignored, although Caddy refuses it.
        assert (ours.status_code, ours.content) == (200, data)
        return
    assert ours.status_code == theirs.status_code
    assert ours.headers.get("content-range") == theirs.headers.get("content-range")
    if ours.status_code != 416:
        assert ours.headers["content-length"] == theirs.headers["content-length"]
        assert ours.content == theirs.content


@pytest.mark.parametrize("text", IGNORED)
def test_what_is_no_range_is_ignored(
    ask: Callable[[str], httpx.Response], data: bytes, text: str
) -> None:
    got = ask(text)
    assert (got.status_code, got.content) == (200, data)


def test_several_ranges_may_be_answered_with_the_whole(
    ask: Callable[[str], httpx.Response], data: bytes
) -> None:
    got = ask("bytes=0-1,5-6")
    assert (got.status_code, got.content) == (200, data)
