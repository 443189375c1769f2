"""``queenright dashboard``: the operator's page, from a shell, without asking the operator."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import anyio
import anyio.to_thread
import click
from docker.errors import DockerException

from queenright.adapters.page.access import Access
from queenright.adapters.page.server import Server
from queenright.cli import audit_trail, read_only
from queenright.cli.exit_codes import OK, CommandError
from queenright.cli.options import GivenPath
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Observed
from queenright.core.planning.plan import Refusal
from queenright.engine.pages import SightPages
from queenright.engine.planning import PlannedPass, observe_and_plan
from queenright.engine.sight import Sight
from queenright.engine.trail_memory import TrailMemory
from queenright.ports import Ports
from queenright.settings import Settings
from queenright.wiring import PRELOADED, open_ports

LOOPBACK = "127.0.0.1"
EVERY_S = 3.0
"""From the end of a look to the next one."""

EPILOG = """\b
Exit codes: 0 ended by Ctrl-C, 1 the port is in use, 64 no such path,
69 no client for the swarm

\b
Examples:
  queenright dashboard
  queenright dashboard --port 8790 ./manifests
"""


@click.command(epilog=EPILOG)
@click.argument("path", type=GivenPath(path_type=Path), required=False)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="By default any free one.")
@click.option("--no-open", is_flag=True, help="Don't open a browser, only print the address.")
def dashboard(path: Path | None, port: int, *, no_open: bool) -> int:
    """Show the state of everything in a browser, until Ctrl-C.

    The page is that of `queenright run --listen`, on this machine's loopback only, and needs no
    operator: this command looks at the swarm itself, every few seconds. It changes nothing.
    """
    settings = read_only.settings_for_looking(path)
    read_only.read_desired(settings, path)
    refuse_used(port)

    def ready(bound: int) -> None:
        address = f"http://{LOOPBACK}:{bound}/"
        click.echo(f"The page is {address} (Ctrl-C ends it).")
        sys.stdout.flush()
        if not no_open and has_screen():
            click.launch(address)

    try:
        anyio.run(serve, settings, path, port, ready)
    except KeyboardInterrupt:
        return OK
    except DockerException as error:
        raise read_only.unreachable(str(error), settings) from error
    return OK


def has_screen() -> bool:
    """Return True if a browser can be expected to open: on a terminal of a desktop."""
    desktop = sys.platform == "darwin" or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()
    return bool(desktop) and sys.stdout.isatty()


def refuse_used(port: int) -> None:
    """Raise CommandError for a port that something else listens on."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            reason = f"{LOOPBACK}:{port}: can't listen there ({error.strerror})"
            raise CommandError(f"{reason}; name another port with --port") from error


async def serve(
    settings: Settings, path: Path | None, port: int, ready: Callable[[int], None]
) -> None:
    """Look and serve until cancelled; ``ready`` is given the port. CommandError if the swarm can't
    be used at the first look; later ones show that on the page."""
    async with open_ports(settings, audit=False) as ports:
        sight = Sight(ports.clock)
        first = await look(ports, sight, settings, path)
        if first is not None:
            read_only.seen_swarm(first, settings)
        server = Server(SightPages(sight, ports.clock), Access())
        async with anyio.create_task_group() as group:
            ready(await group.start(server.serve, LOOPBACK, port))
            while True:
                await anyio.sleep(EVERY_S)
                await look(ports, sight, settings, path)


async def look(
    ports: Ports, sight: Sight, settings: Settings, path: Path | None
) -> Observed | None:
    """Read the files, the trail and the swarm once, for the page. Without a valid file the swarm is
    not asked: None."""
    try:
        written = await anyio.to_thread.run_sync(read_only.read_desired, settings, path)
    except CommandError as error:  # the path has gone since the start
        sight.wait_for_file([error.message])
        return None
    sight.trail = await anyio.to_thread.run_sync(remembered, settings)
    if not written.is_valid and not written.documents:
        sight.wait_for_file(written.problems)
        return None
    found = await observe_and_plan(ports, written.documents)
    sight.note(found, refusals(found), written.problems)
    return found.observed


def refusals(found: PlannedPass) -> dict[str, Refusal]:
    """Return a guard's refusal of each plan, by the document's name."""
    return {
        view.name: refused
        for view in found.views
        if (refused := first_refusal(view.plan, found.observed)) is not None
    }


def remembered(settings: Settings) -> TrailMemory:
    """Return the newest records of operator and commands; none if no trail can be read."""
    memory = TrailMemory()
    records = audit_trail.known_records(settings.state_dir)
    memory.preload([*islice(records, PRELOADED)])
    return memory
