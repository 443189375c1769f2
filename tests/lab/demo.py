"""The demonstration: a bare swarm becomes a running cluster and an application on it, because two
files say so.

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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from tests.lab.docker_client import docker_command
from tests.lab.lab import Lab
from tests.lab.product_images import publish
from tests.lab.psql import run_psql
from tests.lab.settings import LabError, LabSettings
from tests.lab.shell import say

ROOT = Path(__file__).resolve().parents[2]
DESIRED = ROOT / ".demo"
STACK = "queenright"
LIMIT_S = 240.0
STUCK_S = 45.0
IMAGES = ("member", "proxy", "vip", "edge", "operator", "notes")
FILES = ("cluster.yaml", "notes.yaml")
NEWS = "key/"
"""Holds for which nothing is waited: a reminder, which `make status` shows."""
SITE = "notes.example.org"
SERVED = (httpx.codes.OK, httpx.codes.SEE_OTHER)
_NOTES_IMAGE = re.compile(r"\S+/queenright-notes:\S+")
_ADDRESS = re.compile(r" \(http:[^)]*\)")


def main() -> int:
    """Exit status 0 when the cluster has converged, 1 with the reason."""
    began = time.monotonic()
    try:
        lab = Lab(LabSettings.from_environment())
        lab.up()
        say("building the images (minutes the first time, cached afterwards)")
        images = publish(lab.registry, IMAGES, lab.settings)
        write_desired_state(lab, images)
        check_desired_state(lab)
        ready = time.monotonic()
        deploy_operator(lab, images["operator"])
        follow(lab)
        check_clients(lab)
        check_application(lab)
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


def write_desired_state(lab: Lab, images: Mapping[str, str]) -> None:
    """A copy of the examples for this lab, to be edited; what is there is kept."""
    DESIRED.mkdir(exist_ok=True)
    for name in FILES:
        target = DESIRED / name
        if not target.exists():
            text = (ROOT / "manifests" / name).read_text()
            text = _NOTES_IMAGE.sub(images["notes"], text)
            text = text.replace("10.77.0.1:5000", lab.registry)
            target.write_text(text.replace("10.77.0.0/24", str(lab.settings.subnet)))
    say(f"the desired state is {DESIRED}: {', '.join(FILES)}")


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
    """Print each thing that is waited for once, until nothing is left to do."""
    began = time.monotonic()
    deadline = began + LIMIT_S
    said: set[str] = set()
    moving = began
    while time.monotonic() < deadline:
        told = status_of(lab)
        clusters = [*told.get("clusters", []), *told.get("applications", [])]
        if clusters and all(cluster["converged"] for cluster in clusters):
            return
        waited_for = [
            part
            for cluster in clusters
            for hold in cluster["plan"]["holds"]
            if not hold["key"].startswith(NEWS)
            for part in _ADDRESS.sub("", hold["reason"]).split("; ")
        ]
        plans = [cluster["plan"] for cluster in clusters]
        holds = [
            hold for plan in plans for hold in plan["holds"] if not hold["key"].startswith(NEWS)
        ]
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


def check_application(lab: Lab) -> None:
    """The main site through the edge, over TLS with the edge's own certificate."""
    deadline = time.monotonic() + LIMIT_S
    while (status := site_status(lab)) not in SERVED:
        if time.monotonic() > deadline:
            raise LabError(f"https://{SITE}/ answers {status or 'nothing'}")
        time.sleep(0.3)
    say(f"https://{SITE}/ answers through the edge on {lab.manager.name}")


def site_status(lab: Lab) -> int:
    """Return the status of the main site's sign-in page through the edge; 0 without an answer."""
    request = httpx.Request(
        "GET",
        f"https://{lab.manager.address}/login",
        headers={"host": SITE},
        extensions={"sni_hostname": SITE},
    )
    try:
        with httpx.Client(verify=False, timeout=5, trust_env=False) as client:  # noqa: S501  # its own CA
            return client.send(request).status_code
    except httpx.HTTPError:
        return 0


def farewell(lab: Lab) -> str:
    """The ways to look at what was made; at the end, the workspace's address and the way in."""
    node, other = lab.settings.node_names[2], lab.settings.node_names[3]
    address, edge = lab.node(node).address, lab.manager.address
    return f"""\
Look     make status                     members, proxies, holds, last actions
         make plan                       what it would do now, and why
         make operator-log               follow what it does, and why
         eval "$(make -s lab-env)"       then any Docker client shows the swarm: docker service ls

Connect  make psql                       read-write, port 5000 ({address}:5000 from this machine)
         make psql PORT=5001             read-only, the replicas in turn
         http://{address}:7000/        the proxies' statistics page

Edit     {DESIRED / "cluster.yaml"}   {DESIRED / "notes.yaml"}
         for example  spec.proxies.maxConnections: 400  or a member that is not there
         then look at the log: the edit's file and line, what it changed, and why

Break    eval "$(make -s lab-env)" && docker service rm main_proxy
         docker service update --env-add ODD=1 main_member-3
         make lab-fault NODE={other} FAULT=power-cut     (and FAULT=start)
         the leader's node (make status): pages can be written again after half a minute

End      make lab-down                   images stay cached; make lab-purge removes them too

Notes    the workspace: https://{SITE}/w
         1. "{edge} {SITE}" into /etc/hosts of the machine with the browser
         2. open the address, and accept the certificate: it is of the edge's own authority
         3. the first visitor sets the application up: the site's name, then the administrator's
            e-mail address and password, then a tour; that account invites the others
"""


if __name__ == "__main__":
    sys.exit(main())
