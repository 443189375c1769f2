"""The edge's first process: starts HAProxy and Caddy, tells HAProxy who is ready, ends with both.

    clients -> Caddy: TLS, headers, limits -> HAProxy, in the same container: who gets it -> replica

Exit status: 0 after SIGTERM, 2 for a wrong environment or configuration, 1 when a part has failed;
swarm then starts the edge again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from queenright_edge.asking import ask_all, resolve
from queenright_edge.balancer import Balancer, BalancerError
from queenright_edge.ready import Replica, judged, listed_now, serving

ROUND_S = 0.25
FIRST_ROUND_S = 5.0
CONFIG_WRONG = 2


class StartError(Exception):
    """Something that a person has to put right."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the environment."""

    service: str
    port: int
    run: Path
    caddyfile: Path
    haproxy: Path

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Settings:
        service, port = environ.get("APP_SERVICE", ""), environ.get("APP_PORT", "3000")
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,253}", service):
            raise StartError("APP_SERVICE must name the application's service, such as notes_web")
        if not port.isdigit() or not 0 < int(port) < 65536:
            raise StartError(f'APP_PORT must be a port such as 3000, not "{port[:20]}"')
        return cls(
            service=service,
            port=int(port),
            run=Path(environ.get("EDGE_RUN", "/tmp/edge")),
            caddyfile=Path(environ.get("EDGE_CADDYFILE", "/etc/caddy/Caddyfile")),
            haproxy=Path(environ.get("EDGE_HAPROXY_CFG", "/etc/haproxy/edge.cfg")),
        )


def say(message: str, **facts: object) -> None:
    print(json.dumps({"logger": "edge", "msg": message, **facts}), flush=True)


class Watch:
    """Keeps HAProxy's lists true."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._balancer = Balancer(settings.run / "control.sock")
        self._known: dict[str, Replica] = {}
        self._listed: frozenset[str] | None = None
        self._said: tuple[str, ...] | None = None

    async def resolve_for_ever(self) -> None:
        while True:
            self._listed = await resolve(f"tasks.{self._settings.service}")
            await asyncio.sleep(ROUND_S)

    async def ask_for_ever(self) -> None:
        while True:
            await self.round()
            await asyncio.sleep(ROUND_S)

    async def round(self) -> bool:
        """One question to each replica; whether anybody serves."""
        listed = self._listed
        addresses = listed_now(self._known, listed)
        answers = await ask_all(addresses, self._settings.port)
        # Who left DNS while the answers were waited for does not come back by them.
        addresses = listed_now(dict.fromkeys(addresses, Replica()), self._listed) & addresses
        known = judged(self._known, addresses, answers)
        chosen = serving(known)
        if chosen != self._said:
            await self._balancer.serve(chosen)
            states = {address: replica.state.value for address, replica in known.items()}
            say("requests go to", replicas=list(chosen), known=states)
        self._known, self._said = known, chosen
        return bool(chosen)

    async def first_round(self) -> None:
        """Wait for somebody to serve, for a moment at most: clients may come at once."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FIRST_ROUND_S):
                while not await self.round():  # noqa: ASYNC110 (it asks others, no event tells)
                    await asyncio.sleep(ROUND_S / 5)


async def check(*command: str, what: str, env: Mapping[str, str]) -> None:
    """Run a program's own check of its configuration; StartError with what it says."""
    process = await asyncio.create_subprocess_exec(
        *command, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await process.communicate()
    if process.returncode != 0:
        lines = said.decode(errors="replace").strip().splitlines()
        raise StartError(f"{what} is wrong: {lines[-1] if lines else 'no reason given'}")


async def until_exists(path: Path) -> None:
    async with asyncio.timeout(FIRST_ROUND_S):
        while not path.exists():  # noqa: ASYNC110, ASYNC240 (another process makes it, in memory)
            await asyncio.sleep(0.02)


async def run(settings: Settings) -> int:
    """The edge's whole life; its exit status."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    run_directory = settings.run
    run_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in run_directory.glob("*.sock"):
        left.unlink()
    env = {
        **os.environ,
        "EDGE_RUN": str(run_directory),
        "APP_PORT": str(settings.port),
        "XDG_CONFIG_HOME": str(run_directory),
    }
    caddy_options = ("--config", str(settings.caddyfile), "--adapter", "caddyfile")
    haproxy = await asyncio.create_subprocess_exec(
        "haproxy", "-db", "-f", str(settings.haproxy), env=env, start_new_session=True
    )
    caddy = None
    try:
        await check("caddy", "validate", *caddy_options, what=str(settings.caddyfile), env=env)
        await until_exists(run_directory / "control.sock")
        watch = Watch(settings)
        resolving = asyncio.create_task(watch.resolve_for_ever())
        await watch.first_round()
        if not stop.is_set():
            caddy = await asyncio.create_subprocess_exec(
                "caddy", "run", *caddy_options, env=env, start_new_session=True
            )
            return await _together(
                stop,
                {
                    "HAProxy": haproxy.wait,
                    "Caddy": caddy.wait,
                    "the watch": watch.ask_for_ever,
                    "resolving": lambda: resolving,
                },
                caddy,
            )
        return 0
    finally:
        for process in (caddy, haproxy):
            if process is not None and process.returncode is None:
                process.terminate()
                await process.wait()


async def _together(
    stop: asyncio.Event,
    parts: Mapping[str, Callable[[], Awaitable[object]]],
    caddy: asyncio.subprocess.Process,
) -> int:
    """Until told to stop, or a part ends. Caddy then finishes what it has begun."""
    tasks = {asyncio.ensure_future(part()): name for name, part in parts.items()}
    stopping = asyncio.create_task(stop.wait())
    done, _ = await asyncio.wait([stopping, *tasks], return_when=asyncio.FIRST_COMPLETED)
    status = 0
    for task in done - {stopping}:
        error = task.exception()
        say("a part has ended, so the edge ends", part=tasks[task], error=str(error or ""))
        status = 1
    if caddy.returncode is None:
        caddy.terminate()
        await caddy.wait()
    for task in tasks:
        task.cancel()
    return status


def main() -> None:
    """Command line."""
    try:
        status = asyncio.run(run(Settings.of(os.environ)))
    except StartError as error:
        print(f"FATAL: {error}", file=sys.stderr)
        status = CONFIG_WRONG
    except (BalancerError, OSError) as error:
        print(f"FATAL: {error}", file=sys.stderr)
        status = 1
    sys.exit(status)
