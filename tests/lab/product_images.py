"""Builds the images of images/ on the lab's stand-in bases and pushes them to a registry.

What has not changed is neither built nor pushed: an image is known by a digest of everything that
goes into it, and the registry is asked whether it still has what was pushed. When all of it is
there, not even the builder is started.

    python3 -m tests.lab.product_images [--registry HOST:PORT] [NAME ...]
"""

import argparse
import hashlib
import sys
import time
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab import base_images, npm_packages
from tests.lab.base_builds import ensure_base
from tests.lab.base_images import BASE_IMAGES, DEBIAN_SLIM, HAPROXY, POSTGRES, PYTHON
from tests.lab.builder import Builder, building, running_builder
from tests.lab.pushed_images import PushedImages
from tests.lab.settings import LabError, LabSettings
from tests.lab.shell import attempt, say

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "images"
# What a build makes, on this machine or in the image, is no input of it.
_NOT_INPUTS = {"__pycache__", "node_modules", "static", "static.next"}


@dataclass(frozen=True, slots=True)
class ProductImage:
    """One image: its name, its source, and its base."""

    name: str
    tag: str
    context: Path
    dockerfile: Path
    base: str
    inputs: tuple[Path, ...]
    wheels: Path | None = None
    requirements: tuple[Path, ...] = ()
    npm_lock: Path | None = None
    build_arguments: tuple[str, ...] = ()
    more_tags: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        """Repository and tag, without a registry (spec: database-cluster §9)."""
        return f"queenright-{self.name}:{self.tag}"

    @property
    def digest(self) -> str:
        """Changes whenever a file that goes into the image changes, or its base."""
        hashed = hashlib.sha256()
        hashed.update(f"{base_images.ROOTFS_DIGEST} {BASE_IMAGES[self.base].digest}".encode())
        hashed.update("\0".join(self.build_arguments).encode())
        for path in _files(self.inputs):
            mode = path.stat().st_mode & 0o777
            hashed.update(f"\0{path.relative_to(ROOT)} {mode:o}\0".encode())
            hashed.update(path.read_bytes())
        return hashed.hexdigest()[:32]


def product_images() -> tuple[ProductImage, ...]:
    """All images of the product, in the order in which they are built."""
    member, proxy, operator = IMAGES / "member", IMAGES / "proxy", IMAGES / "operator"
    vip, edge, repository = IMAGES / "vip", IMAGES / "edge", IMAGES / "repository"
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    sources = [ROOT / "operator", *(ROOT / name for name in ("pyproject.toml", "README.md"))]
    return (
        ProductImage(
            "member",
            "16",
            member,
            member / "Dockerfile",
            POSTGRES,
            (member,),
            member / "wheels",
            (member / "build.txt", member / "requirements.txt", member / "backup.txt"),
        ),
        ProductImage("proxy", "3.0-alpine", proxy, proxy / "Dockerfile", HAPROXY, (proxy,)),
        ProductImage("vip", "2.2", vip, vip / "Dockerfile", DEBIAN_SLIM, (vip,)),
        ProductImage("edge", "2.6", edge, edge / "Dockerfile", PYTHON, (edge,)),
        ProductImage(
            "repository",
            "2.30",
            repository,
            repository / "Dockerfile",
            DEBIAN_SLIM,
            (repository,),
        ),
        ProductImage(
            "operator",
            version,
            ROOT,
            operator / "Dockerfile",
            PYTHON,
            (operator, *sources, ROOT / "LICENSE", ROOT / "requirements/run.txt"),
            operator / "wheels",
            (operator / "build.txt", ROOT / "requirements/run.txt"),
        ),
    )


def companion_images() -> tuple[ProductImage, ...]:
    """Images of applications that use the product, built only when asked for by name."""
    notes = IMAGES / "notes"
    if not (notes / "Dockerfile").is_file():
        return ()
    manifest = tomllib.loads((notes / "pyproject.toml").read_text())["project"]
    major, minor = manifest["version"].split(".")[:2]
    counted = attempt("git", "-C", str(ROOT), "rev-list", "--count", "HEAD").stdout.strip()
    version = f"{major}.{minor}.{counted or 0}"  # spec: notes-app §9.1
    locks = tuple(notes / f"requirements/{name}.txt" for name in ("build", "run", "web"))
    files = ("Dockerfile", ".dockerignore", "pyproject.toml", "README.md", "src", "web")
    return (
        ProductImage(
            "notes",
            version,
            notes,
            notes / "Dockerfile",
            PYTHON,
            (*(notes / name for name in files), *locks),
            notes / "wheels",
            locks,
            npm_lock=notes / "web/package-lock.json",
            build_arguments=(f"VERSION={version}",),
            more_tags=("latest",),
        ),
    )


