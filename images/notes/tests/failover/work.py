"""Client work during a failover; each worker records what the application acknowledged."""

import contextlib
import hashlib
import json
import random
import threading
import time
from typing import Any

import httpx

from notes.files.chunks import CHUNK_BYTES
from tests.replica import Client, Replica, get
from tests.uploads import pieces, send


class Worker(threading.Thread):
    """Works in its own thread; `error` is the exception raised there."""

    def __init__(self, replica: Replica, jar: dict[str, str]) -> None:
        super().__init__(daemon=True)
        self.replica = replica
        self.jar = jar
        self.stop = threading.Event()
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            with self.replica.client() as client:
                client.timeout = httpx.Timeout(60)
                client.jar.update(self.jar)
                self.work(client)
        except BaseException as error:  # noqa: BLE001 - raised again by finish()
            self.error = error

    def work(self, client: Client) -> None:
        raise NotImplementedError

    def finish(self, timeout_s: float = 60) -> None:
        self.stop.set()
        self.join(timeout_s)
        assert not self.is_alive(), type(self).__name__
        if self.error is not None:
            raise self.error


def sure(client: Client, method: str, url: str, **more: Any) -> httpx.Response:
    """Repeats a request while the answer is 503; raises for any other error."""
    deadline = time.monotonic() + 60
    while True:
        answer = client.request(method, url, **more)
        if answer.status_code != 503:
            assert answer.is_success, f"{answer.status_code} {answer.text}"
            return answer
        assert answer.headers["retry-after"], "a 503 has retry-after"
        assert time.monotonic() < deadline, "the database stayed away"
        time.sleep(0.1)


class Saver(Worker):
    """Saves one page repeatedly; a repeated request is the same save."""

    def __init__(self, replica: Replica, jar: dict[str, str], node: str) -> None:
        super().__init__(replica, jar)
        self.node = node
        self.acknowledged: dict[int, str] = {}
        self.longest_gap_s = 0.0

    def work(self, client: Client) -> None:
        version, last = 1, time.monotonic()
        while not self.stop.is_set():
            text = f"marker {random.randbytes(8).hex()}"
            body = {"base_version": version, "markdown": text + "\n"}
            version = sure(client, "PUT", f"/api/v1/nodes/{self.node}", json=body).json()["version"]
            self.acknowledged[version] = text
            now = time.monotonic()
            self.longest_gap_s = max(self.longest_gap_s, now - last)
            last = now
            time.sleep(0.03)


class Uploader(Worker):
    """Uploads a file chunk by chunk, slowly enough for a failover in between."""

    def __init__(self, replica: Replica, jar: dict[str, str], node: str) -> None:
        super().__init__(replica, jar)
        self.node = node
        self.data = random.randbytes(8 * CHUNK_BYTES + 4321)
        self.attachment = ""

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    def work(self, client: Client) -> None:
        url = f"/api/v1/nodes/{self.node}/uploads"
        body = {"name": "big.bin", "size": len(self.data), "sha256": self.sha256}
        upload = sure(client, "POST", url, json=body).json()["id"]
        stored = set[int]()
        for number, part in pieces(self.data):
            while True:
                answer = send(client, self.node, upload, number, part)
                if answer.status_code != 503:
                    break
                time.sleep(0.1)
            assert answer.is_success, f"{answer.status_code} {answer.text}"
            stored.add(number)
            if answer.status_code == 201:
                assert answer.json()["sha256"] == self.sha256
                self.attachment = upload
                return
            assert not stored & set(answer.json()["missing"]), "an acknowledged chunk was lost"
            time.sleep(0.5)
        raise AssertionError("the last chunk did not make the attachment")


class Downloader(Worker):
    """Downloads slowly, from before the failover until after it."""

    def __init__(self, replica: Replica, jar: dict[str, str], attachment: str) -> None:
        super().__init__(replica, jar)
        self.attachment = attachment
        self.sha256 = ""

    def work(self, client: Client) -> None:
        whole = hashlib.sha256()
        with client.stream("GET", f"/api/v1/attachments/{self.attachment}") as answer:
            assert answer.status_code == 200
            for part in answer.iter_raw(1024 * 1024):
                whole.update(part)
                time.sleep(0.15)
        self.sha256 = whole.hexdigest()


class Hearer(Worker):
    """Listens to events; every `hop_s` seconds resumes on the next replica with Last-Event-ID."""

    def __init__(self, replicas: list[Replica], jar: dict[str, str], hop_s: float) -> None:
        super().__init__(replicas[0], jar)
        self.replicas = replicas
        self.hop_s = hop_s
        self.saved: list[tuple[str, int]] = []
        self.hops = 0
        self.began = threading.Event()
        self._last = ""

    def work(self, client: Client) -> None:
        while not self.stop.is_set():
            with self.replicas[self.hops % len(self.replicas)].client() as own:
                own.jar.update(client.jar)
                self._listen(own)
            self.hops += 1

    def _listen(self, client: Client) -> None:
        headers = {"last-event-id": self._last} if self._last else {}
        until = time.monotonic() + self.hop_s
        # Without data this connection times out (heartbeats come every 15 s); the next one resumes.
        with contextlib.suppress(httpx.ReadTimeout):
            quiet = httpx.Timeout(60, read=3)
            with client.stream("GET", "/api/v1/events", headers=headers, timeout=quiet) as answer:
                if answer.status_code == 503:
                    time.sleep(0.2)
                    return
                assert answer.status_code == 200
                pending = b""
                for part in answer.iter_raw():
                    pending += part
                    *frames, pending = pending.split(b"\n\n")
                    for frame in frames:
                        self._take(frame.decode())
                    if self.stop.is_set() or time.monotonic() > until:
                        return

    def _take(self, frame: str) -> None:
        fields = dict(line.split(": ", 1) for line in frame.splitlines() if ": " in line)
        if "id" not in fields:
            return
        self._last = fields["id"]
        self.began.set()
        assert fields["event"] != "reset", "the stream lost its place"
        if fields["event"] == "page.saved":
            data = json.loads(fields["data"])
            self.saved.append((data["node_id"], data["version"]))


class Readiness:
    """Checks ten times a second if replicas are ready, from entry to exit."""

    def __init__(self, replicas: list[Replica]) -> None:
        self._replicas = replicas
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._ask, args=(n,), daemon=True) for n in range(len(replicas))
        ]

    def __enter__(self) -> "Readiness":
        self._begun = time.monotonic()
        self._unready_s = [0.0 for _ in self._replicas]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(20)

    def wait(self, steady_s: float = 3) -> list[float]:
        """Waits until each was ready for `steady_s`; the seconds from entry to its last 503."""
        deadline = time.monotonic() + 60
        while any(self._age_s() - last < steady_s for last in self._unready_s):
            assert time.monotonic() < deadline, "not ready again"
            time.sleep(0.1)
        return list(self._unready_s)

    def _age_s(self) -> float:
        return time.monotonic() - self._begun

    def _ask(self, number: int) -> None:
        url = f"{self._replicas[number].url}/readyz"
        while not self._over.is_set():
            asked = time.monotonic()
            if get(url, timeout=15).status_code != 200:
                self._unready_s[number] = self._age_s()
            time.sleep(max(0.0, 0.1 - (time.monotonic() - asked)))
