"""Three failovers in a row, of two replicas that are never restarted.

One replica reaches the pair through the proxy, the other with both servers in its address. Clients
save, upload, download, import and listen during the failovers. No acknowledged change may be lost
or happen twice, and the only error may be 503.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.failover.cluster import Cluster
from tests.failover.work import Downloader, Hearer, Readiness, Saver, Uploader
from tests.replica import Client, Replica
from tests.test_events import Stream, listening
from tests.workspace import page, space
from tests.zips import finished, zipped

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
PAGES = 600
Disaster = Callable[[Cluster], None]
DISASTERS: dict[str, Disaster] = {
    "planned switchover": Cluster.switch_over,
    "power cut": Cluster.cut_power,
    "frozen primary": lambda cluster: cluster.freeze(12),
}


@dataclass
class World:
    """The pair, two replicas, and a file that was stored before."""

    cluster: Cluster
    proxied: Replica
    direct: Replica
    client: Client
    stored: str = ""
    stored_sha256: str = ""

    @property
    def both(self) -> list[Replica]:
        return [self.proxied, self.direct]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(Cluster().serving())
        cluster.leader.sql("CREATE DATABASE notes")
        replicas = list[Replica]()
        for url in (cluster.proxied("notes"), cluster.direct("notes")):
            replicas.append(Replica(url, {"ORIGIN": "https://notes.example.org"}).start(wait=False))
            stack.callback(replicas[-1].end)
        for replica in replicas:
            replica.wait_ready()
        ran = [n for r in replicas for line in r.lines() for n in line.get("migrations", ())]
        assert len(ran) == len(set(ran)) > 0, "each migration ran once"
        with replicas[0].client() as client:
            client.set_up()
            made = World(cluster, *replicas, client)
            uploader = Uploader(made.proxied, client.jar, page(client, space(client)))
            uploader.start()
            uploader.finish()
            made.stored, made.stored_sha256 = uploader.attachment, uploader.sha256
            yield made
        for replica in replicas:
            assert replica.process is not None
            assert replica.process.poll() is None, "a replica ended"
            assert "Traceback" not in replica.log, replica.log[-4000:]
            assert 500 not in {line.get("status") for line in replica.lines()}
            assert replica.stop() == 0


class Crowd:
    """Concurrent work in a new space: saves, uploads, a download, an import, two streams."""

    def __init__(self, world: World) -> None:
        client = world.client
        self._world = world
        self.home = space(client)
        pages = [page(client, self.home) for _ in range(4)]
        self.savers = [
            Saver(r, client.jar, node) for r, node in zip(world.both, pages[:2], strict=True)
        ]
        self.uploaders = [
            Uploader(r, client.jar, node) for r, node in zip(world.both, pages[2:], strict=True)
        ]
        self.downloader = Downloader(world.proxied, client.jar, world.stored)
        self.hearer = Hearer(world.both, client.jar, hop_s=3)
        self.job: dict[str, Any] = {}

    def begin(self) -> None:
        """Starts all workers and returns while they run."""
        client = self._world.client
        self.hearer.start()
        assert self.hearer.began.wait(10)
        for worker in (*self.savers, *self.uploaders, self.downloader):
            worker.start()
        self.job = client.post(
            f"/api/v1/spaces/{self.home}/imports",
            content=zipped(*[(f"page {n}.md", b"some words\n" * 20) for n in range(PAGES)]),
            headers={"content-type": "application/zip"},
        ).json()
        time.sleep(1.5)
        deadline = time.monotonic() + 20
        while (state := client.ok("GET", f"/api/v1/jobs/{self.job['id']}")["state"]) == "queued":
            assert time.monotonic() < deadline, "no replica takes the job"
            time.sleep(0.1)
        assert state == "running", "mid-job"
        assert all(worker.is_alive() for worker in (*self.uploaders, self.downloader)), "mid-file"

    def end(self, stream: Stream) -> None:
        """Waits for the workers that end by themselves; the others run a moment more and stop.

        It then waits until both listeners have heard of all saves.
        """
        for worker in (*self.uploaders, self.downloader):
            worker.finish(90)
        self.job = finished(self._world.client, self.job)
        time.sleep(1)
        for saver in self.savers:
            saver.finish()
        saved = [(s.node, version) for s in self.savers for version in s.acknowledged]
        stream.wait("page.saved", len(saved), 20)
        deadline = time.monotonic() + 20
        while not set(saved) <= set(self.hearer.saved):
            assert time.monotonic() < deadline, "a save is not told to the resuming listener"
            time.sleep(0.1)
        time.sleep(1)  # an event that is sent twice comes now
        self.hearer.finish()


@pytest.mark.parametrize("name", DISASTERS)
def test_nothing_acknowledged_is_lost(
    world: World, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    crowd = Crowd(world)
    with listening(world.client) as stream:
        crowd.begin()
        with Readiness(world.both) as readiness:
            DISASTERS[name](world.cluster)
            ready_s = readiness.wait()
        crowd.end(stream)
        for saver in crowd.savers:
            _check_saves(world.cluster, saver)
            _check_heard(saver, crowd.hearer, stream)
    _check_import(world.client, crowd)
    for uploader in crowd.uploaders:
        got = world.client.get(f"/api/v1/attachments/{uploader.attachment}").content
        assert got == uploader.data
    assert crowd.downloader.sha256 == world.stored_sha256
    gap = max(saver.longest_gap_s for saver in crowd.savers)
    saves = sum(len(saver.acknowledged) for saver in crowd.savers)
    with capsys.disabled():
        print(
            f"\n{name}: ready again after {ready_s[0]:.1f} s (by the proxy), {ready_s[1]:.1f} s"
            f" (both servers in the address); longest wait of a save {gap:.1f} s; {saves} saves,"
            f" {crowd.hearer.hops} resumed streams, one that was never hung up, 2 uploads, a"
            " download and an import: nothing lost"
        )


def _check_saves(cluster: Cluster, saver: Saver) -> None:
    rows = cluster.leader.sql(
        f"SELECT version, doc::text FROM revisions WHERE node_id = '{saver.node}' AND version > 1",
        "notes",
    )
    stored = {int(str(version)): str(doc) for version, doc in rows}
    for version, text in saver.acknowledged.items():
        assert text in stored.get(version, ""), f"the save of version {version} was lost"
    assert sorted(stored) == sorted(saver.acknowledged), "a save happened twice"


def _check_heard(saver: Saver, hearer: Hearer, stream: Stream) -> None:
    """Checks that every save was sent once and in order to both listeners."""
    told = sorted(saver.acknowledged)
    assert [version for node, version in hearer.saved if node == saver.node] == told
    kept = [
        event["data"]["version"]
        for event in stream.events
        if event["event"] == "page.saved" and event["data"]["node_id"] == saver.node
    ]
    assert kept == told


def _check_import(client: Client, crowd: Crowd) -> None:
    assert crowd.job["state"] == "done", crowd.job
    titles = [n["title"] for n in client.ok("GET", f"/api/v1/spaces/{crowd.home}/tree")]
    wanted = sorted(f"page {n}" for n in range(PAGES))
    assert sorted(t for t in titles if t.startswith("page ")) == wanted
