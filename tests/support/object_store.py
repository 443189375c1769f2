"""A real S3 server: OpenStack Swift with its S3 interface, of Debian's packages.

It listens on the loopback, or on another address. One account, container, object and proxy server
each, in two processes; a ring of one device, which is a directory. The proxy speaks TLS when it is
given a certificate. All of it lives below one directory and ends with `stop`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.lab.packages import install
from tests.support.ports import free_port

PACKAGE, LIBRARY = "python3-swift", Path("/usr/lib/python3/dist-packages/swift")
STORES = ("account", "container", "object")
PROGRAM = Path(__file__).with_name("swift_servers.py")
STARTS_S = 240.0
ACCESS_KEY, SECRET_KEY = "backup:writer", "the-key-of-this-test-alone"
_PROXY = """[DEFAULT]
swift_dir = {home}
[pipeline:main]
pipeline = catch_errors gatekeeper cache s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:9
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_backup_writer = {secret} .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""
_STORE = """[DEFAULT]
swift_dir = {home}
devices = {home}/devices
mount_check = false
fallocate_reserve = 0
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""


@dataclass
class ObjectStore:
    """The server, with its data below `home`; `certificate` is a file with key and chain, `host`
    the address at which clients find it."""

    home: Path
    certificate: Path | None = None
    host: str = "127.0.0.1"
    ports: dict[str, int] = field(default_factory=dict)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def endpoint(self) -> str:
        scheme = "http" if self.certificate is None else "https"
        return f"{scheme}://{self.host}:{self.ports['proxy']}"

    def start(self) -> ObjectStore:
        if not LIBRARY.is_dir():
            if os.geteuid() != 0:
                pytest.skip(f"{PACKAGE} is not installed, and only root can do it")
            install([PACKAGE])
        (self.home / "devices/one").mkdir(parents=True)
        (self.home / "swift.conf").write_text("[swift-hash]\nswift_hash_path_suffix = test\n")
        self.ports = {kind: free_port() for kind in (*STORES, "proxy")}
        for kind in STORES:
            (self.home / f"{kind}.conf").write_text(_STORE.format(kind=kind, home=self.home))
        self._launch("stores", *(f"{kind}={self.ports[kind]}" for kind in STORES))
        self._await(*STORES)
        self.start_proxy()
        return self

    def start_proxy(self) -> None:
        """Start what clients talk to, which `stop_proxy` ended or which has another certificate."""
        (self.home / "proxy.conf").write_text(_PROXY.format(home=self.home, secret=SECRET_KEY))
        certificate = [str(self.certificate)] if self.certificate is not None else []
        self._launch("proxy", f"proxy={self.host}:{self.ports['proxy']}", *certificate)
        self._await("proxy")

    def _await(self, *kinds: str) -> None:
        deadline = time.monotonic() + STARTS_S
        while True:
            try:
                for kind in kinds:
                    host = self.host if kind == "proxy" else "127.0.0.1"
                    socket.create_connection((host, self.ports[kind]), 1).close()
            except OSError:
                ended = [name for name, one in self.processes.items() if one.poll() is not None]
                if ended or time.monotonic() > deadline:
                    raise RuntimeError((self.home / "log").read_text()) from None
                time.sleep(0.1)
            else:
                return

    def stop_proxy(self) -> None:
        self._end("proxy")

    def stop(self) -> None:
        for kind in list(self.processes):
            self._end(kind)

    def _launch(self, name: str, *words: str) -> None:
        with (self.home / "log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                ["/usr/bin/python3", str(PROGRAM), str(self.home), *words],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _end(self, kind: str) -> None:
        process = self.processes.pop(kind)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(20)


@contextlib.contextmanager
def object_store(home: Path, certificate: Path | None = None) -> Iterator[ObjectStore]:
    store = ObjectStore(home, certificate)
    try:
        yield store.start()
    finally:
        store.stop()
