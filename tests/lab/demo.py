"""The demonstration: a bare swarm becomes a running cluster, because a file says so.

Brings up the lab, builds the images, deploys the operator's stack, and follows what it does until
the cluster has converged. Repeated on a running lab it changes nothing that is right already.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.lab.lab import Lab
from tests.lab.node import docker_command
from tests.lab.product_images import publish
from tests.lab.psql import run_psql
from tests.lab.settings import LabError, LabSettings
from tests.lab.shell import say

ROOT = Path(__file__).resolve().parents[2]
DESIRED = ROOT / ".demo"
STACK = "queenright"
LIMIT_S = 240.0
STUCK_S = 45.0
_ADDRESS = re.compile(r" \(http:[^)]*\)")


def main() -> int:
    """Exit status 0 when the cluster has converged, 1 with the reason."""
    began = time.monotonic()
    try:
        lab = Lab(LabSettings.from_environment())
        lab.up()
        write_desired_state(lab)
        check_desired_state(lab)
        say("building the images (minutes the first time, cached afterwards)")
        images = publish(lab.registry, settings=lab.settings)
        ready = time.monotonic()
        deploy_operator(lab, images["operator"])
        follow(lab)
        check_clients(lab)
    except LabError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    now = time.monotonic()
    say(
        f"converged {now - ready:.1f} s after the operator was deployed, {now - began:.1f} s in all"
    )
    print(run_queenright(lab, "status").stdout)
    print(farewell(lab))
    return 0


def write_desired_state(lab: Lab) -> None:
    """A copy of the example for this lab, to be edited; one that is there is kept."""
    DESIRED.mkdir(exist_ok=True)
    target = DESIRED / "cluster.yaml"
    if not target.exists():
        text = (ROOT / "manifests" / "cluster.yaml").read_text()
        text = text.replace("10.77.0.1:5000", lab.registry)
        target.write_text(text.replace("10.77.0.0/24", str(lab.settings.subnet)))
    say(f"the desired state is {target}")


def check_desired_state(lab: Lab) -> None:
    """A file that an earlier demonstration left edited may be wrong, or for another lab."""
    checked = run_queenright(lab, "validate", "--swarm", str(DESIRED))
    if checked.returncode != 0:
        said = f"{checked.stdout}{checked.stderr}".strip()
        raise LabError(f"{said}\ncorrect the file, or remove {DESIRED} to begin with the example")


def deploy_operator(lab: Lab, image: str) -> None:
    """``docker stack deploy`` with the very file that a user deploys."""
    environment = {
        **os.environ,
        **lab.manager.client_environment(),
        "QUEENRIGHT_IMAGE": image,
        "QUEENRIGHT_MANIFESTS": str(DESIRED),
    }
    stack = str(ROOT / "manifests" / "operator-stack.yaml")
    result = subprocess.run(
        [docker_command(), "stack", "deploy", "-c", stack, STACK],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if result.returncode != 0:
        raise LabError(f"docker stack deploy failed: {result.stderr.strip()}")
    say("the operator's stack is deployed; from here on it does everything itself")


def follow(lab: Lab) -> None:
    """Tell what is waited for, each thing once, until nothing is left to do."""
    began = time.monotonic()
    deadline = began + LIMIT_S
    said: set[str] = set()
    moving = began
    while time.monotonic() < deadline:
        clusters = status_of(lab).get("clusters", [])
        if clusters and all(cluster["converged"] for cluster in clusters):
            return
        waited_for = [
            part
            for cluster in clusters
            for hold in cluster["plan"]["holds"]
            for part in _ADDRESS.sub("", hold["reason"]).split("; ")
        ]
        plans = [cluster["plan"] for cluster in clusters]
        holds = [hold for plan in plans for hold in plan["holds"]]
        if not holds or not all(hold["wants_attention"] for hold in holds):
            moving = time.monotonic()
        elif time.monotonic() - moving > STUCK_S:
            reasons = "\n".join(hold["reason"] for hold in holds)
            raise LabError(f"nothing goes on by itself; this waits for you:\n{reasons}")
        if news := [part for part in waited_for if part not in said]:
            say(f"{time.monotonic() - began:4.1f} s  {', '.join(news)}")
            said.update(news)
        time.sleep(0.5)
    log = lab.manager.docker("service", "logs", "--tail", "15", f"{STACK}_operator", check=False)
    raise LabError(f"not converged after {LIMIT_S:.0f} s; the operator says:\n{log.stdout}")


def status_of(lab: Lab) -> dict[str, Any]:
    answer = run_queenright(lab, "status", "--json")
    try:
        found: dict[str, Any] = json.loads(answer.stdout)
    except ValueError:
        return {}
    return found


def run_queenright(lab: Lab, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line, as a person on the manager would use it."""
    environment = {
        **os.environ,
        **lab.manager.client_environment(),
        "QUEENRIGHT_MANIFESTS": str(DESIRED),
        "QUEENRIGHT_STATE_DIR": "",
    }
    program = [sys.executable, "-m", "queenright", *arguments]
    return subprocess.run(program, env=environment, capture_output=True, text=True, check=False)


def check_clients(lab: Lab) -> None:
    """Write through port 5000, and read through 5001, once both are routed."""
    node = lab.settings.node_names[-1]
    deadline = time.monotonic() + LIMIT_S
    statement = "create table if not exists demo (at timestamptz); insert into demo values (now())"
    while run_psql(lab, node, 5000, "-qc", statement).returncode != 0:
        if time.monotonic() > deadline:
            raise LabError(f"port 5000 of {node} does not take writes")
        time.sleep(0.3)
    say(f"wrote through port 5000 of {node}")
    while run_psql(lab, node, 5001, "-Atc", "select count(*) from demo").returncode != 0:
        if time.monotonic() > deadline:
            raise LabError(f"port 5001 of {node} does not answer")
        time.sleep(0.3)
    say(f"read through port 5001 of {node}")


def farewell(lab: Lab) -> str:
    node, other = lab.settings.node_names[2], lab.settings.node_names[3]
    address = lab.node(node).address
    return f"""\
Look     make status                     members, proxies, holds, last actions
         make plan                       what it would do now, and why
         make operator-log               follow what it does, and why
         eval "$(make -s lab-env)"       then any Docker client shows the swarm: docker service ls

Connect  make psql                       read-write, port 5000 ({address}:5000 from this machine)
         make psql PORT=5001             read-only, the replicas in turn
         http://{address}:7000/        the proxies' statistics page

Edit     {DESIRED / "cluster.yaml"}
         for example  spec.proxies.maxConnections: 400  or a member that is not there
         then look at the log: the edit's file and line, what it changed, and why

Break    eval "$(make -s lab-env)" && docker service rm main_proxy
         docker service update --env-add ODD=1 main_member-3
         make lab-fault NODE={other} FAULT=power-cut     (and FAULT=start)

End      make lab-down                   images stay cached; make lab-purge removes them too
"""


if __name__ == "__main__":
    sys.exit(main())
