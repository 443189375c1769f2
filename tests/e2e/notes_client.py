"""The notes application from outside: whether each replica serves, and pages written through it.

Speaks HTTP to the nodes' published ports as a proxy would. A write counts only once it was
acknowledged, and is looked for afterwards through whoever serves then.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import httpx

from tests.e2e.swarm_facts import eventually, service, tasks_of
from tests.lab.lab import Lab
from tests.support import web

PORT = 3000
HOST = "notes.example.org"
WEB = "notes_web"
"""The service of the application's replicas."""
QUICK = "  healthCheck: {interval: 2s, retries: 8}\n  update: {monitor: 15s}\n"
"""A replica is found healthy sooner, and an update of both is over sooner."""
ADMIN = {"email": "ada@example.org", "password": "correct horse battery staple"}
APP = """\
apiVersion: queenright/v1alpha1
kind: NotesApp
metadata: {{name: notes}}
spec:
  image: {image}
  origin: https://notes.example.org
  database: {{cluster: main}}
  publish: host
"""


def app_manifest(image: str, extra: str = "") -> str:
    """Two replicas on the nodes' own ports; ``extra`` is further YAML under ``spec``."""
    return APP.format(image=image) + extra


def replica_nodes(lab: Lab) -> list[str]:
    """Nodes on which swarm says that a replica runs."""
    return sorted(node for node, _, state in tasks_of(lab, WEB) if state == "running")


def readiness(lab: Lab, node: str) -> int:
    """Return the status of a node's replica on /readyz; 0 without an answer."""
    try:
        url = f"http://{lab.node(node).address}:{PORT}/readyz"
        return web.get(url, timeout=2).status_code
    except httpx.HTTPError:
        return 0


def is_served(lab: Lab, replicas: int = 2) -> bool:
    """Return True if every replica runs and is ready."""
    nodes = replica_nodes(lab)
    return len(nodes) == replicas and all(readiness(lab, node) == httpx.codes.OK for node in nodes)


def ready_nodes(lab: Lab, among: Sequence[str]) -> list[str]:
    return [node for node in among if readiness(lab, node) == httpx.codes.OK]


def secrets_of(lab: Lab, name: str) -> dict[str, str]:
    """Names of a service's secrets by the file that each is mounted as."""
    mounted = service(lab, name)["Spec"]["TaskTemplate"]["ContainerSpec"].get("Secrets") or []
    return {item["File"]["Name"]: item["SecretName"] for item in mounted}


class Visitor:
    """A browser as a proxy shows it to a replica: the main site's host, and a cookie jar."""

    def __init__(self, lab: Lab, nodes: Sequence[str]) -> None:
        self._addresses = [f"http://{lab.node(node).address}:{PORT}" for node in nodes]
        self._turn = 0
        self._cookies: dict[str, str] = {}

    def request(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """One try at the present node; the next one goes elsewhere if nobody answers."""
        headers = {"host": HOST, "origin": f"https://{HOST}", "cookie": self._cookie_header()}
        try:
            response = web.request(
                method, self._addresses[self._turn] + path, json=body, headers=headers,
                timeout=3,
            )  # fmt: skip
        except httpx.HTTPError:
            self.elsewhere()
            raise
        for line in response.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            self._cookies[name] = value
        return response

    def _cookie_header(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self._cookies.items())

    def elsewhere(self) -> None:
        self._turn = (self._turn + 1) % len(self._addresses)

    def sign_in(self) -> Visitor:
        """Sign in as the administrator, whom the first request creates."""
        self.request("POST", "/api/v1/setup", {**ADMIN, "name": "Ada"})
        answer = self.request("POST", "/api/v1/session", ADMIN)
        assert answer.status_code == httpx.codes.OK, answer.text
        return self


class PageWriter:
    """Writes pages without rest, and knows which of them were acknowledged."""

    def __init__(self, lab: Lab, nodes: Sequence[str]) -> None:
        self.acknowledged: dict[str, str] = {}
        self.at: list[float] = []
        self._visitor = Visitor(lab, nodes).sign_in()
        space = {"slug": f"space-{time.monotonic_ns()}", "name": "A space"}
        made = self._visitor.request("POST", "/api/v1/spaces", space)
        assert made.status_code == httpx.codes.CREATED, made.text
        self._path = f"/api/v1/spaces/{made.json()['id']}/nodes"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> PageWriter:
        self._thread.start()
        eventually(lambda: self.acknowledged, "a first page")
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(15)

    def _write(self) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            title = f"page {number}"
            try:
                answer = self._visitor.request("POST", self._path, {"title": title})
            except httpx.HTTPError:
                continue
            if answer.status_code == httpx.codes.CREATED:
                self.acknowledged[answer.json()["id"]] = title
                self.at.append(time.monotonic())
            elif answer.is_server_error:
                self._visitor.elsewhere()
            self._stop.wait(0.05)

    def longest_gap_s(self) -> float:
        pairs = zip(self.at, self.at[1:], strict=False)
        return max((later - earlier for earlier, later in pairs), default=0.0)

    def lost(self) -> list[str]:
        """Acknowledged pages that are not there."""
        found = []
        for page, title in self.acknowledged.items():
            answer = self._visitor.request("GET", f"/api/v1/nodes/{page}")
            if answer.status_code != httpx.codes.OK or answer.json()["title"] != title:
                found.append(title)
        return found
