"""A stand-in for Barman's commands, and the repository that the tests describe to them."""

from __future__ import annotations

from pathlib import Path

URL = {"BACKUP_URL": "s3://backups/some/main"}


def barman(tmp_path: Path, command: str, script: str) -> Path:
    """Write a stand-in for one of Barman's commands, which notes its arguments and variables."""
    programs = tmp_path / "programs"
    programs.mkdir(exist_ok=True)
    file = programs / f"barman-cloud-{command}"
    noted = f'printf "%s\\n" "$@" > {tmp_path}/arguments; env > {tmp_path}/environment'
    file.write_text(f"#!/bin/sh\n{noted}\n{script}\n")
    file.chmod(0o755)
    return programs
