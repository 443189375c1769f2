"""A cgroup per node, on version 1, hybrid or version 2 hierarchies.

Decides where a node's own processes and its containers go, so that one write freezes the whole
node. Version 2 forbids processes in an inner cgroup: there the daemon sits in a leaf beside the
one that holds the containers. Invariant: every path lies under a cgroup named after the instance.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.lab.settings import LabError, LabSettings

_FREEZE_TIMEOUT_S = 10.0
_REMOVE_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Hierarchies:
    """Mount points of the cgroup hierarchies of this machine."""

    v1: tuple[Path, ...]
    freezer: Path | None
    cpuset: Path | None
    v2: Path | None

    @classmethod
    def read(cls, mountinfo: str | None = None) -> "Hierarchies":
        text = Path("/proc/self/mountinfo").read_text() if mountinfo is None else mountinfo
        v1: list[Path] = []
        special: dict[str, Path] = {}
        v2 = None
        for line in text.splitlines():
            left, _, right = line.partition(" - ")
            point = Path(left.split()[4])
            kind, _, options = right.split(maxsplit=2)
            if kind == "cgroup2" and v2 is None:
                v2 = point
            if kind == "cgroup" and point not in v1:
                v1.append(point)
                for controller in {"freezer", "cpuset"} & set(options.split(",")):
                    special[controller] = point
        if not v1 and v2 is None:
            raise LabError("no cgroups are mounted: mount them (Debian: package cgroupfs-mount)")
        return cls(tuple(v1), special.get("freezer"), special.get("cpuset"), v2)

    @property
    def roots(self) -> tuple[Path, ...]:
        return (*self.v1, *((self.v2,) if self.v2 else ()))


@dataclass(frozen=True, slots=True)
class NodeCgroup:
    """The cgroup of one node."""

    settings: LabSettings
    node: str

    @property
    def _relative(self) -> str:
        return f"{self.settings.name}/{self.node}"

    @property
    def container_parent(self) -> str:
        """Return dockerd's cgroup parent."""
        return f"/{self._relative}" if Hierarchies.read().v1 else f"/{self._relative}/containers"

    def create(self) -> list[Path]:
        """Make the node's cgroups; returns the files that a process writes itself into."""
        found = Hierarchies.read()
        if not found.v1 and found.v2:
            leaf = found.v2 / self._relative / "daemon"
            leaf.mkdir(parents=True, exist_ok=True)
            return [leaf / "cgroup.procs"]
        doors = []
        for root in found.v1:
            directory = root / self._relative
            directory.mkdir(parents=True, exist_ok=True)
            if root == found.cpuset:
                _inherit_cpuset(directory.parent)
                _inherit_cpuset(directory)
            doors.append(directory / "cgroup.procs")
        return doors

    def freeze(self) -> None:
        self._set_frozen(frozen=True)

    def thaw(self) -> None:
        self._set_frozen(frozen=False)

    def is_frozen(self) -> bool:
        with contextlib.suppress(OSError):
            found = Hierarchies.read()
            if found.freezer:
                state = (found.freezer / self._relative / "freezer.state").read_text()
                return state.strip() != "THAWED"
            if found.v2:
                return (found.v2 / self._relative / "cgroup.freeze").read_text().strip() == "1"
        return False

    def remove(self) -> None:
        """End what still runs in the node's cgroups and remove them; LabError when some stay."""
        for root in Hierarchies.read().roots:
            _remove_tree(root / self._relative)
            with contextlib.suppress(OSError):
                (root / self.settings.name).rmdir()  # goes with the last node

    def _set_frozen(self, *, frozen: bool) -> None:
        found = Hierarchies.read()
        if found.freezer:
            state = found.freezer / self._relative / "freezer.state"
            wanted = "FROZEN" if frozen else "THAWED"
            state.write_text(wanted)
            _await(lambda: state.read_text().strip() == wanted, f"{state} to say {wanted}")
        elif found.v2:
            directory = found.v2 / self._relative
            (directory / "cgroup.freeze").write_text("1" if frozen else "0")
            wanted = f"frozen {int(frozen)}"
            events = directory / "cgroup.events"
            _await(lambda: wanted in events.read_text(), f"{events} to say {wanted}")
        else:
            raise LabError("this machine has no freezer cgroup: freeze and thaw are not possible")


def _inherit_cpuset(directory: Path) -> None:
    for name in ("cpuset.cpus", "cpuset.mems"):
        if not (directory / name).read_text().strip():
            (directory / name).write_text((directory.parent / name).read_text())


def _remove_tree(directory: Path) -> None:
    if not directory.is_dir():
        return
    inner = sorted((p for p in directory.rglob("*") if p.is_dir()), reverse=True)
    deadline = time.monotonic() + _REMOVE_TIMEOUT_S
    for path in (*inner, directory):
        while True:
            _kill_members(path)
            try:
                path.rmdir()
                break
            except FileNotFoundError:
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    raise LabError(f"cannot remove the cgroup {path}: {error}") from error
                time.sleep(0.02)


def _kill_members(directory: Path) -> None:
    with contextlib.suppress(OSError):
        for pid in (directory / "cgroup.procs").read_text().split():
            os.kill(int(pid), signal.SIGKILL)


def _await(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _FREEZE_TIMEOUT_S
    while not condition():
        if time.monotonic() > deadline:
            raise LabError(f"waited {_FREEZE_TIMEOUT_S:.0f} s for {what}")
        time.sleep(0.005)