def publish(
    registry: str, names: Iterable[str] = (), settings: LabSettings | None = None
) -> dict[str, str]:
    """Build and push what is not there yet; name of each image -> its address in the registry.

    Without names: the product's own images.
    """
    settings = settings or LabSettings.from_environment()
    known = {image.name: image for image in (*product_images(), *companion_images())}
    wanted = set(names) or {image.name for image in product_images()}
    images = [image for image in known.values() if image.name in wanted]
    if unknown := wanted - {image.name for image in images}:
        raise LabError(f"no such image: {', '.join(sorted(unknown))}")
    pushed = PushedImages(settings.builder_directory / "pushed.json")
    stale = [image for image in images if not pushed.holds(registry, image.reference, image.digest)]
    if stale:
        with running_builder(settings) as builder, building(builder):
            for image in stale:
                tag = _built(builder, image)
                address = f"{registry}/{image.reference}"
                builder.docker("tag", tag, address)
                begun = time.monotonic()
                digest = builder.push(address)
                for more in image.more_tags:
                    alias = f"{address.rpartition(':')[0]}:{more}"
                    builder.docker("tag", tag, alias)
                    builder.push(alias)
                pushed.add(registry, image.reference, image.digest, digest)
                say(f"pushed {address} ({time.monotonic() - begun:.1f} s)")
                _forget_older(builder, tag)
    return {image.name: f"{registry}/{image.reference}" for image in images}


def ensure_built(builder: Builder, image: ProductImage) -> str:
    """Build an image, and its base, unless the builder has it; returns its local name."""
    with building(builder):
        return _built(builder, image)


def _built(builder: Builder, image: ProductImage) -> str:
    name, _, tag = image.reference.partition(":")
    local = f"{name}:{tag}-{image.digest[:12]}"
    if builder.image_id(local) is None:
        ensure_base(builder, image.base)
        options = [f"--file={image.dockerfile}"]
        options += [f"--build-arg={argument}" for argument in image.build_arguments]
        if image.wheels is not None:
            _download(image.wheels, image.requirements)
            options.append("--build-arg=PIP_OPTIONS=--no-index --find-links /wheels")
        if image.wheels is not None and image.npm_lock is not None:
            npm_packages.download(image.wheels, image.npm_lock)
            options.append("--build-arg=NPM_OPTIONS=--offline")
        begun = time.monotonic()
        builder.build(local, image.context, *options)
        say(f"built {image.reference} ({time.monotonic() - begun:.1f} s)")
    return local


def _forget_older(builder: Builder, current: str) -> None:
    """Drop earlier builds of an image, so that the builder's disk does not fill up."""
    repository = current.partition(":")[0]
    listed = builder.docker("image", "ls", "--format", "{{.Repository}}:{{.Tag}}", repository)
    old = [tag for tag in listed.splitlines() if tag != current and ":<none>" not in tag]
    if old:
        builder.attempt("image", "rm", *old)  # one that a container uses stays
    builder.attempt("image", "prune", "--force")


def _download(wheels: Path, requirements: Sequence[Path]) -> None:
    """Have exactly the pinned packages in `wheels`, so that the build itself looks nothing up."""
    pinned = hashlib.sha256(b"".join(path.read_bytes() for path in requirements)).hexdigest()
    mark = wheels / ".pinned"
    if mark.exists() and mark.read_text() == pinned:
        return
    for old in wheels.glob("[!.]*"):
        old.unlink()
    begun = time.monotonic()
    asked = ["download", "-q", "--no-deps", "--require-hashes", "-d", str(wheels)]
    for path in requirements:  # one at a time: an image's environments may pin other versions
        base_images.pip([*asked, "-r", str(path)])
    mark.write_text(pinned)
    say(f"downloaded {wheels.parent.name}'s packages ({time.monotonic() - begun:.1f} s)")


def _files(inputs: Iterable[Path]) -> list[Path]:
    found = []
    for path in inputs:
        for file in [path] if path.is_file() else path.rglob("*"):
            parts = file.relative_to(ROOT).parts
            ignored = bool(_NOT_INPUTS & set(parts)) or any(p.endswith(".egg-info") for p in parts)
            if file.is_file() and not ignored and file.parent.name != "wheels":
                found.append(file)
    return sorted(set(found))


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; exit status 0 when every image is in the registry, 1 with the reason."""
    parser = argparse.ArgumentParser(prog="tests.lab.product_images", description=__doc__)
    parser.add_argument("--registry", help="default: the lab's own, which is started if need be")
    parser.add_argument(
        "names",
        nargs="*",
        help="member, proxy, vip, edge, repository, operator (default: these), notes",
    )
    parser.add_argument("--all", action="store_true", help="every image, the companions too")
    given = parser.parse_args(argv)
    begun = time.monotonic()
    every = [i.name for i in (*product_images(), *companion_images())] if given.all else []
    try:
        addresses = publish(given.registry or _lab_registry(), given.names or every)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    print("\n".join(addresses.values()))
    say(f"{len(addresses)} images in the registry ({time.monotonic() - begun:.1f} s)")
    return 0


def _lab_registry() -> str:
    from tests.lab.registry import ensure_registry

    return ensure_registry()


if __name__ == "__main__":
    sys.exit(main())
