"""Findings that keep PostgreSQL from starting, as a tag or an exit status shows them."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from images.member.queenright_member.findings import PROBE, damage_of, look, with_tag
from images.member.queenright_member.inputs import Paths
from images.member.queenright_member.start import say_finding, write_private
from tests.unit.images.member_case import with_volumes

ROOT = Path(__file__).resolve().parents[3]
IDENTIFIER = struct.pack("<Q", 7_711_066_407_955_226_650)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return with_volumes(tmp_path)


def with_data(paths: Paths) -> Path:
    (paths.data / "global").mkdir()
    (paths.data / "PG_VERSION").write_text("16\n")
    control = paths.data / "global/pg_control"
    control.write_bytes(IDENTIFIER.ljust(8192, b"\1"))
    return control


def test_whole_data_and_no_data_are_no_finding(paths: Paths) -> None:
    assert look(paths) == ""
    with_data(paths)
    assert look(paths) == ""
    assert not (paths.data / PROBE).exists()


@pytest.mark.parametrize(
    ("content", "finding"),
    [
        (bytes(8192), "damaged-control-file"),
        (b"", "damaged-control-file"),
        (struct.pack("<Q", 10**17 - 1), "damaged-control-file"),
        (None, "no-control-file"),
        (IDENTIFIER, ""),
    ],
)
def test_patroni_waits_for_a_valid_system_identifier(
    paths: Paths, content: bytes | None, finding: str
) -> None:
    control = with_data(paths)
    control.unlink() if content is None else control.write_bytes(content)
    assert damage_of(paths.data) == finding


def test_a_directory_without_its_version_is_found(paths: Paths) -> None:
    with_data(paths)
    (paths.data / "PG_VERSION").unlink()
    assert look(paths) == "no-version-file"


def test_a_copy_that_was_interrupted_has_a_label_and_no_control_file(paths: Paths) -> None:
    """``pg_basebackup`` writes ``backup_label`` first and ``global/pg_control`` last."""
    control = with_data(paths)
    (paths.data / "backup_label").touch()
    assert look(paths) == ""  # complete, and not started yet
    control.unlink()
    assert look(paths) == "interrupted-copy"


def test_the_finding_is_one_of_patronis_tags_and_nothing_else_changes(paths: Paths) -> None:
    text = 'name: "member-1"\ntags: {nofailover: false}\nsecret: "a\\"b: #c"\n'
    write_private(paths.config, text)
    say_finding(paths)
    assert paths.config.read_text() == text
    with_data(paths).unlink()
    say_finding(paths)
    before, after = yaml.safe_load(text), yaml.safe_load(paths.config.read_text())
    tags = {"nofailover": False, "queenright_finding": "no-control-file"}
    assert after == before | {"tags": tags}
    assert yaml.safe_load(with_tag("name: x\n", "no-room"))["tags"] == {
        "queenright_finding": "no-room"
    }


def test_a_look_that_fails_keeps_nobody_from_starting(paths: Paths) -> None:
    """Patroni has its own words for it, and its Raft node votes."""
    write_private(paths.config, "name: x\n")
    paths.data.rmdir()
    say_finding(paths)
    assert paths.config.read_text() == "name: x\n"
    assert with_tag("- x\n", "no-room") == "- x\n"


FULL = """
import sys
from pathlib import Path
from images.member.queenright_member.findings import PROBE, has_no_room
volume = Path(sys.argv[1])
found = [has_no_room(volume)]
(volume / "x").touch()
found.append(has_no_room(volume))
try:
    (volume / "fill").write_bytes(bytes(10**6))
except OSError:
    pass
found += [has_no_room(volume), (volume / PROBE).exists()]
print(found)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_full_file_system_is_found(tmp_path: Path) -> None:
    mount = f'mount -t tmpfs -o size=256k tmpfs "{tmp_path}" && exec "$0" -c "$1" "{tmp_path}"'
    result = subprocess.run(
        ["unshare", "--mount", "sh", "-c", mount, sys.executable, FULL],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout.strip() == "[False, False, True, False]", result.stderr
