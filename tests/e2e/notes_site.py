"""The notes application behind two edges: its file, its requests, and load while it changes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import httpx

from tests.e2e.edge_load import Address, Load
from tests.e2e.notes_client import ADMIN, HOST, WEB, replica_nodes
from tests.e2e.running_operator import RunningOperator
from tests.e2e.swarm_facts import eventually, service
from tests.lab.lab import Lab

EDGE_NODES = ("node2", "node3")
LOAD_S = float(os.environ.get("QUEENRIGHT_LOAD_S", "20"))
APP = """\
apiVersion: queenright/v1alpha1
kind: NotesApp
metadata: {{name: notes}}
spec:
  image: {image}
  origin: https://{host}
  database: {{cluster: main}}
  maxAttachment: {attachment}
  encryptionKey: {{backedUp: true}}
  healthCheck: {{interval: 2s, timeout: 6s, startPeriod: 8s, retries: 2}}
  update: {{monitor: 8s}}
  upgrade: {{dump: none}}
  edge:
    image: {edge}
    nodes: [{nodes}]
    tls: {tls}
    retry: {retry}
"""
SIGN_ON = """\
  oidc:
    issuer: {issuer}
    clientId: notes
    clientSecret: notes_oidc_secret
    groupsClaim: groups
    adminGroup: admins
"""


@dataclass
class Site:
    """The application behind its edges."""

    lab: Lab
    operator: RunningOperator
    images: dict[str, str]
    #: Headers of a signed-in administrator, and where a page is made.
    headers: dict[str, str]
    pages: str = ""
    #: The identity provider's URL; without one there is no single sign-on.
    sign_on: str = ""

    def write(
        self, image: str = "", attachment: str = "1G", tls: str = "internal", retry: str = "10s"
    ) -> None:
        text = APP.format(
            retry=retry,
            tls=tls,
            image=image or self.images["notes"],
            host=HOST,
            attachment=attachment,
            edge=self.images["edge"],
            nodes=", ".join(EDGE_NODES),
        )
        sign_on = SIGN_ON.format(issuer=self.sign_on) if self.sign_on else ""
        self.operator.write(text + sign_on, "notes.yaml")

    def request(self, method: str, path: str, node: str = "node2", **more: Any) -> httpx.Response:
        """One request through a node's edge."""
        with httpx.Client(verify=False, trust_env=False, timeout=10) as client:  # noqa: S501
            # Its CA is the edge's own.
            return client.request(
                method,
                f"https://{self.lab.node(node).address}{path}",
                headers={"host": HOST, "origin": f"https://{HOST}", **self.headers},
                extensions={"sni_hostname": HOST},
                **more,
            )

    def is_served(self) -> bool:
        try:
            found = [self.request("GET", "/readyz", node).status_code for node in EDGE_NODES]
        except httpx.HTTPError:
            return False
        return found == [200, 200] and len(replica_nodes(self.lab)) == 2

    def sign_in(self) -> None:
        self.request("POST", "/api/v1/setup", json={**ADMIN, "name": "Ada"})
        answer = self.request("POST", "/api/v1/session", json=ADMIN)
        assert answer.status_code == 200, answer.text
        self.headers["cookie"] = answer.headers["set-cookie"].partition(";")[0]
        space = {"slug": f"space-{time.monotonic_ns()}", "name": "A space"}
        made = self.request("POST", "/api/v1/spaces", json=space)
        assert made.status_code == 201, made.text
        self.pages = f"/api/v1/spaces/{made.json()['id']}/nodes"

    def update(self, name: str = WEB) -> dict[str, Any]:
        """Return swarm's report of a service's last update."""
        return dict(service(self.lab, name).get("UpdateStatus") or {})

    def image(self) -> str:
        """The image that the replicas' service asks for, without its digest."""
        found: str = service(self.lab, WEB)["Spec"]["TaskTemplate"]["ContainerSpec"]["Image"]
        return found.partition("@")[0]

    def under_load(
        self, change: Callable[[], None], is_over: Callable[[], object], *, knows_both: bool = False
    ) -> list[Load]:
        """Load at each edge from before the change until it is over.

        ``knows_both``: a client whose edge refuses it goes to the other one.
        """
        addresses = [Address(self.lab.node(node).address) for node in EDGE_NODES]
        loads = [
            Load(
                address,
                also=other if knows_both else None,
                host=HOST,
                readers=3,
                writers=1,
                read="/api/v1/spaces",
                write=self.pages,
                body=b'{"title": "A page"}',
                headers={
                    "Content-Type": "application/json",
                    "Origin": f"https://{HOST}",
                    **self.headers,
                },
                pause_s=0.02,
            )
            for address, other in zip(addresses, reversed(addresses), strict=True)
        ]
        with ExitStack() as stack:
            for load in loads:
                stack.enter_context(load)
            begun = time.monotonic()
            time.sleep(2)
            change()
            eventually(is_over, "the end of the update", 240)
            time.sleep(max(3.0, LOAD_S - (time.monotonic() - begun)))
        for load in loads:
            print(load.summary)
        return loads
