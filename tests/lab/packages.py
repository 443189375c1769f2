"""Decides which Debian packages are missing, and installs them without starting any service.

Debian starts a service as soon as its package is installed; the lab wants the programs only. A
policy file forbids it during the installation, and where systemd runs the new units are disabled,
so that the next boot does not start them either. Services of packages that were there before are
left alone.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.lab.settings import LabError
from tests.lab.shell import PATH, attempt, run, say

#: Program that must be there -> Debian package that has it.
LAB_PROGRAMS: Mapping[str, str] = {
    "dockerd": "docker.io",
    "docker-registry": "docker-registry",
    "debootstrap": "debootstrap",
    "ip": "iproute2",
    "iptables": "iptables",
    "tini": "tini",
    "nsenter": "util-linux",
    "mount": "mount",
    "ps": "procps",
}
#: systemd units that these packages enable.
_UNITS: Mapping[str, tuple[str, ...]] = {
    "docker.io": ("docker.service", "docker.socket"),
    "containerd": ("containerd.service",),
    "docker-registry": ("docker-registry.service",),
    "haproxy": ("haproxy.service",),
    "caddy": ("caddy.service",),
}
_POLICY = Path("/usr/sbin/policy-rc.d")
_LOCK = Path("/run/queenright-lab-packages.lock")
_POLICY_MARK = "# queenright lab: no service starts while its package is installed"


def ensure_programs(programs: Mapping[str, str] = LAB_PROGRAMS) -> None:
    """Install the packages of those programs that are not on the machine, and say which."""
    missing = sorted(
        {p for program, p in programs.items() if shutil.which(program, path=PATH) is None}
    )
    if missing:
        install(missing)


def install(names: list[str]) -> None:
    """Install Debian packages; LabError when there is no apt or it fails.

    One at a time: another one's end would take away the policy under which this one installs.
    """
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _install(names)


def _install(names: list[str]) -> None:
    if shutil.which("apt-get") is None:
        raise LabError(f"please install: {' '.join(names)} (there is no apt-get here to do it)")
    say(f"installing Debian packages: {' '.join(names)}")
    apt = [
        "env",
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "-q",
        "-o",
        "DPkg::Lock::Timeout=300",
    ]
    new_units = [u for name, units in _UNITS.items() for u in units if not _installed(name)]
    with _no_services():
        command = [*apt, "install", "-y", "--no-install-recommends", *names]
        if attempt(*command, timeout_s=900).returncode != 0:
            run(*apt, "update", timeout_s=300)
            run(*command, timeout_s=900)
    if Path("/run/systemd/system").is_dir():
        for unit in new_units:
            attempt("systemctl", "disable", "--now", unit)


def _installed(package: str) -> bool:
    return "install ok installed" in attempt("dpkg-query", "-W", "-f=${Status}", package).stdout


@contextmanager
def _no_services() -> Iterator[None]:
    """Forbid service starts, unless the machine has a policy of its own."""
    ours = not _POLICY.exists() or _POLICY_MARK in _POLICY.read_text(errors="replace")
    if ours:
        _POLICY.write_text(f"#!/bin/sh\n{_POLICY_MARK}\nexit 101\n")
        os.chmod(_POLICY, 0o755)  # noqa: PTH101, S103 - invoke-rc.d runs it
    try:
        yield
    finally:
        if ours:
            _POLICY.unlink(missing_ok=True)
