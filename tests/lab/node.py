"""One node of the lab: a real dockerd in namespaces of its own, and the faults it can suffer.

Killing the init of the node's PID namespace ends everything in it at once, which is what a power
cut does. Disk contents survive it, as they would. What the kernel had not yet written to disk
survives too, unless the node has a disk of its own (``LAB_DISK_GIB``): that one loses it.
"""

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.lab import disk, network
from tests.lab.cgroups import NodeCgroup
from tests.lab.docker_client import client_environment, docker_command, finish
from tests.lab.engine import Engine
from tests.lab.node_boot import boot
from tests.lab.node_state import prepare_files, remove_state
from tests.lab.processes import ProcessRecord, children
from tests.lab.settings import LabError, LabSettings
from tests.lab.shell import PATH

_BOOT_TIMEOUT_S = 60.0
_HALT_TIMEOUT_S = 90.0
_KILL_TIMEOUT_S = 15.0
_POLL_S = 0.02


class Node:
    """A node by its name; holds no state of its own, so any process may use it."""

    def __init__(self, settings: LabSettings, name: str) -> None:
        self.name = name
        self.address = settings.node_address(name)
        self.engine = Engine(settings.socket(name))
        self._settings = settings
        self._cgroup = NodeCgroup(settings, name)
        self._pid_file = settings.pid_directory / f"{name}.json"

    def __repr__(self) -> str:
        return f"Node({self.name} at {self.address})"

    @property
    def directory(self) -> Path:
        return self._settings.node_directory(self.name)

    @property
    def docker_host(self) -> str:
        """Return the DOCKER_HOST of a client."""
        return f"unix://{self._settings.socket(self.name)}"

    @property
    def console(self) -> Path:
        """The log of the node's init and dockerd, over all its boots."""
        return self.directory / "console.log"

    # -- power -----------------------------------------------------------------------------

    def start(self, *, wait: bool = True) -> None:
        """Switch the node on, with the disk that it had; nothing happens when it is on.

        With `wait`, returns once its dockerd answers; LabError with the console's end otherwise.
        """
        if not self.is_powered():
            self.power_cut()
            network.add_party(self._settings, self.name, self.address)
            prepare_files(self._settings, self.name, self._cgroup.container_parent)
            self._boot()
        if wait:
            self.wait_until_up()

    def power_cut(self) -> None:
        """Cut the power: no connection is closed, no process hears of it."""
        if network.has_party(self._settings, self.name):
            network.unplug(self._settings, self.name)
        supervisor = ProcessRecord.read(self._pid_file)
        running = supervisor is not None and supervisor.is_running()
        init = self._init_pid(supervisor) if supervisor is not None and running else None
        if init is not None:
            self._stop_disk(init)
        if self._cgroup.is_frozen():
            self._cgroup.thaw()
        if supervisor is not None and running:
            if init is not None:
                init.signal(signal.SIGKILL)
                init.wait(_KILL_TIMEOUT_S)
            supervisor.signal(signal.SIGKILL)
            supervisor.wait(_KILL_TIMEOUT_S)
        self._clear()

    def halt(self, timeout_s: float = _HALT_TIMEOUT_S) -> None:
        """Shut down in order: dockerd stops its containers first. LabError after `timeout_s`."""
        supervisor = ProcessRecord.read(self._pid_file)
        if supervisor is not None and supervisor.is_running():
            if self._cgroup.is_frozen():
                self._cgroup.thaw()
            init = self._init_pid(supervisor)
            if init is not None:
                init.signal(signal.SIGTERM)
            if not supervisor.wait(timeout_s):
                raise LabError(f"{self.name} did not shut down within {timeout_s:.0f} s")
        self._clear()

    def is_powered(self) -> bool:
        """Return True if the node is on, whatever the state of its dockerd."""
        supervisor = ProcessRecord.read(self._pid_file)
        return supervisor is not None and supervisor.is_running()

    def is_up(self) -> bool:
        """Return True if the node is on and its dockerd answers within a second."""
        return self.is_powered() and self.engine.answers()

    def wait_until_up(self, timeout_s: float = _BOOT_TIMEOUT_S) -> None:
        """Wait for dockerd's answer; LabError with the console's end when it does not come."""

        def answered() -> bool:
            if not self.is_powered():
                raise LabError(f"{self.name} went off while it booted:\n{self.console_tail()}")
            return self.engine.answers()

        self._await(answered, timeout_s, "its dockerd to answer")

    def mend(self) -> None:
        """Undo freeze, partition and unplugging; a node that is off stays off."""
        if self._cgroup.is_frozen():
            self._cgroup.thaw()
        link = self.link
        if link == "unplugged":
            self.plug()
        if link in ("partitioned", "unplugged"):
            self.heal()

    # -- network ---------------------------------------------------------------------------

    def partition(self) -> None:
        """Cut the node off silently: the cable is in, nothing gets through."""
        self._require_power()
        network.partition(self._settings, self.name)

    def heal(self) -> None:
        """End a partition."""
        self._require_power()
        network.heal(self._settings, self.name)

    def unplug(self) -> None:
        """Pull the network cable: the node sees that the carrier is gone."""
        self._require_power()
        network.unplug(self._settings, self.name)

    def plug(self) -> None:
        """Put the network cable back."""
        self._require_power()
        network.plug(self._settings, self.name)

    @property
    def link(self) -> str:
        """`plugged`, `partitioned`, `unplugged`, or `none` when the node is off."""
        return network.link_state(self._settings, self.name)

    # -- processes -------------------------------------------------------------------------

    def freeze(self) -> None:
        """Stop every process of the node in mid-flight, containers included."""
        self._require_power()
        self._cgroup.freeze()

    def thaw(self) -> None:
        """Let a frozen node go on."""
        self._require_power()
        self._cgroup.thaw()

    def is_frozen(self) -> bool:
        return self._cgroup.is_frozen()

    def crash_dockerd(self, *, wait: bool = True) -> None:
        """Kill dockerd with SIGKILL; the node's init starts it again at once."""
        self._end_dockerd("KILL", wait=wait)

    def restart_dockerd(self, *, wait: bool = True) -> None:
        """Ask dockerd to end, as a service restart does; the init starts it again."""
        self._end_dockerd("TERM", wait=wait)

    def exec(
        self, *argv: str, text: str | None = None, timeout_s: float = 60, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on the node (in its namespaces, not in a container).

        With `check`, LabError with the command's own words when it fails.
        """
        return finish(self.enter_command(argv), None, text, timeout_s, check=check)

    def enter_command(self, argv: Sequence[str]) -> list[str]:
        """The command that runs `argv` in the node's namespaces; LabError when it is off."""
        self._require_power()
        supervisor = ProcessRecord.read(self._pid_file)
        init = self._init_pid(supervisor) if supervisor else None
        if init is None:
            raise LabError(f"{self.name} has no init yet")
        enter = ["nsenter", f"--target={init.pid}", "--net", "--pid", "--mount", "--uts", "--ipc"]
        return [*enter, "--", *argv]

    def docker(
        self, *args: str, text: str | None = None, timeout_s: float = 120, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run the docker command line against this node's dockerd.

        With `check`, LabError with the command's own words when it fails.
        """
        environment = {"PATH": PATH, "HOME": str(self.directory), **self.client_environment()}
        return finish([docker_command(), *args], environment, text, timeout_s, check=check)

    def client_environment(self) -> dict[str, str]:
        """DOCKER_* variables for a client, so that no context or login of a person leaks in."""
        config = self._settings.directory / "docker-client"
        return client_environment(self.engine, self.docker_host, config)

    def console_tail(self, lines: int = 30) -> str:
        try:
            return "\n".join(self.console.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return "(no console log)"

    def on_disk(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """Run a command with the disk of a node that is off in its place, ``<directory>/data``.

        LabError where the node is on, has no disk of its own, or the command fails.
        """
        image = self._settings.disk(self.name)
        if image is None or self.is_powered():
            raise LabError(f"{self.name}: it is on, or has no disk of its own (LAB_DISK_GIB)")
        return disk.run_on(image, self.directory / "data", argv)

    # -- the inside ------------------------------------------------------------------------

    def wipe(self, *, keep_images: bool) -> None:
        """Empty the disk of a node that is off; with `keep_images`, pulled layers stay."""
        if self.is_powered():
            raise LabError(f"{self.name} is on: its disk cannot be wiped")
        remove_state(self.directory, keep_images=keep_images)

    def _boot(self) -> None:
        record = boot(self._settings, self.name, self._cgroup, self.console)
        if record is None:
            raise LabError(f"{self.name} did not boot:\n{self.console_tail()}")
        record.write(self._pid_file)

    def _clear(self) -> None:
        """Remove what a switched-off node leaves: namespace, cable, cgroups, socket, pid file."""
        self._cgroup.remove()
        network.remove_party(self._settings, self.name)
        self._settings.socket(self.name).unlink(missing_ok=True)
        self._pid_file.unlink(missing_ok=True)
        if (image := self._settings.disk(self.name)) is not None:
            disk.wait_until_free(image)

    def _stop_disk(self, init: ProcessRecord) -> None:
        """Let the disk lose what is not synced, after which nothing reaches it any more."""
        if (image := self._settings.disk(self.name)) is not None:
            inside = Path(f"/proc/{init.pid}/root")
            disk.shut_down(image, inside / (self.directory / "data").relative_to("/"))

    def _init_pid(self, supervisor: ProcessRecord) -> ProcessRecord | None:
        inner = children(supervisor.pid)
        return ProcessRecord.of(inner[0]) if inner else None

    def _end_dockerd(self, number: str, *, wait: bool) -> None:
        before = self._dockerd_pid()
        self.exec("kill", f"-{number}", before)
        if wait:

            def is_another() -> bool:
                now = self._dockerd_pid()
                return now not in ("", before) and self.engine.answers()

            self._await(is_another, _HALT_TIMEOUT_S, "a new dockerd to answer")

    def _dockerd_pid(self) -> str:
        """dockerd's pid as the node sees it, empty between two of them."""
        return self.exec("cat", "/run/docker.pid", check=False).stdout.strip()

    def _require_power(self) -> None:
        if not self.is_powered():
            raise LabError(f"{self.name} is off")

    def _await(self, condition: Callable[[], bool], timeout_s: float, what: str) -> None:
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                raise LabError(
                    f"{self.name}: waited {timeout_s:.0f} s for {what}; its console says:\n"
                    + self.console_tail()
                )
            time.sleep(_POLL_S)
