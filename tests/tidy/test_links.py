"""Every relative link, picture and anchor of every tracked Markdown file leads somewhere."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^ *(`{3,}|~{3,}).*?^ *\1`*~* *$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?: {4}.*\n?|\n(?= {4}))+")
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
LINKS = (
    re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)"),
    re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)", re.MULTILINE),
    re.compile(r"<[a-z]+\s[^>]*?\b(?:href|src|srcset)=\"([^\"\s]+)", re.IGNORECASE),
)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
HEADING = re.compile(r"^ {0,3}#{1,6} +(.+?)(?: +#+)? *$", re.MULTILINE)
NAMED = re.compile(r"<[a-z]+\s[^>]*?\b(?:id|name)=\"([^\"]+)\"", re.IGNORECASE)


@cache
def tracked() -> frozenset[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    )
    return frozenset(ROOT / name for name in listed.stdout.split("\0") if name)


def documents() -> list[Path]:
    return sorted(path for path in tracked() if path.suffix == ".md" and path.is_file())


def prose(text: str) -> str:
    """The text without its code, in which brackets are no links and `#` no heading."""
    return CODE.sub("``", INDENTED.sub("\n", FENCE.sub("", text)))


def targets(text: str) -> Iterator[str]:
    for pattern in LINKS:
        for target in pattern.findall(prose(text)):
            if not ELSEWHERE.match(target):
                yield target


def anchors(text: str) -> set[str]:
    """Headings, as hosts of Markdown make anchors of them; a repeated one gets a number."""
    found: set[str] = set()
    seen: Counter[str] = Counter()
    for heading in HEADING.findall(INDENTED.sub("\n", FENCE.sub("", text))):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        state_config = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        found.add(f"{state_config}-{seen[state_config]}" if seen[state_config] else state_config)
        seen[state_config] += 1
    return found | set(NAMED.findall(text))


def broken(path: Path, text: str) -> list[str]:
    """The links of a document that lead nowhere, or to what is not in the repository."""
    wrong = []
    for target in targets(text):
        file, _, state_config = target.partition("#")
        there = (path.parent / unquote(file)).resolve() if file else path
        known = there in tracked() or any(there in other.parents for other in tracked())
        if not known or not there.exists():
            wrong.append(target)
        elif state_config and there.suffix == ".md":
            of = text if there == path else there.read_text(encoding="utf-8")
            if state_config not in anchors(of):
                wrong.append(target)
    return wrong


def test_every_link_leads_somewhere() -> None:
    found = {
        str(path.relative_to(ROOT)): wrong
        for path in documents()
        if (wrong := broken(path, path.read_text(encoding="utf-8")))
    }
    assert not found


def test_the_documents_are_found() -> None:
    assert ROOT / "README.md" in documents()
    assert sum(1 for path in documents() for _ in targets(path.read_text(encoding="utf-8"))) > 30


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[a](docs/guide.md)", []),
        ("[a](docs/nowhere.md)", ["docs/nowhere.md"]),
        ("![a](docs/nowhere.svg)", ["docs/nowhere.svg"]),
        ('<source srcset="docs/nowhere.svg">', ["docs/nowhere.svg"]),
        ("[a]\n\n[a]: docs/nowhere.md\n", ["docs/nowhere.md"]),
        ("[a](#there)\n\n# There\n", []),
        ("[a](#elsewhere)\n\n# There\n", ["#elsewhere"]),
        ("[a](#there-1)\n\n# There\n\n# There\n", []),
        ("[a](#there)\n\n```\n# There\n```\n", ["#there"]),
        ("[a](#what-it-is)\n\n## What `it` [is](docs)?\n", []),
        ("`[a](docs/nowhere.md)`", []),
        ("```\n[a](docs/nowhere.md)\n```\n", []),
        ("text\n\n    [a](docs/nowhere.md)\n", []),
        ("[a](docs/guide.md#holds)", []),
        ("[a](docs/guide.md#no-such-heading)", ["docs/guide.md#no-such-heading"]),
        ("[a](https://example.org/nowhere)", []),
        ("[a](.venv)", [".venv"]),
        ("[a](docs)", []),
    ],
)
def test_a_link_that_leads_nowhere_is_found(text: str, wrong: list[str]) -> None:
    assert broken(ROOT / "README.md", text) == wrong
