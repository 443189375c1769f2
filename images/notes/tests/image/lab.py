"""Runs commands of the repository's lab, and Docker clients on its nodes.

The notes application imports nothing from outside its project: it runs the lab as a program.
LAB_SUBNET and LAB_DIR choose an instance, as for the lab itself.
"""

import ipaddress
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[4]
NOTES = ROOT / "images" / "notes"
UID = 10001


def eventually(holds: Callable[[], Any], what: str, timeout_s: float = 60) -> Any:
    """The first truthy answer; AssertionError after `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    while True:
        answer = holds()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"not within {timeout_s:.0f} s: {what}"
        time.sleep(0.2)


def lab(*arguments: str, module: str = "tests.lab", timeout_s: float = 900) -> str:
    """Runs a command of the lab; returns its output."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, f"{module} {' '.join(arguments)}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


@dataclass(frozen=True)
class Lab:
    """A running lab without services, with the image under test in its registry."""

    environment: Mapping[str, str]
    image: str

    @classmethod
    def up(cls) -> "Lab":
        lab("up")
        lab("reset")  # in whatever state the last run left it
        image = lab("notes", module="tests.lab.product_images").splitlines()[-1]
        words = shlex.split(lab("env"))
        return cls(dict(w.split("=", 1) for w in words if "=" in w), image)

    @property
    def repository(self) -> str:
        return self.image.rpartition(":")[0]

    @property
    def version(self) -> str:
        return self.image.rpartition(":")[2]

    @property
    def nodes(self) -> list[str]:
        return self.environment["LAB_NODE_NAMES"].split()

    @property
    def gateway(self) -> str:
        """The host's address for the nodes."""
        return str(ipaddress.ip_network(self.environment["LAB_SUBNET"])[1])

    def address(self, node: str) -> str:
        subnet = ipaddress.ip_network(self.environment["LAB_SUBNET"])
        return str(subnet[10 + int(node.removeprefix("node"))])

    def client_environment(self, node: str = "node1") -> dict[str, str]:
        """The environment variables for a Docker client on one node."""
        docker = {k: v for k, v in self.environment.items() if k.startswith("DOCKER_")}
        docker["DOCKER_HOST"] = docker["DOCKER_HOST"].replace("/node1/", f"/{node}/")
        return {"PATH": os.environ["PATH"], "HOME": docker["DOCKER_CONFIG"], **docker}

    def attempt(
        self, *arguments: str, node: str = "node1", text: str | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs a Docker command that may fail."""
        client = shutil.which("docker", path="/usr/bin:/bin") or "docker"
        return subprocess.run(
            [client, *arguments],
            env={**self.client_environment(node), **variables},
            input=text,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    def docker(
        self, *arguments: str, node: str = "node1", text: str | None = None, **variables: str
    ) -> str:
        """Runs a Docker command; returns its output, or raises AssertionError if it fails."""
        done = self.attempt(*arguments, node=node, text=text, **variables)
        assert done.returncode == 0, f"docker {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def inspect(self, *names: str, node: str = "node1") -> Any:
        """The first document of `docker inspect`."""
        return json.loads(self.docker("inspect", *names, node=node))[0]

    def derive(self, tag: str, *lines: str) -> str:
        """Builds an image based on the one under test and pushes it; returns its name."""
        address = f"{self.repository}:{tag}"
        dockerfile = "\n".join([f"FROM {self.image}", *lines])
        self.docker("pull", "--quiet", self.image)
        self.docker("build", "--quiet", "--tag", address, "-", text=dockerfile, DOCKER_BUILDKIT="0")
        self.docker("push", "--quiet", address)
        return address

    def on_node(self, node: str, *command: str) -> str:
        """Runs a command in a node's namespaces; returns its output."""
        return lab("run", node, "--", *command)
