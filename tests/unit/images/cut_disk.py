"""A file system of a test's own, whose power can be cut: what was not synced is lost."""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2  # EXT4_IOC_SHUTDOWN: what was not synced is lost
HAS_EXT4 = "ext4" in Path("/proc/filesystems").read_text() and Path("/dev/loop-control").exists()
needs_disk = pytest.mark.skipif(
    os.geteuid() != 0 or not HAS_EXT4, reason="needs root and ext4 in the kernel"
)


@contextmanager
def disk_in(directory: Path) -> Iterator[Path]:
    """Yield the directory on which it is mounted."""
    image, mounted = directory / "image", directory / "raft"
    mounted.mkdir()
    with image.open("wb") as file:
        file.truncate(32 << 20)
    subprocess.run(["/sbin/mkfs.ext4", "-q", str(image)], check=True)
    mount(image, mounted)
    yield mounted
    subprocess.run(["umount", str(mounted)], check=False)


def mount(image: Path, mounted: Path) -> None:
    subprocess.run(["mount", "-o", "loop,commit=300", str(image), str(mounted)], check=True)


def cut_power(disk: Path) -> None:
    """Everything that is only in memory is lost, as after a power cut."""
    descriptor = os.open(disk, os.O_RDONLY)
    fcntl.ioctl(descriptor, SHUTDOWN, ctypes.c_uint32(NO_LOG_FLUSH))
    os.close(descriptor)


def power_on(disk: Path) -> None:
    """Mount what the disk has by now, as a copy: a mount namespace that was made meanwhile (a lab's
    node has one) keeps the file system without power, and its image would be that one again."""
    subprocess.run(["umount", str(disk)], check=True)
    image = disk.with_name("image after the cut")
    shutil.copyfile(disk.with_name("image"), image)
    mount(image, disk)
