"""Three failovers in a row, of two replicas that are never restarted.

One replica reaches the pair through the proxy, the other with both servers in its address. People
save, upload, download, import and listen all the while. Nothing acknowledged may be lost, nothing
happen twice, and nothing but 503 be answered meanwhile.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx
import pytest

from tests.failover.cluster import Cluster
from tests.failover.work import Downloader, Hearer, Saver, Uploader
from tests.replica import Client, Replica
from tests.test_pages import page, space
from tests.test_transfer import finished, zipped

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
    """The pair, two replicas, and a file that is there already."""

    cluster: Cluster
    proxied: Replica
    direct: Replica
    client: Client
    stored: str = ""
    stored_sha256: str = ""


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    cluster = Cluster()
    replicas = list[Replica]()
    try:
        cluster.leader.sql("CREATE DATABASE notes")
        for url in (cluster.proxied("notes"), cluster.direct("notes")):
            replicas.append(Replica(url, {"ORIGIN": "https://notes.example.org"}).start(wait=False))
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
            assert replica.stop() == 0
    finally:
        for replica in replicas:
            replica.end()
        cluster.remove()


@pytest.mark.parametrize("name", DISASTERS)
def test_nothing_acknowledged_is_lost(
    world: World, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    client = world.client
    home = space(client)
    both = [world.proxied, world.direct]
    savers = [Saver(replica, client.jar, page(client, home)) for replica in both]
    uploaders = [Uploader(replica, client.jar, page(client, home)) for replica in both]
    downloader = Downloader(world.proxied, client.jar, world.stored)
    hearer = Hearer(both, client.jar, hop_s=3)
    hearer.start()
    assert hearer.began.wait(10)
    for worker in (*savers, *uploaders, downloader):
        worker.start()
    job = client.post(
        f"/api/v1/spaces/{home}/imports",
        content=zipped(*[(f"page {n}.md", b"some words\n" * 20) for n in range(PAGES)]),
        headers={"content-type": "application/zip"},
    ).json()
    time.sleep(1.5)
    assert client.ok("GET", f"/api/v1/jobs/{job['id']}")["state"] == "running", "mid-job"

    begun = time.monotonic()
    ready = _watch(both, begun)
    DISASTERS[name](world.cluster)
    seconds = ready()

    for worker in (*uploaders, downloader):
        worker.finish(90)
    done = finished(client, job)
    time.sleep(1)
    for worker in savers:
        worker.finish()
    time.sleep(2)
    hearer.finish()

    assert done["state"] == "done", done
    titles = [n["title"] for n in client.ok("GET", f"/api/v1/spaces/{home}/tree")]
    assert sorted(t for t in titles if t.startswith("page ")) == sorted(
        f"page {n}" for n in range(PAGES)
    )
    for saver in savers:
        _check_saves(world.cluster, saver)
        heard = [version for node, version in hearer.saved if node == saver.node]
        assert heard == sorted(saver.acknowledged), "every save is told once, in order"
    for uploader in uploaders:
        got = client.get(f"/api/v1/attachments/{uploader.attachment}").content
        assert got == uploader.data
    assert downloader.sha256 == world.stored_sha256
    gap = max(saver.longest_gap_s for saver in savers)
    saves = sum(len(saver.acknowledged) for saver in savers)
    with capsys.disabled():
        print(
            f"\n{name}: ready again after {seconds[0]:.1f} s (by the proxy), {seconds[1]:.1f} s"
            f" (both servers in the address); longest wait of a save {gap:.1f} s; {saves} saves,"
            f" {hearer.hops} resumed streams, 2 uploads, a download and an import: nothing lost"
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


def _watch(replicas: list[Replica], begun: float) -> Callable[[], list[float]]:
    """Begins to ask whether replicas are ready; calling it waits, and tells after how many seconds
    each was so for good."""
    import threading

    lasts = [0.0 for _ in replicas]
    stop = threading.Event()

    def ask(number: int) -> None:
        while not stop.is_set():
            asked = time.monotonic()
            if httpx.get(f"{replicas[number].url}/readyz", timeout=15).status_code != 200:
                lasts[number] = time.monotonic() - begun
            time.sleep(max(0.0, 0.1 - (time.monotonic() - asked)))

    threads = [threading.Thread(target=ask, args=(n,), daemon=True) for n in range(len(replicas))]
    for thread in threads:
        thread.start()

    def wait() -> list[float]:
        deadline = time.monotonic() + 60
        while any(time.monotonic() - begun - last < 3 for last in lasts):
            assert time.monotonic() < deadline, "not ready again"
            time.sleep(0.1)
        stop.set()
        for thread in threads:
            thread.join(20)
        return lasts

    return wait
