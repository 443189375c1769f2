"""The note of a restore: what the next start removes for it, keeps, and says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from images.member.queenright_member import health
from images.member.queenright_member.backup import cluster_restore
from images.member.queenright_member.findings import RESTORE_TAG, with_tag
from images.member.queenright_member.inputs import Paths
from images.member.queenright_member.start import start_again, write_private
from tests.unit.images.parent_archive import RESTORE, parent_places


@pytest.fixture
def places(tmp_path: Path) -> cluster_restore.Places:
    return parent_places(tmp_path)


def test_data_that_were_there_before_stay(
    places: cluster_restore.Places, capfd: pytest.CaptureFixture[str]
) -> None:
    (places.data / "PG_VERSION").write_text("16\n")
    assert cluster_restore.run(RESTORE, places) == 1
    assert (places.data / "PG_VERSION").read_text() == "16\n"
    assert "is not empty" in capfd.readouterr().err
    assert cluster_restore.unfinished(places.data, places.note) == ""
    assert (places.data / "PG_VERSION").exists()


def test_what_a_restore_left_that_was_ended_is_removed(places: cluster_restore.Places) -> None:
    assert cluster_restore.run(RESTORE, places) == 0
    (places.data / "base").mkdir()
    (places.data / "pg_wal").symlink_to(places.secrets)
    assert cluster_restore.unfinished(places.data, places.note) == cluster_restore.DID_NOT_END
    assert not any(places.data.iterdir())
    assert (places.secrets / "restore_credentials").exists()


def test_a_note_that_is_removed_lets_the_data_be(places: cluster_restore.Places) -> None:
    assert cluster_restore.run(RESTORE, places) == 0
    cluster_restore.remove_note(places.note)
    assert cluster_restore.unfinished(places.data, places.note) == ""
    assert (places.data / "PG_VERSION").exists()


def test_why_a_restore_failed_is_among_patronis_tags() -> None:
    why = 'target time: is not covered; see "backup"'
    text = with_tag("name: member-1\ntags: {clonefrom: true}\n", why, RESTORE_TAG)
    assert json.dumps(why)[1:-1].replace("\\", "") in text
    assert "clonefrom: true" in text


def test_the_health_check_knows_the_note_of_a_restore() -> None:
    assert str(cluster_restore.NOTE) == health.NOTE


def test_the_next_start_says_why_and_begins_with_an_empty_directory(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    paths = Paths.under(tmp_path)
    for directory in (paths.data, paths.raft, paths.config.parent):
        directory.mkdir(parents=True)
    (paths.data / "PG_VERSION").touch()
    cluster_restore.write_note(paths.raft / cluster_restore.NOTE.name, "there is no bucket")
    write_private(paths.config, "name: member-1\n")
    assert start_again(paths)
    assert not any(paths.data.iterdir())
    tags = yaml.safe_load(paths.config.read_text())["tags"]
    assert tags == {"queenright_restore": "there is no bucket"}
    assert "the restore begins again: there is no bucket" in capfd.readouterr().err
    (paths.raft / cluster_restore.NOTE.name).unlink()
    (paths.data / "PG_VERSION").touch()
    assert not start_again(paths)
    assert (paths.data / "PG_VERSION").exists()
