"""The operator's own repository on a volume, as a process of this machine with Debian's Swift.

It is the image's program with a data directory and secrets of the test's. The stores' ports, which
are fixed in a container's own network, and the address that it listens at are changed in a copy.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.lab.packages import install
from tests.lab.product_images import IMAGES
from tests.support.object_store import ACCESS_KEY, LIBRARY, PACKAGE, SECRET_KEY
from tests.support.ports import free_port

STARTS_S = 300.0
_PROGRAM = """import os, sys
from pathlib import Path
from queenright_repository.serving import run
sys.exit(run(os.environ, Path(sys.argv[1]), Path(sys.argv[2])))
"""


@dataclass
class VolumeRepository:
    """The server below `home`, with its data in `volume`, run as `user`; `certificate` is a file
    with key and certificate."""

    home: Path
    volume: Path
    user: int
    bucket: str = "backups"
    certificate: Path | None = None
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        scheme = "http" if self.certificate is None else "https"
        return f"{scheme}://127.0.0.1:{self.port}"

    def lay_out(self) -> VolumeRepository:
        """Copy the program."""
        if not LIBRARY.is_dir():
            if os.geteuid() != 0:
                pytest.skip(f"{PACKAGE} is not installed, and only root can do it")
            install([PACKAGE])
        package = self.home / "package/queenright_repository"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(IMAGES / "repository/queenright_repository", package, ignore=ignored)
        for port in ("6202", "6201", "6200"):
            changed(package / "files.py", f": {port}", f": {free_port()}")
        changed(package / "swift.py", '"0.0.0.0"', '"127.0.0.1"')
        (self.home / "program.py").write_text(_PROGRAM)
        return self

    def start(self) -> VolumeRepository:
        """Serve, with the certificate of now."""
        secrets = self.home / "secrets"
        shutil.rmtree(secrets, ignore_errors=True)
        secrets.mkdir()
        lines = f"aws_access_key_id = {ACCESS_KEY}\naws_secret_access_key = {SECRET_KEY}\n"
        (secrets / "backup_credentials").write_text(f"[default]\n{lines}")
        if self.certificate is not None:
            shutil.copyfile(self.certificate, secrets / "repository_certificate")
        for secret in secrets.iterdir():
            os.chown(secret, self.user, self.user)
            secret.chmod(0o400)
        variables = {"REPOSITORY_PORT": str(self.port), "REPOSITORY_BUCKET": self.bucket}
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                ["/usr/bin/python3", str(self.home / "program.py"), str(secrets), str(self.volume)],
                env={**os.environ, **variables, "PYTHONPATH": str(self.home / "package")},
                cwd="/",
                stdout=log,
                stderr=log,
                user=self.user,
                group=self.user,
                start_new_session=True,
            )
        self.await_port()
        return self

    def await_port(self) -> None:
        deadline = time.monotonic() + STARTS_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                has_ended = self.process is None or self.process.poll() is not None
                if has_ended or time.monotonic() > deadline:
                    raise RuntimeError((self.home / "log").read_text()) from None
                time.sleep(0.2)
            else:
                return

    def stop(self) -> None:
        """End it as Docker does, and whatever is left of it."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(30)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process = None


def changed(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1, f"{old} is not once in {file}"
    file.write_text(text.replace(old, new))
