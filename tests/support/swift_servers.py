"""A program for Debian's Python: servers of OpenStack Swift, several in one process.

`swift_servers.py HOME NAME=[HOST:]PORT ... [CERTIFICATE]` serves `HOME/NAME.conf` on each port.
Given the three stores it makes their rings first, of one device each. One process for what Swift
starts many of: each takes seconds of processor time only to begin.
"""

import sys
from pathlib import Path

from swift.common import utils

utils.eventlet_monkey_patch()

import eventlet  # noqa: E402 - patched first
from eventlet import wsgi  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402
from swift.common.wsgi import SwiftHttpProtocol, loadapp  # noqa: E402


def make_ring(home: Path, kind: str, port: int) -> None:
    builder = RingBuilder(4, 1, 0)
    device = {"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "one"}
    device |= {"replication_ip": "127.0.0.1", "replication_port": port, "weight": 1}
    builder.add_dev(device | {"id": 0, "meta": ""})
    builder.rebalance()
    builder.get_ring().save(str(home / f"{kind}.ring.gz"))


def serve(home: Path, kind: str, host: str, port: int, certificate: str | None) -> None:
    app = loadapp(str(home / f"{kind}.conf"), global_conf={"log_name": kind})
    listener = eventlet.listen((host, port), backlog=128)
    if certificate is not None:
        listener = eventlet.wrap_ssl(
            listener, certfile=certificate, keyfile=certificate, server_side=True
        )
    with (home / "log").open("a") as log:
        wsgi.server(listener, app, log, protocol=SwiftHttpProtocol, log_output=True)


def main() -> None:
    home, certificate = Path(sys.argv[1]), None
    if not sys.argv[-1].partition("=")[2]:
        certificate = sys.argv.pop()
    ports, hosts = dict[str, int](), dict[str, str]()
    for name, _, place in (word.partition("=") for word in sys.argv[2:]):
        host, _, port = place.rpartition(":")
        ports[name], hosts[name] = int(port), host or "127.0.0.1"
    utils.set_swift_dir(str(home))
    for name, port in ports.items():
        if name != "proxy":
            make_ring(home, name, port)
    for name, port in ports.items():
        eventlet.spawn(serve, home, name, hosts[name], port, certificate)
    while True:
        eventlet.sleep(3600)


if __name__ == "__main__":
    main()
