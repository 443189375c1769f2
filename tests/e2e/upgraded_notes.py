"""The notes application behind one edge, and the versions of it that an upgrade may find."""

from __future__ import annotations

from dataclasses import dataclass

from tests.e2e.edge_load import Address, Load
from tests.e2e.notes_client import APP, WEB
from tests.e2e.running_operator import RunningOperator
from tests.e2e.swarm_facts import MEMBER_NODES, service, service_names, tasks_of
from tests.lab.lab import Lab

EDGE_NODE = "node1"
HTTPS = 8443
DUMP_NODE = MEMBER_NODES[-1]


@dataclass
class Notes:
    """A deployed application behind its edge, and the images that there are of it."""

    lab: Lab
    operator: RunningOperator
    images: dict[str, str]
    edge: str
    present: str = ""
    """The image in the file."""

    @property
    def member_image(self) -> str:
        return self.images["member"]

    def write(self, image: str, extra: str = "") -> None:
        """The application's file with another image, or with more under ``spec``."""
        self.present = image
        text = APP.format(image=self.images[image]).replace("  publish: host\n", "")
        self.operator.write(
            text
            + "  healthCheck: {interval: 2s, startPeriod: 12s}\n  update: {monitor: 8s}\n"
            + "  encryptionKey: {backedUp: true}\n"
            + f"  edge: {{image: {self.edge}, nodes: [{EDGE_NODE}], tls: internal, "
            + f"ports: {{http: 8080, https: {HTTPS}}}}}\n"
            + extra,
            "notes.yaml",
        )

    def load(self) -> Load:
        """Readers of a page that asks the database each time."""
        door = Address(self.lab.node(EDGE_NODE).address, HTTPS)
        return Load(door, readers=4, writers=0, read="/readyz")

    def runs(self, image: str) -> bool:
        """Return True if swarm is done and all running replicas are of this image."""
        tasks = tasks_of(self.lab, WEB)
        state = (service(self.lab, WEB).get("UpdateStatus") or {}).get("State", "")
        return (
            len(tasks) == 2
            and all(found.startswith(self.images[image]) for _, found, _ in tasks)
            and all(state == "running" for _, _, state in tasks)
            and state in {"", "completed", "rollback_completed"}
        )

    def reasons(self, action: str) -> list[str]:
        """Return the reasons for an action in the operator's log."""
        return [
            str(record.get("reason", ""))
            for record in self.operator.audit("intent")
            if str(record["action"]["key"]).startswith(action)
        ]

    def dumps(self) -> list[str]:
        """Names of the files in the dumps' volume."""
        found = self.lab.node(DUMP_NODE).docker(
            "run", "--rm", "--user", "0:0", "-v", "notes_dumps:/dumps:ro",
            "--entrypoint", "ls", self.member_image, "-1A", "/dumps",
        )  # fmt: skip
        return sorted(found.stdout.split())


def variant(lab: Lab, image: str, tag: str, change: str) -> str:
    """The image with one instruction more, under another tag in the lab's registry."""
    node = lab.manager
    node.docker("pull", "--quiet", image)
    container = node.docker("create", image).stdout.strip()
    address = f"{image.rpartition(':')[0]}:{tag}"
    node.docker("commit", "--change", change, container, address)
    node.docker("rm", container)
    node.docker("push", "--quiet", address)
    return address


def jobs(lab: Lab) -> list[str]:
    return [name for name in service_names(lab) if name.startswith("notes_dump")]
