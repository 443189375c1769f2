"""A node's own disk: what a power cut takes, on a real ext4 file system in a loop device."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import disk
from tests.lab.settings import LabError, LabSettings

WRITER = """
import os, sys, time
os.chdir(sys.argv[1])
with open("synced", "w") as file:
    file.write("before")
    file.flush()
    os.fsync(file.fileno())
os.fsync(os.open(".", os.O_RDONLY))
with open("synced", "r+") as file:
    file.write("behind")
with open("unsynced", "w") as file:
    file.write("x" * 10000)
print("written", flush=True)
time.sleep(600)
"""
MOUNT = 'mount -o loop "$1" "$2" && exec "$3" -c "$4" "$2"'

needs_loop = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/dev/loop-control").exists(),
    reason="root and loop devices are needed",
)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    found = tmp_path / "disk.img"
    disk.make(found, 1)
    return found


@pytest.fixture
def writer(image: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has the image mounted for itself, and has written with and without a sync."""
    (tmp_path / "data").mkdir()
    argv = ["unshare", "--mount", "--propagation", "private", "sh", "-c", MOUNT, "sh"]
    process = subprocess.Popen(
        [*argv, str(image), str(tmp_path / "data"), sys.executable, WRITER],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    yield process
    process.kill()
    process.wait()


def contents(image: Path, directory: Path) -> dict[str, str]:
    script = 'cd "$1"; for f in *synced; do echo "$f $(cat "$f")"; done'
    done = disk.run_on(image, directory, ["sh", "-euc", script, "sh", str(directory)])
    lines = (line.partition(" ") for line in done.stdout.splitlines())
    return {name: text for name, _, text in lines}


@needs_loop
@pytest.mark.parametrize("is_cut", [True, False])
def test_a_cut_takes_what_was_not_synced(
    image: Path, writer: subprocess.Popen[str], tmp_path: Path, *, is_cut: bool
) -> None:
    data = tmp_path / "data"
    inside = Path(f"/proc/{writer.pid}/root") / data.relative_to("/")
    if is_cut:
        assert disk.shut_down(image, inside)
        with pytest.raises(OSError, match="Input/output error"):
            (inside / "later").write_text("nothing is written any more")
    writer.kill()
    writer.wait()
    found = contents(image, data)
    assert found["synced"] == ("before" if is_cut else "behind")
    assert found.get("unsynced", "") == ("" if is_cut else "x" * 10000)


@needs_loop
def test_only_the_image_itself_is_shut_down(
    image: Path, writer: subprocess.Popen[str], tmp_path: Path
) -> None:
    inside = Path(f"/proc/{writer.pid}/root") / (tmp_path / "data").relative_to("/")
    other = tmp_path / "other.img"
    disk.make(other, 1)
    assert not disk.shut_down(image, tmp_path / "data")  # the machine's own file system
    assert not disk.shut_down(image, tmp_path / "none")
    assert not disk.shut_down(other, inside)
    assert (inside / "synced").read_text() == "behind"


@needs_loop
def test_a_disk_that_is_mounted_is_not_free(
    image: Path, writer: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "_FREE_TIMEOUT_S", 0.1)
    with pytest.raises(LabError, match="still mounted somewhere"):
        disk.wait_until_free(image)
    writer.kill()
    writer.wait()
    monkeypatch.undo()
    disk.wait_until_free(image)


@needs_loop
def test_a_command_that_fails_on_a_disk_is_told(image: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with pytest.raises(LabError, match=r"cat failed .*No such file"):
        disk.run_on(image, tmp_path / "data", ["cat", str(tmp_path / "data/none")])


@pytest.fixture
def short() -> Iterator[Path]:
    """A directory in which a lab's sockets have short enough paths, as pytest's has not."""
    with tempfile.TemporaryDirectory(prefix="lab-") as found:
        yield Path(found)


def test_the_size_of_the_disks_is_remembered(short: Path) -> None:
    directory = {"LAB_DIR": str(short / "a/lab")}
    usual = LabSettings.from_environment(directory)
    own = LabSettings.from_environment({**directory, "LAB_DISK_GIB": "8"})
    assert usual.disk("node1") is None
    assert own.disk("node1") == short / "a/lab/nodes/node1/disk.img"
    own.remember()
    assert LabSettings.from_environment(directory).disk_gib == 8
    assert own.beside(1).disk_gib == 8
    assert own.conflict() is None
    assert "with LAB_DISK_GIB=8" in (usual.conflict() or "")


@pytest.mark.parametrize("size", ["-1", "1001", "much"])
def test_a_size_that_is_none_is_refused(size: str, tmp_path: Path) -> None:
    with pytest.raises(LabError, match=f"LAB_DISK_GIB={size}"):
        LabSettings.from_environment({"LAB_DIR": str(tmp_path), "LAB_DISK_GIB": size})
