"""Builds the lab's stand-ins for base images, unless the builder has them."""

import shutil
import tempfile
import time
from pathlib import Path

from tests.lab import base_images
from tests.lab.base_images import BASE_IMAGES, DEBIAN, POSTGRES
from tests.lab.builder import Builder
from tests.lab.shell import run, say


def ensure_base(builder: Builder, tag: str) -> None:
    """Make a stand-in base image, and what it stands on, unless the builder has this very one."""
    base = BASE_IMAGES[tag]
    marked = f"queenright-lab/base:{base.digest}"
    if builder.image_id(marked) is None:
        _ensure_debian(builder)
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(dir=builder.directory) as scratch:
            context = Path(scratch) / "context"
            context.mkdir()
            (context / "Dockerfile").write_text(base.dockerfile)
            if tag == POSTGRES:
                base_images.unpack_postgres(context, builder.directory / "downloads")
            builder.build(marked, context)
        say(f"built the stand-in for {tag} ({time.monotonic() - begun:.1f} s)")
    builder.docker("tag", marked, tag)


def _ensure_debian(builder: Builder) -> None:
    marked = f"{DEBIAN}-{base_images.ROOTFS_DIGEST}"
    if builder.image_id(marked) is None:
        begun = time.monotonic()
        rootfs = builder.directory / "rootfs"
        archive = builder.directory / "rootfs.tar"
        base_images.make_rootfs(rootfs)
        run("tar", "-C", str(rootfs), "-cf", str(archive), ".", timeout_s=120)
        shutil.rmtree(rootfs)
        builder.docker("import", "--change", 'CMD ["bash"]', str(archive), marked)
        archive.unlink()
        say(f"bootstrapped Debian ({time.monotonic() - begun:.1f} s)")
    builder.docker("tag", marked, DEBIAN)
