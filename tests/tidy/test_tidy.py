"""The house's own rules, on every tracked file. Nothing is exempt."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILE_LINES = {"operator": 300, "tests": 400, "images": 300}
"""About: the limit is where a file is split, so a tenth more is not yet a failure."""
FUNCTION_LINES = 70
ANOTHER_PROJECT = ("images", "notes")
"""The notes application has rules and checks of its own."""
SLACK = 1.1
FORBIDDEN_NAMES = {"utils", "helpers", "common", "base", "manager", "misc", "util", "helper"}
REGISTRY_HOSTS = re.compile(
    r"\b(?:"
    + "|".join(
        map(
            re.escape,
            (
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
            ),
        )
    )
    + r")"
)
SECRETS = re.compile(
    r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s+[A-Za-z0-9+/]{64}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\bgh[pousr]_[A-Za-z0-9]{36}\b"
    r"|\bSWMTKN-1-[0-9a-z]{40,}"
)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")


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


def test_no_function_is_longer_than_a_page() -> None:
    long = {}
    for path in python_files(*FILE_LINES):
        for node in ast.walk(ast.parse(text_of(path))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES:
                    long[f"{named(path)}:{node.lineno} {node.name}"] = lines
    assert not long


def test_every_module_opens_with_its_purpose() -> None:
    silent = [
        named(path)
        for path in python_files(*FILE_LINES)
        if text_of(path).strip() and not ast.get_docstring(ast.parse(text_of(path)))
    ]
    assert not silent


def test_no_module_is_a_drawer_for_everything() -> None:
    parts = {
        named(path): {part.removesuffix(".py") for part in path.relative_to(ROOT).parts}
        for path in python_files(*FILE_LINES)
    }
    assert not {name for name, found in parts.items() if found & FORBIDDEN_NAMES}


@pytest.mark.parametrize(
    ("pattern", "what"),
    [(REGISTRY_HOSTS, "a registry's host"), (SECRETS, "a secret")],
    ids=["registries", "secrets"],
)
def test_no_tracked_file_has(pattern: re.Pattern[str], what: str) -> None:
    found = {
        f"{named(path)}: {match[0]}"
        for path in tracked()
        if (match := pattern.search(text_of(path)))
    }
    assert not found, what


def test_links_between_documents_lead_somewhere() -> None:
    broken = []
    for path in tracked():
        if path.suffix != ".md":
            continue
        for target in LINK.findall(text_of(path)):
            file, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            there = (path.parent / file).resolve() if file else path
            if not there.exists() or (anchor and anchor not in anchors(there)):
                broken.append(f"{named(path)}: {target}")
    assert not broken


def anchors(path: Path) -> set[str]:
    """Headings, as hosts of Markdown make anchors of them."""
    if path.suffix != ".md":
        return set()
    headings = re.findall(r"^#+ +(.+?)\s*$", text_of(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_no_mock_stands_for_a_missing_port() -> None:
    users = [
        named(path)
        for path in python_files("tests")
        if path != Path(__file__) and re.search(r"mock\.patch|from unittest", text_of(path))
    ]
    assert not users
