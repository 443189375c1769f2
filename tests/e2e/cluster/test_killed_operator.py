"""A killed operator resumes with nothing lost, wherever it was killed during first convergence."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from queenright.core.planning.lease import LEASE_CONFIG
from tests.e2e.cluster.crashing_operator import KILLED
from tests.e2e.running_operator import QUICK_RESYNC_S, RunningOperator
from tests.e2e.swarm_facts import eventually, is_whole, quick_manifest, read_secret
from tests.lab.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.images, pytest.mark.timeout(900)]

CRASHING = Path(__file__).with_name("crashing_operator.py")
CONVERGES_S = 600.0
MOST_KILLS = 100


@dataclass(frozen=True)
class Converged:
    """The directory of operators of which so many were killed until one converged."""

    directory: Path
    killed: int


def kills(operators: RunningOperator) -> int:
    return sum(record.get("event") == KILLED for record in list(operators.records))


@pytest.fixture(scope="module")
def converged(
    lab: Lab, images: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Converged:
    """Each operator is killed at the first boundary that it meets, before and after the call in
    turn, so that every action of the first convergence has its kill at both; every one starts on
    what the killed one left."""
    lab.reset()
    directory = tmp_path_factory.mktemp("operator")
    operators = RunningOperator(
        lab, directory, [sys.executable, str(CRASHING)], resync_s=QUICK_RESYNC_S
    )
    operators.environment["PYTHONPATH"] = "operator:."
    operators.write(quick_manifest(lab))
    with operators:
        operators.wait_for(
            lambda: (
                any(p["converged"] for p in operators.passes()) or kills(operators) > MOST_KILLS
            ),
            "an operator that lives",
            CONVERGES_S,
        )
        killed = kills(operators)
        assert killed <= MOST_KILLS, "it never converges"
        assert operators.stop() == 0, "".join(operators.lines[-20:])
    print(f"operators killed during first convergence: {killed}")
    eventually(lambda: is_whole(lab), "a whole cluster")
    return Converged(directory, killed)


def test_killed_at_each_action_boundary_it_always_converges(lab: Lab, converged: Converged) -> None:
    # Labels on 3 nodes, network, 3 secrets, 5 configs, 3 members, proxy, who leads, and that the
    # cluster was whole: each killed once before its call, and once after it.
    assert converged.killed >= 2 * 17
    assert_nothing_twice(lab)
    trail = converged.directory / "state" / "audit.jsonl"
    said = trail.read_text()
    done = [json.loads(line) for line in said.splitlines() if '"create-secret' in line]
    intents = [r["action"]["key"] for r in done if r["phase"] == "intent"]
    assert all(intents.count(key) <= 2 for key in intents), "a secret was made again"
    verify = subprocess.run(
        [
            sys.executable,
            "-m",
            "queenright",
            "audit",
            "verify",
            str(trail),
        ],
        check=False,
        capture_output=True,
        text=True,
    )
    assert verify.returncode == 0, verify.stdout + verify.stderr


def assert_nothing_twice(lab: Lab) -> None:
    docker = lab.manager.docker
    services = docker("service", "ls", "--format", "{{.Name}}").stdout.split()
    assert sorted(services) == ["main_member-1", "main_member-2", "main_member-3", "main_proxy"]
    secrets = docker("secret", "ls", "--format", "{{.Name}}").stdout.split()
    assert sorted(secrets) == ["pg_replication_pw", "pg_rest_pw", "pg_superuser_pw"]
    configs = docker("config", "ls", "--format", "{{.Name}}").stdout.split()
    assert len({*configs} - {LEASE_CONFIG}) == 5
    networks = docker("network", "ls", "--format", "{{.Name}}", "-f", "driver=overlay").stdout
    assert networks.split().count("main_patroni") == 1


def test_secrets_survive_a_restart_and_a_second_operator(
    lab: Lab, converged: Converged, tmp_path: Path
) -> None:
    operator = RunningOperator(lab, converged.directory, resync_s=QUICK_RESYNC_S)
    before = read_secret(lab, "pg_superuser_pw")
    with operator:
        operator.wait_converged()
        assert not operator.audit("intent"), "a restarted operator has nothing to do"
        second = RunningOperator(lab, tmp_path / "second", resync_s=QUICK_RESYNC_S)
        second.write(quick_manifest(lab))
        with second:
            second.wait_converged()
            assert not second.audit("intent"), "a converged world has nothing to do"
    assert read_secret(lab, "pg_superuser_pw") == before


def test_sigterm_finishes_the_step_in_hand_and_exits_0(
    lab: Lab, own_operator: RunningOperator
) -> None:
    own_operator.start()
    own_operator.wait_for(lambda: own_operator.audit("intent"), "the first action")
    assert own_operator.stop(signal.SIGTERM) == 0
    intents = [r["action"]["key"] for r in own_operator.audit("intent")]
    outcomes = [r["action"]["key"] for r in own_operator.audit("outcome")]
    assert intents == outcomes
    assert all(r["outcome"] == "done" for r in own_operator.audit("outcome"))
