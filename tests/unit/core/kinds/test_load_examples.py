"""The manifests that the project ships: valid, complete, and true to the contract."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from queenright.core.kinds.load import load
from queenright.core.manifest.problems import path_text
from tests.support.documents import document, loaded
from tests.support.vip_error_cases import with_vip

ROOT = Path(__file__).parents[4] / "manifests"
EXAMPLES = sorted([ROOT / "cluster.yaml", *(ROOT / "examples").glob("*.yaml")])


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_an_example_has_no_problem_at_all(file: Path) -> None:
    result = load({file.name: file.read_text()})
    assert result.problems == ()
    assert result.documents


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_an_example_names_its_schema(file: Path) -> None:
    first = file.read_text().splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=")
    assert (file.parent / first.partition("=")[2]).resolve().is_file()


def test_the_full_example_writes_every_field_with_its_default() -> None:
    full = loaded((ROOT / "examples/full.yaml").read_text()).documents[0]
    minimal = document((ROOT / "examples/minimal.yaml").read_text())
    full_dump, minimal_dump = (
        one.resource.model_dump(mode="json", by_alias=True) for one in (full, minimal)
    )
    for member in full_dump["spec"]["members"]:
        member["address"] = None
    assert full_dump == minimal_dump
    assert not {path for path in leaves(full_dump, ()) if path not in full.origin.lines}


def test_the_virtual_addresss_example_writes_every_field_with_its_default() -> None:
    example = loaded((ROOT / "examples/virtual-address.yaml").read_text()).documents[0]
    dumped = example.resource.spec.model_dump(mode="json", by_alias=True)["vip"]
    paths = leaves({"spec": {"vip": dumped}}, ())
    assert not {path for path in paths if path not in example.origin.lines}
    bare = document(with_vip()).resource.spec.model_dump(mode="json", by_alias=True)["vip"]
    assert {**dumped, "image": bare["image"]} == bare


def test_the_backups_examples_write_every_field() -> None:
    place = "spec.backup.repository.volume"
    assert missing_of_backup("backup.yaml") == {place}
    on_volume = missing_of_backup("backup-volume.yaml")
    assert not {path for path in on_volume if path.startswith(place)}


def missing_of_backup(name: str) -> set[str]:
    """Return the fields of `backup` that an example does not write."""
    example = loaded((ROOT / "examples" / name).read_text()).documents[0]
    dumped = example.resource.spec.model_dump(mode="json", by_alias=True)["backup"]
    paths = leaves({"spec": {"backup": dumped}}, ())
    return {path for path in paths if path not in example.origin.lines}


def test_the_restores_example_writes_every_field_but_the_other_targets() -> None:
    example = loaded((ROOT / "examples/restore.yaml").read_text()).documents[0]
    dumped = example.resource.spec.model_dump(mode="json", by_alias=True)["bootstrap"]
    paths = leaves({"spec": {"bootstrap": dumped}}, ())
    missing = {path.rpartition(".")[2] for path in paths if path not in example.origin.lines}
    assert missing == {"lsn", "name"}


def test_the_applications_full_example_writes_every_field() -> None:
    app = loaded((ROOT / "examples/notes-full.yaml").read_text()).documents[0]
    dumped = app.resource.model_dump(mode="json", by_alias=True)
    assert not {path for path in leaves(dumped, ()) if not is_written(path, app.origin.lines)}


def is_written(path: str, lines: Mapping[str, int]) -> bool:
    """The field itself, or a word or an empty list that stands for it."""
    return path in lines or path.removeprefix("spec.reconcile.") in {"state", "until"}


def test_the_demos_application_stands_on_the_demos_cluster() -> None:
    files = [ROOT / "cluster.yaml", ROOT / "notes.yaml"]
    result = load({file.name: file.read_text() for file in files})
    assert result.problems == ()
    assert [one.name for one in result.documents] == ["main", "notes"]


def leaves(value: Any, path: tuple[str | int, ...]) -> set[str]:
    if isinstance(value, dict) and value:
        return {leaf for key, item in value.items() for leaf in leaves(item, (*path, key))}
    return {path_text(path)}


def test_the_demos_file_is_twenty_lines() -> None:
    assert len((ROOT / "cluster.yaml").read_text().splitlines()) == 20
