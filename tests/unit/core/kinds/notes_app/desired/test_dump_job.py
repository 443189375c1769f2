"""The dump's own shell script, run by a real shell: where the password goes, and which files stay.

PostgreSQL's tools are stand-ins here that note how they were called; the lab runs the real ones.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

from queenright.core.kinds.notes_app.desired.dump_job import SCRIPT

NAME = "notes-20261121T020304Z-1.0.100.dump"
PG_DUMP = """#!/bin/sh
echo "$@" > {tmp}/called
[ -e {tmp}/fails ] && exit 1
for word; do case $word in --file=*) echo dump > "${{word#--file=}}" ;; esac; done
"""
PG_RESTORE = """#!/bin/sh
[ -e {tmp}/unreadable ] && exit 1
printf '; a comment\\n1; table\\n2; data\\n'
"""


@dataclass(frozen=True)
class Job:
    """A place for the job to run in."""

    root: Path

    @property
    def dumps(self) -> Path:
        return self.root / "dumps"

    def run(self, url: str, *, keep: int = 2, name: str = NAME) -> subprocess.CompletedProcess[str]:
        (self.root / "app_database_url").write_text(url)
        text = SCRIPT
        for place in ("/tmp/", "/run/secrets/"):
            text = text.replace(place, "@root@/")
        text = text.replace("@root@", str(self.root))
        return subprocess.run(
            ["sh", "-c", text.replace("cd /dumps", f"cd {self.dumps}")],
            env={
                "PATH": f"{self.root}/bin:{os.environ['PATH']}",
                "DUMP_APP": "notes",
                "DUMP_NAME": name,
                "DUMP_KEEP": str(keep),
                "DUMP_TIMEOUT": "10",
                "DUMP_LOCK_WAIT": "60s",
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    @property
    def called(self) -> str:
        return (self.root / "called").read_text()

    @property
    def passfile(self) -> str:
        return (self.root / "pgpass").read_text()

    @property
    def files(self) -> list[str]:
        return sorted(path.name for path in self.dumps.iterdir())


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "bin").mkdir()
    (tmp_path / "dumps").mkdir()
    for name, text in (("pg_dump", PG_DUMP), ("pg_restore", PG_RESTORE)):
        program = tmp_path / "bin" / name
        program.write_text(text.format(tmp=tmp_path))
        program.chmod(0o755)
    assert shutil.which("awk")
    return Job(tmp_path)


def url_with(password: str) -> str:
    return (
        f"postgresql://notes_1a2b3c4d:{quote(password, safe='')}@10.0.0.1:5000,10.0.0.2:5000/notes"
        "?target_session_attrs=read-write&options=-c%20role%3Dnotes"
    )


@pytest.mark.parametrize(
    "password",
    [
        "simple",
        "a/b+c==",
        "with:colon",
        "back\\slash",
        "at@sign#hash?mark",
        "100%25",
        "käse€",
        "& ;'\"$x",
    ],
)
def test_the_password_is_in_the_passfile_alone(job: Job, password: str) -> None:
    done = job.run(url_with(password))
    assert done.returncode == 0, done.stderr
    escaped = password.replace("\\", "\\\\").replace(":", "\\:")
    assert job.passfile == f"*:*:*:*:{escaped}\n"
    assert (job.root / "pgpass").stat().st_mode & 0o077 == 0
    assert (
        "--dbname=postgresql://notes_1a2b3c4d@10.0.0.1:5000,10.0.0.2:5000/notes?target"
        in job.called
    )
    for said in (job.called, done.stdout, done.stderr):
        assert quote(password, safe="") not in said.replace(NAME, "")


def test_a_good_dump_has_its_name_and_says_so(job: Job) -> None:
    done = job.run(url_with("pw"))
    assert done.stdout == f"dumped name={NAME} bytes=5 entries=2 removed=0\n"
    assert job.files == [NAME]
    assert (job.dumps / NAME).stat().st_mode & 0o077 == 0


def test_only_the_newest_of_this_application_stay(job: Job) -> None:
    others = ["notes-2-20260101T000000Z-1.0.1.dump", "notes-by-hand.dump", "readme"]
    others += [".notes-2-20260101T000000Z-1.0.1.dump.partial"]  # another application's, under way
    olds = [f"notes-2026010{day}T000000Z-1.0.1.dump" for day in (1, 2, 3)]
    for name in (*others, *olds, ".notes-20260101T000000Z-1.0.0.dump.partial"):
        (job.dumps / name).write_text("")
    done = job.run(url_with("pw"), keep=2)
    assert "removed=2" in done.stdout
    assert job.files == sorted([*others, olds[2], NAME])


@pytest.mark.parametrize("trouble", ["fails", "unreadable"])
def test_a_bad_dump_leaves_nothing_and_removes_nothing(job: Job, trouble: str) -> None:
    (job.root / trouble).touch()
    old = "notes-20260101T000000Z-1.0.1.dump"
    (job.dumps / old).write_text("")
    done = job.run(url_with("pw"), keep=1)
    assert done.returncode == 1
    assert "dump failed: pg_" in done.stderr
    assert job.files == [old]


@pytest.mark.parametrize(
    "url",
    [
        "host=10.0.0.1 password=geheim dbname=notes",
        "postgresql://notes@10.0.0.1/notes?password=geheim",
        "postgresql://notes@10.0.0.1/notes?sslmode=require&password=geheim",
    ],
)
def test_a_connection_string_that_would_show_its_password_is_refused(job: Job, url: str) -> None:
    done = job.run(url)
    assert done.returncode == 1
    assert "geheim" not in done.stdout + done.stderr
    assert not (job.root / "called").exists()


def test_without_a_place_for_dumps_there_is_none(job: Job) -> None:
    job.dumps.rmdir()
    assert "there is no place for dumps" in job.run(url_with("pw")).stderr
