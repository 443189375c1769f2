"""The operator as a swarm service, deployed by the stack file that users deploy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running_operator import ROOT
from tests.e2e.swarm_facts import container_of, eventually, is_whole, quick_manifest, service
from tests.lab.docker_client import docker_command
from tests.lab.lab import Lab
from tests.lab.product_images import publish

pytestmark = [pytest.mark.lab, pytest.mark.images, pytest.mark.timeout(600)]

OPERATOR = "queenright_operator"


def status(lab: Lab) -> dict[str, Any]:
    """Return the output of ``queenright status --json`` inside the operator's container."""
    container = container_of(lab.manager, OPERATOR)
    if not container:
        return {}
    answer = lab.manager.docker(
        "exec", container, "operator-entrypoint", "status", "--json", check=False
    )
    try:
        found: dict[str, Any] = json.loads(answer.stdout)
    except ValueError:
        return {}
    return found


def test_the_stack_file_deploys_an_unprivileged_operator_that_converges(
    lab: Lab, images: dict[str, str], tmp_path: Path
) -> None:
    lab.reset()
    image = publish(lab.registry, ["operator"], lab.settings)["operator"]
    desired = tmp_path / "desired"
    desired.mkdir()
    (desired / "cluster.yaml").write_text(quick_manifest(lab))
    tmp_path.chmod(0o755)  # pytest makes it for root alone, and the operator is not
    environment = {
        **os.environ,
        **lab.manager.client_environment(),
        "QUEENRIGHT_IMAGE": image,
        "QUEENRIGHT_MANIFESTS": str(desired),
    }
    subprocess.run(
        [docker_command(), "stack", "deploy", "-c", "manifests/operator-stack.yaml", "queenright"],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
    )

    def converged() -> bool:
        clusters = status(lab).get("clusters", [])
        return bool(clusters) and all(cluster["converged"] for cluster in clusters)

    eventually(converged, "the operator's service to converge the cluster", 150)
    eventually(lambda: is_whole(lab), "a whole cluster", 30)
    container = container_of(lab.manager, OPERATOR)
    said = lab.manager.docker("exec", container, "cat", "/proc/1/status").stdout
    facts = dict(line.split(":\t", 1) for line in said.splitlines() if ":\t" in line)
    assert facts["Uid"].split() == ["65532"] * 4
    assert int(facts["CapEff"], 16) == 0
    assert int(facts["CapBnd"], 16) == 0
    assert facts["NoNewPrivs"].strip() == "1"
    write = lab.manager.docker("exec", container, "touch", "/etc/queenright.txt", check=False)
    assert "Read-only file system" in write.stderr

    # Removed by hand, put back by the service; and its log is the audit trail.
    lab.manager.docker("service", "rm", "main_proxy")
    eventually(lambda: service(lab, "main_proxy"), "the proxies", 10)
    time.sleep(1)
    log = lab.manager.docker("service", "logs", "--raw", OPERATOR)
    trail = tmp_path / "log.txt"
    trail.write_text(log.stdout)
    verify = subprocess.run(
        [sys.executable, "-m", "queenright", "audit", "verify", str(trail)],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert verify.returncode == 0, verify.stdout + verify.stderr
    assert "create-service/main_proxy" in log.stdout
