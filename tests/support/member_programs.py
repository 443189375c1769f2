"""The member image's backup programs as processes of this machine, with the Barman that it pins.

Barman is installed once into a directory of its own, from the image's lock file and as its
Dockerfile does it. The programs are the image's modules, told where a test's secrets lie.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.lab.base_images import pip
from tests.lab.product_images import IMAGES

PYTHON = "/usr/bin/python3"
LOCK_FILE = IMAGES / "member/backup.txt"
_PROGRAM = """import os, sys
sys.path.insert(0, {package!r})
from pathlib import Path
from queenright_member.backup import base_backup, cluster_restore, drill, replica, replica_wal, wal
secrets, programs = Path({secrets!r}), Path({programs!r})
given, words = sys.argv[1], sys.argv[2:]
if given == "wal-archive":
    failed = Path({scratch!r}) / "wal-archive.failed"
    sys.exit(wal.archive(words, os.environ, secrets, programs, failed=failed))
if given == "wal-restore":
    sys.exit(wal.restore(words, os.environ, secrets, programs))
if given == "parent-wal-restore":
    sys.exit(wal.patiently_restore(words, os.environ, secrets, programs))
if given == "cluster-restore":
    note = Path({scratch!r}) / "restore"
    found = cluster_restore.Places(Path(words[0]), secrets, note, programs, 0.0)
    sys.exit(cluster_restore.run(os.environ, found))
if given == "replica-restore":
    places = replica.Places(secrets, Path({note!r}), programs, Path({scratch!r}), 0.0, 30.0, 0.2)
    sys.exit(replica.run(words, os.environ, places))
if given == "replica-wal-restore":
    places = replica_wal.Places(secrets, Path({note!r}), programs)
    sys.exit(replica_wal.run(words, os.environ, places))
if given == "backup-drill":
    found = drill.Places(
        Path(words[0]), secrets, programs, Path({scratch!r}), Path(words[1]), words[2]
    )
    sys.exit(drill.run([], os.environ, found))
archived_s = float(os.environ.get("ARCHIVED_S", "600"))
places = base_backup.Places(Path(words[0]), secrets, programs, Path({scratch!r}), archived_s)
sys.exit(base_backup.run(given, words[1:], os.environ, places))
"""


_STORED = """import sys
import boto3
from botocore.config import Config
config = Config(request_checksum_calculation="when_required")
client = boto3.client("s3", endpoint_url=sys.argv[1], config=config)
bucket, keys = sys.argv[2], sys.argv[3:]
for key in keys:
    client.delete_object(Bucket=bucket, Key=key)
for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket):
    for one in page.get("Contents", []):
        print(one["Key"])
"""


def barman_programs() -> Path:
    """Return the directory of Barman's commands, installed on first use."""
    pinned = hashlib.sha256(PYTHON.encode() + LOCK_FILE.read_bytes()).hexdigest()[:16]
    home = Path(tempfile.gettempdir()) / f"queenright-barman-{pinned}"
    with Path(f"{home}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "installed").exists():
            shutil.rmtree(home, ignore_errors=True)
            # Debian's Python, because PostgreSQL's user may not read another one's home.
            subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(home)], check=True)
            site = home / "lib/python3.11"
            options = ["--no-deps", "--require-hashes", "-r", str(LOCK_FILE)]
            pip(["install", "-q", "--prefix", str(home), "--ignore-installed", *options])
            if not (site / "site-packages/barman").is_dir():
                raise RuntimeError(f"pip put Barman somewhere else than into {site}")
            for script in (home / "bin").glob("barman-cloud-*"):
                _, _, rest = script.read_text().partition("\n")
                script.write_text(f"#!{home}/bin/python\n{rest}")
            (home / "installed").touch()
    return home / "bin"


@dataclass(frozen=True)
class MemberPrograms:
    """The programs below `home`, which any user may read; `variables` describe the repository."""

    home: Path
    variables: Mapping[str, str]

    @property
    def secrets(self) -> Path:
        return self.home / "secrets"

    @property
    def replica_note(self) -> Path:
        """The note of a replica that fetches WAL from the archive."""
        return self.home / "tmp/replica"

    @property
    def failed(self) -> Path:
        """The file with the cause for which the last try to archive failed."""
        return self.home / "tmp/wal-archive.failed"

    def lay_out(self) -> MemberPrograms:
        package = self.home / "package"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(
            IMAGES / "member/queenright_member", package / "queenright_member", ignore=ignored
        )
        self.secrets.mkdir()
        scratch = self.home / "tmp"  # short: a socket of Barman's is below it
        scratch.mkdir()
        scratch.chmod(0o1777)
        text = _PROGRAM.format(
            package=str(package),
            secrets=str(self.secrets),
            programs=str(barman_programs()),
            scratch=str(scratch),
            note=str(self.replica_note),
        )
        (self.home / "program.py").write_text(text)
        return self

    def write_credentials(self, access_key: str, secret_key: str) -> None:
        """Write the credentials file, of Amazon's form."""
        text = f"aws_access_key_id = {access_key}\naws_secret_access_key = {secret_key}\n"
        (self.secrets / "backup_credentials").write_text(f"[default]\n{text}")

    def stored(self, bucket: str, *removed: str) -> list[str]:
        """Return the names of the bucket's objects, after these were deleted."""
        line = [str(barman_programs() / "python"), "-c", _STORED]
        line += [self.variables["BACKUP_ENDPOINT"], bucket, *removed]
        done = subprocess.run(line, env=self._access(), check=True, capture_output=True, text=True)
        return done.stdout.splitlines()

    def make_bucket(self, bucket: str) -> None:
        """Make the bucket with Barman's one command that makes any; the rest take what is there."""
        line = [str(barman_programs() / "barman-cloud-check-wal-archive")]
        line += [f"--endpoint-url={self.variables['BACKUP_ENDPOINT']}", f"s3://{bucket}/x", "0"]
        subprocess.run(line, env=self._access(), check=True, capture_output=True)

    def _access(self) -> dict[str, str]:
        """Return the variables that Amazon's library reads."""
        found = {
            **os.environ,
            "AWS_SHARED_CREDENTIALS_FILE": str(self.secrets / "backup_credentials"),
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        if (authority := self.secrets / "backup_ca").exists():
            found["AWS_CA_BUNDLE"] = str(authority)
        return found

    def command(self, *words: str) -> str:
        """Return a shell command, for PostgreSQL's parameters, with nothing secret in it."""
        assignments = [f"{key}={shlex.quote(value)}" for key, value in self.variables.items()]
        return " ".join(["env", *assignments, *self._line(*words)])

    def run(
        self, *words: str, cwd: Path | None = None, user: int | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **self.variables, **variables}
        return subprocess.run(
            self._line(*words),
            env=environment,
            cwd=cwd,
            user=user,
            group=user,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )

    def _line(self, *words: str) -> list[str]:
        return [str(barman_programs() / "python"), "-I", str(self.home / "program.py"), *words]
