"""A node's disk: the files that make it a machine of its own, and what a wipe takes off it."""

import json
import shutil
from pathlib import Path

from tests.lab import disk
from tests.lab.settings import LabSettings

_CONSOLE_LIMIT_BYTES = 5_000_000
#: What holds pulled image layers in dockerd's data directory.
_IMAGE_STORE = frozenset({"image", "overlay2"})


def prepare_files(settings: LabSettings, name: str, cgroup_parent: str) -> None:
    """Write daemon.json and the files that the node sees under /etc."""
    directory = settings.node_directory(name)
    etc = directory / "etc"
    (etc / "docker").mkdir(parents=True, exist_ok=True)
    (directory / "data").mkdir(exist_ok=True)
    if (image := settings.disk(name)) is not None:
        disk.make(image, settings.disk_gib)
    hosts = ["127.0.0.1 localhost"]
    hosts += [f"{settings.node_address(other)} {other}" for other in settings.node_names]
    (etc / "hosts").write_text("\n".join(hosts) + "\n")
    (etc / "hostname").write_text(name + "\n")
    # Nobody answers there, and says so at once: a name outside the swarm fails without a wait.
    resolv = f"nameserver {settings.gateway}\noptions timeout:1 attempts:1\n"
    (etc / "resolv.conf").write_text(resolv)
    config = {
        "hosts": ["unix:///run/docker.sock", f"unix://{settings.socket(name)}"],
        "data-root": str(directory / "data"),
        "exec-root": "/run/docker",
        "pidfile": "/run/docker.pid",
        "cgroup-parent": cgroup_parent,
        "exec-opts": ["native.cgroupdriver=cgroupfs"],
        "insecure-registries": [settings.registry],
        "log-driver": "json-file",
        "log-opts": {"max-size": "5m", "max-file": "2"},
    }
    (directory / "daemon.json").write_text(json.dumps(config, indent=1))
    console = directory / "console.log"
    if console.exists() and console.stat().st_size > _CONSOLE_LIMIT_BYTES:
        console.rename(console.with_suffix(".log.1"))


def remove_state(directory: Path, *, keep_images: bool) -> None:
    """Remove swarm membership, containers, volumes, networks; `keep_images` leaves layers,
    but for those on a disk of its own, which goes whole."""
    (directory / "disk.img").unlink(missing_ok=True)
    if not keep_images:
        shutil.rmtree(directory, ignore_errors=True)
        return
    data = directory / "data"
    if not data.is_dir():
        return
    _remove_container_layers(data)
    for entry in data.iterdir():
        if entry.name in _IMAGE_STORE:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _remove_container_layers(data: Path) -> None:
    """Remove the writable layers of containers, which the image store lists beside the images."""
    layers = data / "overlay2"
    for container in (data / "image/overlay2/layerdb/mounts").glob("*"):
        for field in ("mount-id", "init-id"):
            pointer = container / field
            if not pointer.exists():
                continue
            layer = layers / pointer.read_text().strip()
            short_name = layer / "link"
            if short_name.exists():
                (layers / "l" / short_name.read_text().strip()).unlink(missing_ok=True)
            shutil.rmtree(layer, ignore_errors=True)
        shutil.rmtree(container)
