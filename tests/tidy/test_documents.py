"""The documents' prose: words that are not to come back, the vocabulary, the decisions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tidy.test_links import CODE, FENCE, INDENTED, documents

ROOT = Path(__file__).resolve().parents[2]
ANOTHER_PROJECT = ROOT / "images" / "notes"
GENERATED = ROOT / "docs" / "reference.md"
"""Its words are the models' descriptions."""
BANNED = re.compile(
    r"\b(?:told|tells?|(?:is|are|be) said|wish(?:ed|es)?|befalls?|deeds?|doctrine|disturb\w*"
    r"|taken? back|the lead (?:moves|goes))\b",
    re.IGNORECASE,
)
"""Each has a plain word instead: report, desired, happens to, action, rules, disrupt, roll back."""
TERMS = 40
PLACES = re.compile(
    r"`((?:core|adapters|engine|cli|ports|tests|docs|manifests|crds|images|operator)/[\w./-]*\.\w+)`"
)
"""A file that a document names, from the top, from the package or from beside the document."""
EXAMPLES = {"docs/decisions/NNNN-title.md"}


def test_documents_use_the_plain_word() -> None:
    found = {}
    for path in documents():
        if ANOTHER_PROJECT in path.parents or path == GENERATED:
            continue
        text = path.read_text(encoding="utf-8")
        text = CODE.sub("", INDENTED.sub("\n", FENCE.sub("", text)))
        if words := [match[0] for match in BANNED.finditer(text)]:
            found[str(path.relative_to(ROOT))] = words
    assert not found


def test_files_that_documents_name_exist() -> None:
    package = ROOT / "operator" / "queenright"
    missing = [
        f"{path.relative_to(ROOT)}: {place}"
        for path in documents()
        if ANOTHER_PROJECT not in path.parents
        for place in PLACES.findall(path.read_text(encoding="utf-8"))
        if place not in EXAMPLES
        and not any((top / place).is_file() for top in (ROOT, package, path.parent))
    ]
    assert not missing


def test_the_vocabulary_has_forty_terms_at_most() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.partition("## Vocabulary\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (\*\*.+?) \|", section, re.MULTILINE)
    terms = [term for cell in cells for term in re.findall(r"\*\*(.+?)\*\*", cell)]
    assert 20 < len(terms) <= TERMS
    assert len({*terms}) == len(terms)


def test_the_decisions_are_numbered_and_listed() -> None:
    files = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [int(path.name[:4]) for path in files] == list(range(1, len(files) + 1))
    listed = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for path in files:
        title = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        assert f"{title.replace('. ', '. [', 1)}](decisions/{path.name})" in listed


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs" / "decisions").glob("*.md")), ids=lambda path: path.stem
)
def test_a_decision_is_short_and_has_its_three_parts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    parts = ["Context", "Decision", "Consequences"]
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == parts
    assert text.count("\n") < 60
