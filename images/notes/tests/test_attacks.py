"""Tests that attacks by one account do not slow down the others.

Each attack uses the real server, on several connections at once. Meanwhile another user signs in,
saves a page and requests `/healthz`, and the event loop's work is measured. `-s` prints the
figures.
"""

import concurrent.futures
import contextlib
import http.client
import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.attacks import ATTACKS, Stage, Strike, client_of, made
from tests.postgres import Postgres
from tests.replica import Replica

ORIGIN = "https://notes.example.org"
STRIKERS = 6
# The processor time of a callback; elapsed time would include other programs' work.
WORK_MS = 50.0
LATE_P99_MS = 50.0
HEALTH_P99_MS = 250.0
SIGN_IN_S = 15.0
QUIET_MS = 3.0
# Other programs only add to a round's times, through caches too: the best of the rounds counts.
# What is slow once only, such as a template's first use, must stay below a limit of its own.
ROUNDS = 3
EVER_MS = 200.0
# Attacks that may be refused as too many may each take their 10 s of processor time: the replica
# refuses after these seconds, not 30, what still waits for a worker. The figures are those of the
# first 6 s; the test then waits for the last answer.
TURN_S = 8.0
pytestmark = [pytest.mark.slow, pytest.mark.quiet]


@pytest.fixture(scope="module")
def probed(postgres: Postgres) -> Iterator[dict[bool, Replica]]:
    """Replicas of one database, by whether they refuse after TURN_S what waits for a worker."""
    url = postgres.database("probed")
    env = {"ORIGIN": ORIGIN, "ADDRESS_HEADER": "x-forwarded-for"}
    hasty = {**env, "PROBED_TURN_S": str(TURN_S)}
    with (
        Replica(url, env, module="tests.probed").running() as usual,
        Replica(url, hasty, module="tests.probed").running() as impatient,
    ):
        with client_of(usual) as client:
            client.set_up()
        yield {False: usual, True: impatient}
        for running in (usual, impatient):
            failures = [line for line in running.lines() if line["level"] == "error"]
            assert not failures, failures


_CONTROL = """
import json, sys, threading, time
late = []
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
while not ended.is_set():
    begun = time.perf_counter()
    time.sleep(0.005)
    late.append(1000 * (time.perf_counter() - begun - 0.005))
late.sort()
print(json.dumps(late[int((len(late) - 1) * 0.99)]))
"""


@contextlib.contextmanager
def _machine() -> Iterator[list[float]]:
    """The p99 delay of wake-ups in an idle process on this machine."""
    found = list[float]()
    control = subprocess.Popen(
        [sys.executable, "-c", _CONTROL], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        yield found
    finally:
        told, _ = control.communicate(timeout=20)
        found.append(json.loads(told))


class Health:
    """Requests `/healthz` all the time, on one connection."""

    def __init__(self, replica: Replica) -> None:
        self._replica = replica
        self._ended = threading.Event()
        self.times_ms = list[float]()
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> "Health":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _ask(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._replica.port, timeout=120)
        while not self._ended.wait(0.01):
            begun = time.perf_counter()
            connection.request("GET", "/healthz", headers={"Host": "notes.example.org"})
            assert connection.getresponse().read() == b"ok\n"
            self.times_ms.append((time.perf_counter() - begun) * 1000)
        connection.close()

    @property
    def p99_ms(self) -> float:
        return statistics.quantiles(self.times_ms, n=100)[98]


@dataclass(frozen=True)
class Round:
    """The effects of one round of an attack on the others; milliseconds unless named `_s`."""

    statuses: set[int]
    work_max: float
    late_p99: float
    late_max: float
    noise_p99: float
    health_p99: float
    sign_in_s: float
    save_s: float

    @property
    def is_fair(self) -> bool:
        if self.work_max >= WORK_MS or max(self.sign_in_s, self.save_s) >= SIGN_IN_S:
            return False
        # If even an idle process is delayed, elapsed times say nothing about the application.
        return self.noise_p99 >= QUIET_MS or (
            self.late_p99 < LATE_P99_MS and self.health_p99 < HEALTH_P99_MS
        )


@pytest.mark.parametrize("name", ATTACKS)
def test_an_account_that_attacks_holds_up_nobody_else(
    probed: dict[bool, Replica], name: str
) -> None:
    attack, expected = ATTACKS[name]
    running = probed[expected >= {429, 503}]
    stage, bystander = made(running), made(running)
    strike = attack(stage)
    strikers = 3 if name in {"too many nodes", "many empty lists"} else STRIKERS
    for _ in range(ROUNDS):
        found = _round(running, strike, strikers, bystander)
        print(f"\n| {name} | {found} |")
        assert found.statuses <= expected, found
        assert found.work_max < EVER_MS, found
        if found.is_fair:
            break
    assert found.is_fair, found
    stage.client.close()
    bystander.client.close()


def _round(probed: Replica, strike: Strike, strikers: int, bystander: Stage) -> Round:
    with (
        client_of(probed) as httpx_probe,
        concurrent.futures.ThreadPoolExecutor(strikers) as pool,
    ):
        httpx_probe.delete("/probe")
        with _machine() as machine, Health(probed) as health:
            strikes = [pool.submit(strike) for _ in range(strikers)]
            time.sleep(0.3)
            begun = time.monotonic()
            with client_of(probed) as other:
                other.timeout = 60  # type: ignore[assignment]
                other.log_in()
                sign_in_s = time.monotonic() - begun
            begun = time.monotonic()
            bystander.save(markdown="Some *words* that are saved meanwhile. " * 20)
            save_s = time.monotonic() - begun
            concurrent.futures.wait(strikes, timeout=6)
            figures = httpx_probe.get("/probe").json()
            health_ms = health.p99_ms
    work, late = figures["work"], figures["late"]
    return Round(
        statuses={one.result() for one in strikes},
        work_max=round(work["max"], 2),
        late_p99=round(late["p99"], 2),
        late_max=round(late["max"], 2),
        noise_p99=round(machine[0], 2),
        health_p99=round(health_ms, 2),
        sign_in_s=round(sign_in_s, 2),
        save_s=round(save_s, 2),
    )
