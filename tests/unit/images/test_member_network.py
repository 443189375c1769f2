"""A member's questions over the network: its partners at the first start, its own health."""

import http.server
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from images.member.queenright_member.health import is_rewinding, main, probe
from images.member.queenright_member.partners import await_partners

IMAGE = Path(__file__).parents[3] / "images/member"


class _Answer(http.server.BaseHTTPRequestHandler):
    body = b""

    def do_GET(self) -> None:
        is_well = self.path == "/liveness" or (self.path == "/health" and not self.body)
        self.send_response(200 if is_well else 503)
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def rest() -> Iterator[int]:
    server = http.server.HTTPServer(("127.0.0.1", 0), _Answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def free_port() -> int:
    with socket.socket() as probed:
        probed.bind(("127.0.0.1", 0))
        port: int = probed.getsockname()[1]
    return port


def test_health_is_the_status_of_the_rest_api(rest: int) -> None:
    assert probe(rest) == ("200", "")
    assert probe(rest, "/other") == ("503", "")


def test_a_member_that_is_well_loads_little(rest: int) -> None:
    """A check runs every ten seconds; the modules that it loads are most of its processor time."""
    asked = f"import sys; sys.argv[1:] = [{str(rest)!r}]; sys.path.append({str(IMAGE)!r})\n"
    asked += "from queenright_member import health\ntry: health.main()\n"
    asked += "finally: print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-IS", "-c", asked], capture_output=True, text=True, check=True
    )
    status, modules = ran.stdout.splitlines()
    assert status == "200"
    loaded = {"json", "pathlib", "re", "typing", "urllib"} & {*modules.split()}
    assert not loaded


@pytest.mark.parametrize(
    ("body", "flags", "status"),
    [
        (b'{"state": "creating replica"}', ["--or-starting"], 0),
        (b'{"state": "starting", "role": "replica"}', ["--or-starting"], 0),
        (b'{"state": "creating replica"}', [], 1),
        (b'{"state": "stopped"}', ["--or-starting"], 1),
        (b'{"state": "crashed"}', ["--or-starting"], 1),
        (b'{"state": ["starting"]}', ["--or-starting"], 1),
        (b"starting", ["--or-starting"], 1),
        (b'["starting"]', ["--or-starting"], 1),
    ],
)
def test_a_member_that_starts_is_healthy_where_the_file_says_so(
    rest: int,
    monkeypatch: pytest.MonkeyPatch,
    body: bytes,
    flags: list[str],
    status: int,
) -> None:
    monkeypatch.setattr(_Answer, "body", body)
    monkeypatch.setattr("sys.argv", ["healthcheck", str(rest), *flags])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == status


def ended_process() -> str:
    """Return the number of a process that has ended."""
    child = subprocess.Popen(["true"])
    child.wait()
    return str(child.pid)


@pytest.mark.parametrize(
    ("runs", "flags", "status"),
    [(True, ["--or-starting"], 0), (False, ["--or-starting"], 1), (True, [], 1)],
    ids=["under way", "ended in the middle", "by the contract"],
)
def test_a_former_leader_that_is_rewound_is_healthy_where_the_file_says_so(
    rest: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    flags: list[str],
    *,
    runs: bool,
    status: int,
) -> None:
    """Swarm would else end the container, and a rewind that is ended costs a whole copy."""
    note = tmp_path / "rewind"
    note.write_text(str(os.getpid()) if runs else ended_process())
    monkeypatch.setattr("images.member.queenright_member.health.REWIND", note)
    monkeypatch.setattr(_Answer, "body", b'{"state": "stopped"}')
    monkeypatch.setattr("sys.argv", ["healthcheck", str(rest), *flags])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == status


@pytest.mark.parametrize("text", [None, "", "of a former image"])
def test_a_note_without_a_process_is_no_rewind(tmp_path: Path, text: str | None) -> None:
    note = tmp_path / "rewind"
    if text is not None:
        note.write_text(text)
    assert not is_rewinding(str(note))


def test_no_answer_is_told_in_words() -> None:
    assert "no answer on port" in probe(free_port())[0]


def test_a_first_start_waits_until_the_smaller_address_listens(tmp_path: Path) -> None:
    port = free_port()
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    timer = threading.Timer(0.2, listener.listen)
    timer.start()
    begun = time.monotonic()
    await_partners("127.0.0.9:1", [f"127.0.0.1:{port}"], tmp_path, limit_s=60)
    waited = time.monotonic() - begun
    timer.join()
    listener.close()
    assert 0.15 < waited < 30


def test_the_wait_is_bounded(tmp_path: Path) -> None:
    begun = time.monotonic()
    await_partners("127.0.0.9:1", [f"127.0.0.1:{free_port()}"], tmp_path, limit_s=0.2)
    assert 0.2 <= time.monotonic() - begun < 30


@pytest.mark.parametrize("own", ["127.0.0.0:1", "127.0.0.9:1"])
def test_neither_the_smallest_address_nor_a_former_member_waits(tmp_path: Path, own: str) -> None:
    if own == "127.0.0.9:1":
        (tmp_path / f"{own}.journal").touch()
    begun = time.monotonic()
    await_partners(own, [f"127.0.0.1:{free_port()}"], tmp_path, limit_s=60)
    assert time.monotonic() - begun < 30
