"""Names of Raft files that are set aside, and small files that are written whole or not at all."""

import os
import sys
from pathlib import Path

from .raft_files import RaftFiles


def free_number(files: RaftFiles) -> int:
    """The first number under which nothing is set aside yet."""
    number, every = 1, (files.meta, files.dump, files.journal)
    while any(aside(path, number).exists() for path in every):
        number += 1
    return number


def aside(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.broken-{number}")


def obeyed(files: RaftFiles) -> str:
    try:
        return files.obeyed.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there wholly or not at all, whatever happens to the power."""
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def tell(text: str) -> None:
    print(f"WARNING: {text}", file=sys.stderr, flush=True)
