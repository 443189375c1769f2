"""A node's own disk: an ext4 file system in a file, which loses at a power cut what was not synced.

Only the node's mount namespace has it mounted (``node-init.sh``), so that no other lab's node can
keep it alive. ``shut_down`` stops the file system as a power cut does: what its journal has not
committed, and all pages not yet written, are gone; the next mount replays the journal. Invariant:
the file system that is shut down is the one in the node's own image file, never the machine's.
"""

import fcntl
import os
import struct
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from tests.lab.settings import LabError
from tests.lab.shell import PATH, run

_SHUTDOWN = 0x8004587D  # FS_IOC_SHUTDOWN, which is EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN too
_NO_LOG_FLUSH = 2  # GOING_FLAGS_NOLOGFLUSH
_LOOP_MAJOR = 7
_FREE_TIMEOUT_S = 30.0
_GIB = 1 << 30
_MOUNTED = 'mount -o loop "$1" "$2" || exit 98; shift 2; "$@"'


def make(image: Path, gib: int) -> None:
    """Make an empty file system of ``gib`` GiB, sparse; one that is there stays as it is."""
    if image.exists():
        return
    fresh = image.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with fresh.open("wb") as file:
        file.truncate(gib * _GIB)
    run("mkfs.ext4", "-q", "-F", "-E", "nodiscard", str(fresh))
    fresh.rename(image)


def shut_down(image: Path, directory: Path) -> bool:
    """Stop the file system of ``image`` that is mounted at ``directory``, losing what is unsynced;
    False where something else is there, such as before the node has mounted it."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        if _backing_file(os.fstat(descriptor).st_dev) != image:
            return False
        fcntl.ioctl(descriptor, _SHUTDOWN, struct.pack("I", _NO_LOG_FLUSH))
    finally:
        os.close(descriptor)
    return True


def wait_until_free(image: Path) -> None:
    """Wait until nothing has the image mounted: its next mount is then a new one, after a replay of
    the journal. LabError after half a minute."""
    deadline = time.monotonic() + _FREE_TIMEOUT_S
    while image.exists() and (found := run("losetup", "--associated", str(image)).strip()):
        if time.monotonic() > deadline:
            raise LabError(f"{image}: still mounted somewhere ({found}); end what uses it")
        time.sleep(0.02)


def run_on(image: Path, directory: Path, argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command that finds the image's contents at ``directory``, which nobody else sees.

    The node has to be off. LabError with the command's own words if it fails.
    """
    wait_until_free(image)
    enter = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _MOUNTED, "sh"]
    done = subprocess.run(
        [*enter, str(image), str(directory), *argv],
        env={"PATH": PATH},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise LabError(f"{image}: {' '.join(argv[:1])} failed ({done.stderr.strip()})")
    return done


def _backing_file(device: int) -> Path | None:
    """Return the file behind a loop device, None where it is another kind of device."""
    if os.major(device) != _LOOP_MAJOR:
        return None
    try:
        text = Path(f"/sys/dev/block/7:{os.minor(device)}/loop/backing_file").read_text()
    except OSError:
        return None
    return Path(text.strip())
