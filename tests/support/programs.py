"""Programs that unit tests let speak: installed where they are missing and that may be done."""

import os
import shutil

import pytest

from tests.lab.packages import ensure_programs
from tests.lab.shell import PATH


def require(**packages: str) -> dict[str, str]:
    """Return each program's path by its name, given the Debian package that has it.

    Skips the test if one is missing and only root could install it.
    """
    missing = [name for name in packages if shutil.which(name, path=PATH) is None]
    if missing and os.geteuid() != 0:
        pytest.skip(f"{', '.join(missing)} is not installed, and only root can do it")
    ensure_programs(packages)
    return {name: shutil.which(name, path=PATH) or name for name in packages}
