"""Pictures come in two themes that show the same, and use colours alone to differ."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"
COLOUR = re.compile(r"#[0-9a-f]{6}\b")


@pytest.mark.parametrize("name", ["topology", "demo"])
def test_both_themes_show_the_same(name: str) -> None:
    light, dark = ((PICTURES / f"{name}-{theme}.svg").read_text() for theme in ("light", "dark"))
    assert light != dark
    assert COLOUR.sub("", light) == COLOUR.sub("", dark)


@pytest.mark.parametrize("picture", sorted(PICTURES.glob("*.svg")), ids=lambda path: path.name)
def test_a_picture_loads_nothing_and_runs_nothing(picture: Path) -> None:
    text = picture.read_text().replace('xmlns="http://www.w3.org/2000/svg"', "")
    # Addresses load nothing where they are text that is drawn.
    text = re.sub(r"(<text[^>]*>)[^<]*", r"\1", text)
    assert not re.search(r"<script|\bon[a-z]+=|https?:|@import|<image|<foreignObject", text)
