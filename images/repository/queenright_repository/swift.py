"""One process with servers of Swift: `python3 -m queenright_repository.swift PART HOME …`.

`stores HOME` serves accounts, containers and objects; `proxy HOME BUCKET ACCOUNT PORT
[CERTIFICATE]` makes the bucket and serves S3; `upkeep HOME` gives the containers what they missed,
and takes out of them what was removed.
"""

import sys
import time
from pathlib import Path
from typing import Any

from swift.common import utils

utils.eventlet_monkey_patch()

import eventlet  # noqa: E402 - patched first
from eventlet import wsgi  # noqa: E402
from swift.account.replicator import AccountReplicator  # noqa: E402
from swift.common.internal_client import InternalClient  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402
from swift.common.utils import readconf  # noqa: E402
from swift.common.wsgi import SwiftHttpProtocol, loadapp  # noqa: E402
from swift.container.replicator import ContainerReplicator  # noqa: E402
from swift.container.updater import ContainerUpdater  # noqa: E402
from swift.obj.updater import ObjectUpdater  # noqa: E402

from .files import DEVICE, STORES  # noqa: E402

UPDATES_EACH_S, RECLAIMS_EACH_S = 30.0, 3600.0
BUCKET_TRIES = 5
PART_POWER = 4
"""The devices' folders are made by it: like the hash in `swift.conf` it must never change."""


def make_ring(home: Path, kind: str, port: int) -> None:
    """Write the ring of one store: one copy of everything, on the one device."""
    builder = RingBuilder(PART_POWER, 1, 0)
    device = {"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": DEVICE}
    device |= {"replication_ip": "127.0.0.1", "replication_port": port, "weight": 1}
    builder.add_dev(device | {"id": 0, "meta": ""})
    builder.rebalance()
    builder.get_ring().save(str(home / f"{kind}.ring.gz"))


def serve(app: Any, host: str, port: int, certificate: str | None = None) -> None:
    """Serve an application until the process ends; requests are not logged."""
    listener = eventlet.listen((host, port), backlog=256)
    if certificate is not None:
        listener = eventlet.wrap_ssl(
            listener, certfile=certificate, keyfile=certificate, server_side=True
        )
    wsgi.server(listener, app, sys.stderr, protocol=SwiftHttpProtocol, log_output=False)


def stores(home: Path) -> None:
    for kind, port in STORES.items():
        make_ring(home, kind, port)
    for kind, port in STORES.items():
        app = loadapp(str(home / f"{kind}.conf"), global_conf={"log_name": kind})
        eventlet.spawn(serve, app, "127.0.0.1", port)
    while True:
        eventlet.sleep(3600)


def proxy(home: Path, bucket: str, account: str, port: str, certificate: str | None = None) -> None:
    inside = InternalClient(str(home / "inside.conf"), "queenright-repository", BUCKET_TRIES)
    inside.create_container(f"AUTH_{account}", bucket)
    app = loadapp(str(home / "proxy.conf"), global_conf={"log_name": "proxy"})
    serve(app, "0.0.0.0", int(port), certificate)  # noqa: S104 - the container's own network


def upkeep(home: Path) -> None:
    """Repeat what other installations of Swift have processes of their own for."""
    reclaimed = time.monotonic()
    while True:
        time.sleep(UPDATES_EACH_S)
        ObjectUpdater(readconf(str(home / "object.conf"), "object-updater")).run_once()
        ContainerUpdater(readconf(str(home / "container.conf"), "container-updater")).run_once()
        if time.monotonic() - reclaimed > RECLAIMS_EACH_S:
            reclaimed = time.monotonic()
            for kind, made in (("container", ContainerReplicator), ("account", AccountReplicator)):
                made(readconf(str(home / f"{kind}.conf"), f"{kind}-replicator")).run_once()


def main() -> None:
    part, home, *words = sys.argv[1:]
    utils.set_swift_dir(home)
    {"stores": stores, "proxy": proxy, "upkeep": upkeep}[part](Path(home), *words)


if __name__ == "__main__":
    main()
