"""The loss test: browsers write while replicas, database, network, tabs and sign-ins fail.

`python -m tests.judges.loss [ROUNDS] [SEED] [WORLDS]` runs so many rounds (500) and prints what
each did. The rounds are shared among worlds beside each other (1). A world lasts `_LIFE` rounds,
each with its own seed: what people have made slows every later round down.
`loss.mjs` is the people and their browsers; this is the world they live in, which fails on request.
"""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NoReturn

from tests.failover.cluster import Cluster
from tests.failover.test_lost_events import stop_following
from tests.judges.control import control_of
from tests.judges.programs import HERE, front
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Client, Replica
from tests.workspace import grant, space

_SUM = re.compile(r"seed \d+: (\d+) rounds, (\d+) words accepted, (\d+) lost")
_LIFE = 50
_ENV = {"ORIGIN": "", "PROTOCOL_HEADER": "x-forwarded-proto"}


@dataclass
class World:
    """A pair of database servers, two replicas, and what may happen to them."""

    cluster: Cluster
    replicas: tuple[Replica, Replica]
    is_following: bool = True

    def kill(self, at: str) -> None:
        """Kills a replica."""
        self.replicas[int(at)].end()

    def stop(self, at: str) -> None:
        """Stops a replica as an update does."""
        self.replicas[int(at)].stop()

    def start(self, at: str) -> None:
        """Starts a replica again that was killed or stopped."""
        self.replicas[int(at)].end()
        self.replicas[int(at)].start()

    def switch(self) -> None:
        """Switches the database over as planned."""
        self.heal()
        self.cluster.switch_over()

    def cut(self) -> None:
        """Cuts the leader's power: no transaction is lost."""
        self.heal()
        self.cluster.cut_power()

    def forget(self) -> None:
        """From now on a failover loses what the leader acknowledges."""
        if self.is_following:
            stop_following(self.cluster)
            self.is_following = False

    def lose(self) -> None:
        """Cuts the leader's power, and loses what it acknowledged since `forget`."""
        self.forget()
        self.cluster.cut_power_without_rebuilding()

    def heal(self) -> None:
        """Rebuilds the standby if it does not follow."""
        if not self.is_following:
            follower = self.cluster.follower
            if follower.process is not None:
                follower.kill()
            self.cluster._rebuild(follower)
            self.is_following = True

    def expire(self, email: str) -> None:
        """Ends all sessions of a user."""
        self.cluster.leader.sql(
            f"DELETE FROM sessions WHERE user_id = (SELECT id FROM users WHERE email = '{email}')",
            "notes",
        )


def _people(client: Client) -> dict[str, object]:
    """Two people who may write in a new space, and a token to look at it."""
    client.set_up()
    bob = {"email": "bob@example.org", "name": "Bob", "password": PASSWORD}
    client.user_id = client.ok("POST", "/api/v1/users", bob)["id"]  # type: ignore[attr-defined]
    home = space(client, name="Team")
    grant(client, f"/api/v1/spaces/{home}/members", editor=client)
    body = {"name": "test", "scopes": ["read", "write"]}
    return {
        "people": [{"email": ADMIN, "password": PASSWORD}, bob],
        "token": client.ok("POST", "/api/v1/tokens", body)["secret"],
        "home": home,
        "bob": client.user_id,  # type: ignore[attr-defined]
    }


@contextlib.contextmanager
def world() -> Iterator[dict[str, object]]:
    """Starts everything; yields what `loss.mjs` has to know."""
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(Cluster().serving())
        cluster.leader.sql("CREATE DATABASE notes")
        url = cluster.direct("notes")
        one = stack.enter_context(Replica(url, _ENV).running())
        other = stack.enter_context(Replica(url, _ENV).running())
        with one.client(headers=PLAIN) as client:
            given = _people(client)
        control = control_of(World(cluster, (one, other)))
        stack.callback(control.server_close)
        stack.callback(control.shutdown)
        fronts = [stack.enter_context(front(a, b)) for a, b in ((one, other), (other, one))]
        yield {**given, "fronts": fronts, "control": f"http://127.0.0.1:{control.server_port}"}


def run(*, rounds: int, seconds: float, seed: int) -> tuple[int, str]:
    """Runs rounds until there were enough, or `seconds` are over; returns exit code and output."""
    lines = list[str]()
    with world() as given:
        more = {"rounds": rounds, "seconds": seconds, "seed": seed}
        running = subprocess.Popen(
            ["node", str(HERE / "loss.mjs"), json.dumps({**given, **more})],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=HERE,
        )  # fmt: skip
        try:
            assert running.stdout is not None
            for line in running.stdout:
                lines.append(line)
                if "-v" in sys.argv or __name__ == "__main__":
                    print(line, end="", flush=True)
            code = running.wait()
        finally:
            running.terminate()
            running.wait(20)
    return code, "".join(lines)


def lives(share: int) -> Iterator[int]:
    """Yields how many rounds each world of a share lasts."""
    for done in range(0, share, _LIFE):
        yield min(_LIFE, share - done)


def run_beside(*, rounds: int, seed: int, worlds: int) -> tuple[int, str]:
    """Runs worlds beside each other; returns the number of those that failed, and the sum."""
    started, is_over = list[subprocess.Popen[str]](), threading.Event()

    def live(at: int, rounds: int, seed: int) -> tuple[int, int, int, int]:
        line = [sys.executable, "-W", "ignore", "-m", "tests.judges.loss", str(rounds), str(seed)]
        sums = (0, 0, 0)
        with subprocess.Popen(
            line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as running:
            started.append(running)
            for printed in running.stdout or ():
                print(f"{at}: {printed}", end="", flush=True)
                if told := _SUM.match(printed):
                    sums = (int(told[1]), int(told[2]), int(told[3]))
        return (running.returncode != 0, *sums)

    def one(at: int) -> list[tuple[int, int, int, int]]:
        share = rounds // worlds + (at < rounds % worlds)
        return [
            live(at, life, seed + at + worlds * n)
            for n, life in enumerate(lives(share))
            if not is_over.is_set()
        ]

    with ThreadPoolExecutor(worlds) as pool:
        try:
            found = [lived for share in pool.map(one, range(worlds)) for lived in share]
        finally:
            is_over.set()
            for running in started:
                running.terminate()
    failed, done, words, lost = map(sum, zip(*found, strict=True))
    return failed, f"{len(found)} worlds: {done} rounds, {words} words accepted, {lost} lost"


def main() -> int:
    """Runs the rounds that the arguments name."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    worlds = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    print(f"seed {seed}, {os.cpu_count()} cores", flush=True)
    begun = time.monotonic()
    if worlds > 1 or rounds > _LIFE:
        code, said = run_beside(rounds=rounds, seed=seed, worlds=worlds)
        print(said)
    else:
        code, _ = run(rounds=rounds, seconds=float("1e9"), seed=seed)
    print(f"{time.monotonic() - begun:.0f} s")
    return code


def end(number: int, frame: object) -> NoReturn:
    """Ends as Ctrl+C does: what was started ends, too."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, end)
    sys.exit(main())
