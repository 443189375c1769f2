"""A real pair behind a real proxy fails over in the midst of everything."""

import hashlib
import itertools
import random
import threading
import time
from collections.abc import Iterator

import httpx
import pytest

from notes.files.chunks import CHUNK_BYTES
from tests.pair import Pair
from tests.replica import Client, Replica
from tests.test_events import listening
from tests.test_files import opened, pieces, send
from tests.test_pages import page, space
from tests.test_transfer import finished, zipped

pytestmark = pytest.mark.slow
_numbers = itertools.count(1)


@pytest.fixture
def standing() -> Iterator[tuple[Pair, Replica, Client]]:
    pair = Pair()
    replica = None
    try:
        name = f"f{next(_numbers)}"
        pair.primary.sql(f"CREATE DATABASE {name}")
        replica = Replica(pair.url(name), {"ORIGIN": "https://notes.example.org"}).start()
        with replica.client() as client:
            client.set_up()
            yield pair, replica, client
        assert replica.process is not None
        assert replica.process.poll() is None, "no restart was needed"
        assert "Traceback" not in replica.log, replica.log[-4000:]
        statuses = {line["status"] for line in replica.lines() if "status" in line}
        assert 500 not in statuses
    finally:
        if replica is not None:
            replica.end()
        pair.remove()


def unready(replica: Replica, begun: float) -> float:
    """Seconds from `begun` until the replica is ready again."""
    while httpx.get(f"{replica.url}/readyz", timeout=10).status_code != 200:
        assert time.monotonic() - begun < 40
        time.sleep(0.05)
    return time.monotonic() - begun


def test_everything_in_flight_survives_a_failover(  # noqa: C901 - four things at once
    standing: tuple[Pair, Replica, Client], capsys: pytest.CaptureFixture[str]
) -> None:
    pair, replica, client = standing
    home = space(client)
    made = page(client, home)
    data = random.Random(7).randbytes(10 * CHUNK_BYTES + 77)
    stored = opened(client, made, data)["id"]
    for number, part in pieces(data):
        send(client, made, stored, number, part)
    content = zipped(*[(f"p{n}.md", b"words\n" * 20) for n in range(400)])
    stop = threading.Event()
    failed = list[str]()
    saved = [1]
    uploaded = list[str]()
    downloads = list[str]()
    gaps = list[float]()

    def guarded(work: object) -> object:
        def run() -> None:
            with replica.client() as own:
                own.jar.update(client.jar)
                try:
                    work(own)  # type: ignore[operator]
                except Exception as error:  # noqa: BLE001 - told by the main thread
                    failed.append(repr(error))

        return run

    def save(own: Client) -> None:
        """Saves on and on; what was acknowledged has to be there."""
        last = time.monotonic()
        while not stop.is_set():
            body = {"base_version": saved[-1], "markdown": f"version {saved[-1] + 1}\n"}
            answer = own.put(f"/api/v1/nodes/{made}", json=body)
            if answer.status_code == 200:
                saved.append(answer.json()["version"])
                gaps.append(time.monotonic() - last)
                last = time.monotonic()
            else:
                assert answer.status_code == 503, answer.text
                assert answer.headers["retry-after"]
                time.sleep(0.1)

    def upload(own: Client) -> None:
        other = opened(own, made, data, sha256=hashlib.sha256(data).hexdigest())["id"]
        for number, part in pieces(data):
            while (answer := send(own, made, other, number, part)).status_code >= 500:
                assert answer.status_code == 503
                time.sleep(0.2)
            assert answer.is_success, answer.text
            time.sleep(0.3)
        uploaded.append(other)

    def download(own: Client) -> None:
        whole = hashlib.sha256()
        with own.stream("GET", f"/api/v1/attachments/{stored}") as answer:
            for part in answer.iter_raw(1024 * 1024):
                whole.update(part)
                time.sleep(0.06)
        downloads.append(whole.hexdigest())

    with listening(client) as stream:
        threads = [
            threading.Thread(target=guarded(work))  # type: ignore[arg-type]
            for work in (save, upload, download)
        ]
        for thread in threads:
            thread.start()
        job = client.post(
            f"/api/v1/spaces/{home}/imports",
            content=content,
            headers={"content-type": "application/zip"},
        ).json()
        time.sleep(1.0)
        begun = time.monotonic()
        pair.fail_over()
        ready_s = unready(replica, begun)
        for thread in threads[1:]:
            thread.join(60)
        done = finished(client, job)
        time.sleep(0.5)
        stop.set()
        threads[0].join(30)
        assert not failed
        last = client.ok("GET", f"/api/v1/nodes/{made}")
        assert last["version"] == saved[-1]
        versions = [
            r["version"] for r in client.ok("GET", f"/api/v1/nodes/{made}/revisions?limit=200")
        ]
        assert set(saved) <= set(versions) or len(saved) > 200
        assert done["state"] == "done", done
        titles = [n["title"] for n in client.ok("GET", f"/api/v1/spaces/{home}/tree")]
        assert len(titles) == len(set(titles)) == 401
        total = hashlib.sha256(data).hexdigest()
        assert downloads == [total]
        got = client.get(f"/api/v1/attachments/{uploaded[0]}").content
        assert hashlib.sha256(got).hexdigest() == total
        seen = stream.wait("page.saved", len(saved) - 1, 30)
        assert [e["data"]["version"] for e in seen] == list(range(2, saved[-1] + 1))
    with capsys.disabled():
        print(
            f"\nfailover: ready again after {ready_s:.1f} s (1 s of it until the promotion);"
            f" longest wait of a save {max(gaps):.1f} s; {len(saved)} saves, none lost"
        )


def test_a_server_that_became_a_standby_is_a_dead_connection(
    standing: tuple[Pair, Replica, Client],
) -> None:
    """A demoted primary still answers; whoever stayed with it could never write again."""
    pair, replica, client = standing
    home = space(client)
    made = page(client, home)
    # Restarted as a standby of nobody: it accepts connections, and refuses to write.
    primary = pair.primary
    pair.standby.kill()
    primary.sql("ALTER SYSTEM RESET synchronous_standby_names")
    primary.sql("SELECT pg_reload_conf()")
    client.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "title": "before"})
    primary.sql("ALTER SYSTEM SET default_transaction_read_only = on")
    primary.sql("SELECT pg_reload_conf()")
    deadline = time.monotonic() + 10
    while httpx.get(f"{replica.url}/readyz", timeout=10).status_code != 503:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    refused = client.put(f"/api/v1/nodes/{made}", json={"base_version": 2, "title": "during"})
    assert refused.status_code == 503
    primary.sql("ALTER SYSTEM RESET default_transaction_read_only")
    primary.sql("SELECT pg_reload_conf()")
    replica.wait_ready(15)
    client.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 2, "title": "after"})


def test_a_database_away_for_long_needs_no_restart(
    standing: tuple[Pair, Replica, Client],
) -> None:
    pair, replica, client = standing
    home = space(client)
    made = page(client, home)
    pair.standby.kill()
    pair.primary.sql("ALTER SYSTEM RESET synchronous_standby_names")
    pair.primary.kill()
    time.sleep(12)  # longer than any single request waits
    assert client.get(f"/api/v1/nodes/{made}").status_code == 503
    assert httpx.get(f"{replica.url}/healthz").status_code == 200
    pair.primary.start()
    took = replica.wait_ready(15)
    assert took < 10
    with listening(client) as stream:
        client.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "title": "back"})
        stream.wait("page.saved")
