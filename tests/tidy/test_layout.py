"""The layout: unit tests lie where their module lies, and only a kind's folder asks for a kind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tidy.test_tidy import ROOT, named, text_of, tracked

OPERATOR = Path("operator/queenright")
UNIT = Path("tests/unit")
PLACES = (OPERATOR, Path(), Path("tests"))
"""The models for folders of tests/unit: the operator's rooms, `images`, and parts of tests with
tests of their own."""

FILES = {path.relative_to(ROOT) for path in tracked()}
FOLDERS = {folder for file in FILES for folder in file.parents}
TESTS = sorted(file for file in FILES if file.is_relative_to(UNIT) and file.match("test_*.py"))
MODULES = {file.relative_to(OPERATOR) for file in FILES if file.is_relative_to(OPERATOR)}


KINDS = OPERATOR / "core" / "kinds"
ASKS = re.compile(
    r"isinstance\([^()]*(?:\([^()]*\))?[^()]*, \(?"
    r"(?:Desired(?:Cluster|App)|PostgresCluster|NotesApp)\b"
    r"|\b(?:POSTGRES_CLUSTER|NOTES_APP)\b|[\"'](?:PostgresCluster|NotesApp)[\"']"
    r"|\b(?:PostgresCluster|NotesApp)\.KIND\b"
)
"""A question for one kind: by the type of its desired state or model, its value or its name."""


def stray(test: Path) -> str:
    """Return the reason why a test file is in the wrong folder, empty if it is in the right one."""
    folder = test.parent.relative_to(UNIT)
    if not any(place / folder in FOLDERS for place in PLACES):
        return f"{test}: neither operator/queenright nor tests has a folder {folder}"
    if OPERATOR / folder not in FOLDERS:
        return ""
    module = test.name.removeprefix("test_")
    rooms = {str(file.parent) for file in MODULES if file.name == module}
    if rooms and str(folder) not in rooms:
        return f"{test}: {module} is in {', '.join(sorted(rooms))}"
    return ""


def test_each_unit_test_lies_in_its_modules_room() -> None:
    assert TESTS
    assert [why for test in TESTS if (why := stray(test))] == []


def test_no_helper_lies_between_unit_tests_of_the_operator() -> None:
    helpers = [
        named(ROOT / file)
        for file in FILES
        if file.suffix == ".py"
        and file.is_relative_to(UNIT)
        and OPERATOR / file.parent.relative_to(UNIT) in FOLDERS
        and not (file.match("test_*.py") or file.name == "conftest.py")
    ]
    assert not helpers, "helpers lie in tests/support"


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("core/swarm/test_diff.py", ""),
        ("core/planning/test_service_changing.py", ""),
        ("test_settings.py", ""),
        ("images/test_template.py", ""),
        ("releases/test_replay.py", ""),
        ("spec/test_model.py", "neither"),
        ("core/planning/test_diff.py", "diff.py is in core/swarm"),
        ("core/kinds/test_hba.py", "hba.py is in core/postgres"),
    ],
)
def test_a_test_in_another_room_is_found(test: str, why: str) -> None:
    found = stray(UNIT / test)
    assert why in found if why else not found


def test_only_a_kinds_own_folder_asks_which_kind_a_document_is() -> None:
    own = [KINDS / "registry.py", *(KINDS / kind for kind in ("postgres_cluster", "notes_app"))]
    assert all(ASKS.search(text_of(ROOT / path)) for path in own[:1])
    found = [
        f"{file}: {match[0]}"
        for file in sorted(FILES)
        if file.suffix == ".py" and file.is_relative_to(OPERATOR)
        if not any(file.is_relative_to(place) for place in own)
        for match in ASKS.finditer(text_of(ROOT / file))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("line", "asks"),
    [
        ("isinstance(one, DesiredCluster)", True),
        ("isinstance(found.get(key), (DesiredApp, str))", True),
        ("if view.key.kind == POSTGRES_CLUSTER.name:", True),
        ('document.kind == "NotesApp"', True),
        ("def ask(cluster: DesiredCluster) -> None:", False),
        ("if KINDS[key.kind].has_members:", False),
    ],
)
def test_a_question_for_a_kind_is_found(line: str, asks: bool) -> None:
    assert bool(ASKS.search(line)) == asks
