"""The house's own rules, on every tracked file. Nothing is exempt."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.support.sources import facts

ROOT = Path(__file__).resolve().parents[2]
FILE_LINES = {"operator": 300, "tests": 400, "images": 300}
"""About: the limit is where a file is split, so a tenth more is not yet a failure."""
FUNCTION_LINES = 70
ANOTHER_PROJECT = ("images", "notes")
"""The notes application has rules and checks of its own."""
SLACK = 1.1
FORBIDDEN_NAMES = {"utils", "helpers", "common", "base", "manager", "misc", "util", "helper"}
REGISTRY_HOSTS = (
    "pypi" + ".org",
    "pythonhosted" + ".org",
    "npmjs" + ".org",
    "npmjs" + ".com",
    "deb.debian" + ".org",
    "crates" + ".io",
    "docker" + ".io/",
    "quay" + ".io",
    "gcr" + ".io",
    "ghcr" + ".io",
)
REGISTRIES = {host: rf"\b{re.escape(host)}" for host in REGISTRY_HOSTS}
SECRETS = {
    "-----BEGIN ": r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s+[A-Za-z0-9+/]{64}",
    "AKIA": r"\bAKIA[0-9A-Z]{16}\b",
    **{f"gh{kind}_": rf"\bgh{kind}_[A-Za-z0-9]{{36}}\b" for kind in "pousr"},
    "SWMTKN-1-": r"\bSWMTKN-1-[0-9a-z]{40,}",
}
"""Patterns by the text that each begins with: few files have it, and only those are searched."""


def matches(patterns: Mapping[str, str], text: str) -> Iterator[str]:
    for beginning, pattern in patterns.items():
        if beginning in text and (match := re.search(pattern, text)):
            yield match[0]


@cache
def tracked() -> tuple[Path, ...]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    )
    found = (ROOT / name for name in listed.stdout.split("\0") if name)
    return tuple(path for path in found if path.is_file() and not path.is_symlink())


def python_files(*tops: str) -> list[Path]:
    return [
        path
        for path in tracked()
        if path.suffix == ".py"
        and path.relative_to(ROOT).parts[0] in tops
        and path.relative_to(ROOT).parts[:2] != ANOTHER_PROJECT
    ]


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_file_is_longer_than_a_room() -> None:
    long = {}
    for path in python_files(*FILE_LINES):
        lines = text_of(path).count("\n")
        if lines > FILE_LINES[path.relative_to(ROOT).parts[0]] * SLACK:
            long[named(path)] = lines
    assert not long


def test_functions_are_found_wherever_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "some.py"
    path.write_text(
        "if a:\n    pass\nelse:\n    async def f():\n        def g():\n            'x'\n"
        "class A:\n    def m(self): ...\n"
        "match a:\n    case 1:\n        def h():\n            pass\n"
        "try:\n    pass\nexcept A:\n    def i(): ...\nfinally:\n    def j(): ...\n"
    )
    found = facts(path)
    assert {(name, lines) for _, name, lines in found.functions} == {
        *(("f", 3), ("g", 2), ("m", 1), ("h", 2), ("i", 1), ("j", 1))
    }
    assert found.docstrings == ((6, "x"),)
    assert not found.opens_with_docstring


def test_no_function_is_longer_than_a_page() -> None:
    long = {}
    for path in python_files(*FILE_LINES):
        for line, name, lines in facts(path).functions:
            if lines > FUNCTION_LINES:
                long[f"{named(path)}:{line} {name}"] = lines
    assert not long


def test_every_module_opens_with_its_purpose() -> None:
    silent = [
        named(path)
        for path in python_files(*FILE_LINES)
        if not facts(path).opens_with_docstring and text_of(path).strip()
    ]
    assert not silent


def test_no_module_is_a_drawer_for_everything() -> None:
    parts = {
        named(path): {part.removesuffix(".py") for part in path.relative_to(ROOT).parts}
        for path in python_files(*FILE_LINES)
    }
    assert not {name for name, found in parts.items() if found & FORBIDDEN_NAMES}


@pytest.mark.parametrize(
    ("patterns", "what"),
    [(REGISTRIES, "a registry's host"), (SECRETS, "a secret")],
    ids=["registries", "secrets"],
)
def test_no_tracked_file_has(patterns: Mapping[str, str], what: str) -> None:
    found = {
        f"{named(path)}: {match}"
        for path in tracked()
        for match in matches(patterns, text_of(path))
    }
    assert not found, what


@pytest.mark.parametrize(
    "secret",
    [
        "-----BEGIN " + "PRIVATE KEY-----\n" + "A" * 64,
        "-----BEGIN " + "EC PRIVATE KEY-----\n" + "A" * 64,
        "AKIA" + "0" * 16,
        *(f"gh{kind}_" + "a" * 36 for kind in "pousr"),
        "SWMTKN-1-" + "a" * 40,
    ],
)
def test_a_secret_is_found(secret: str) -> None:
    assert [*matches(SECRETS, f"x={secret}\n")] == [secret]
    assert not [*matches(SECRETS, f"x={secret[:-1]}\n")]


@pytest.mark.parametrize("host", REGISTRY_HOSTS)
def test_a_registry_is_found(host: str) -> None:
    assert host in {*matches(REGISTRIES, f"https://{host}/x")}


def test_no_mock_stands_for_a_missing_port() -> None:
    users = [
        named(path)
        for path in python_files("tests")
        if path != Path(__file__) and re.search(r"mock\.patch|from unittest", text_of(path))
    ]
    assert not users
