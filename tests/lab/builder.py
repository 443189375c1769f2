"""The lab's image builder: a dockerd of its own that builds and pushes, and nothing else.

It lives in the machine's own network namespace, so that a build step reaches what the machine
reaches, and has no bridge and no packet filter of its own. Several commands may use it at once:
whoever needs it starts it, the last one to leave stops it. A crashed user holds no lock, so the
next one finds the builder running, uses it, and stops it. Only one at a time builds: whoever
comes second finds what the first one has built.
"""

import fcntl
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.lab.packages import LAB_PROGRAMS, ensure_programs
from tests.lab.processes import ProcessRecord, end
from tests.lab.settings import LabError, LabSettings

#: Registries on private addresses speak plain HTTP.
_PLAIN_HTTP = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8")
_START_TIMEOUT_S = 30
_STOP_TIMEOUT_S = 30
_PROXY_VARIABLES = ("http_proxy", "https_proxy", "no_proxy")


@dataclass(frozen=True, slots=True)
class Builder:
    """A running builder, and Docker commands on it."""

    directory: Path

    @property
    def socket(self) -> Path:
        return self.directory / "docker.sock"

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of a Docker client for the builder alone."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DOCKER_", "BUILDX_"))}
        return kept | {
            "DOCKER_HOST": f"unix://{self.socket}",
            "DOCKER_CONFIG": str(self.directory / "client"),
            "DOCKER_BUILDKIT": "1",
        }

    def docker(self, *arguments: str, timeout_s: float = 600, cwd: Path | None = None) -> str:
        """Run a Docker command; its output without the last line break, LabError if it fails."""
        result = self.attempt(*arguments, timeout_s=timeout_s, cwd=cwd)
        if result.returncode != 0:
            said = f"{result.stdout}\n{result.stderr}".strip()[-4000:]
            raise LabError(f"`docker {' '.join(arguments)}` failed ({result.returncode}): {said}")
        return result.stdout.strip()

    def attempt(
        self, *arguments: str, timeout_s: float = 600, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a Docker command that may fail."""
        return subprocess.run(
            [docker_client(), *arguments],
            env=self.environment,
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def build(self, tag: str, context: Path, *options: str) -> str:
        """Build one image and return its id."""
        proxies = [f"--build-arg={name}" for name in _PROXY_VARIABLES if name in os.environ]
        self.docker("build", "--network=host", *proxies, *options, "--tag", tag, str(context))
        return self.image_id(tag) or ""

    def image_id(self, tag: str) -> str | None:
        """The id of a local image, None when there is none of that name."""
        result = self.attempt("image", "inspect", "--format", "{{.Id}}", tag)
        return result.stdout.strip() if result.returncode == 0 else None

    def push(self, tag: str) -> str:
        """Push an image and return the digest that the registry knows it by."""
        self.docker("push", "--quiet", tag)
        repository = tag.rpartition(":")[0]
        listed = self.docker("image", "inspect", "--format", '{{join .RepoDigests "\\n"}}', tag)
        digests = [line for line in listed.splitlines() if line.startswith(f"{repository}@")]
        return digests[-1].partition("@")[2] if digests else ""


def docker_client() -> str:
    """Debian's client, which builds with BuildKit by itself; another one needs a plugin for it."""
    client = shutil.which("docker", path="/usr/bin:/bin") or shutil.which("docker")
    if client is None:
        raise LabError("no docker client on this machine")
    return client


@contextmanager
def running_builder(settings: LabSettings) -> Iterator[Builder]:
    """The builder, started if need be; stopped by the last user that leaves."""
    if os.geteuid() != 0:
        raise LabError("the lab needs root")
    ensure_programs(LAB_PROGRAMS)
    builder = Builder(settings.builder_directory)
    (builder.directory / "client").mkdir(parents=True, exist_ok=True)
    with (builder.directory / "users.lock").open("w") as users:
        with _exclusive(builder):
            # One that runs may take long on a busy machine, and a second one could not start.
            if not _answers(builder, timeout_s=_START_TIMEOUT_S):
                _start(builder)
            fcntl.flock(users, fcntl.LOCK_SH)
        try:
            yield builder
        finally:
            with _exclusive(builder):
                try:
                    fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    pass  # someone else still uses it
                else:
                    stop(builder)


@contextmanager
def building(builder: Builder) -> Iterator[None]:
    """Hold the lock: one process at a time builds, pushes and removes images."""
    with _locked(builder.directory / "build.lock"):
        yield


@contextmanager
def _exclusive(builder: Builder) -> Iterator[None]:
    with _locked(builder.directory / "lifecycle.lock"):
        yield


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _record(builder: Builder) -> Path:
    return builder.directory / "dockerd.process"


def _start(builder: Builder) -> None:
    stop(builder)  # one that runs but does not answer
    (builder.directory / "docker.pid").unlink(missing_ok=True)
    command = [
        *("dockerd", "--host", f"unix://{builder.socket}"),
        *("--data-root", str(builder.directory / "data")),
        *("--exec-root", str(builder.directory / "exec")),
        *("--pidfile", str(builder.directory / "docker.pid")),
        *("--bridge", "none", "--iptables=false", "--ip-forward=false", "--ip-masq=false"),
        *("--log-level", "warn", "--log-opt", "max-size=10m"),
        *(f"--insecure-registry={network}" for network in _PLAIN_HTTP),
    ]
    log = builder.directory / "dockerd.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            cwd="/",
        )
    record = ProcessRecord.of(process.pid)
    if record is not None:
        record.write(_record(builder))
    deadline = time.monotonic() + _START_TIMEOUT_S
    while not _answers(builder):
        if process.poll() is not None or time.monotonic() > deadline:
            tail = log.read_text(errors="replace")[-2000:]
            raise LabError(f"the builder's dockerd did not start: {tail}")
        time.sleep(0.1)


def stop(builder: Builder) -> None:
    """End the builder that we started, if it runs; its images stay."""
    end(_record(builder), _STOP_TIMEOUT_S)


def _answers(builder: Builder, timeout_s: float = 10) -> bool:
    """Return True if the builder's dockerd answers within a time."""
    try:
        said = builder.socket.exists() and builder.attempt("version", timeout_s=timeout_s)
    except subprocess.TimeoutExpired:
        return False
    return said is not False and said.returncode == 0
