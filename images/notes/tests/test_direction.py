"""Tests that the style sheets show each block in its own direction, also on a page of another."""

import re
from pathlib import Path

import pytest

from notes.web.style import STYLE

PROSE = (Path(__file__).parents[1] / "web/src/style/prose.css").read_text("utf-8")
#: The elements that hold text themselves, at every depth of a page.
BLOCKS = {"p", "h2", "h3", "h4", "h5", "h6", "li", "th", "td", "blockquote", "pre", "summary",
          "figcaption"}  # fmt: skip
PHYSICAL = re.compile(
    r"(?<![-\w])(?:(?:margin|padding|border)-(?:left|right)|left|right|float|clear)\s*:"
    r"|text-align\s*:\s*(?:left|right)"
)


def _own_direction(sheet: str, inside: str) -> set[str]:
    """The elements inside of something whose text has the direction of its first letters."""
    found = set[str]()
    for selector, rules in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet):
        given = re.sub(r"\s", "", rules)
        if "unicode-bidi:plaintext" in given and "text-align:start" in given:
            for listed in re.findall(rf"{re.escape(inside)} :is\(([^)]*)\)", selector):
                found |= {name.strip() for name in listed.split(",")}
    return found


@pytest.mark.parametrize(("sheet", "inside"), [(STYLE, "article"), (PROSE, ".prose")])
def test_every_block_has_a_direction_of_its_own(sheet: str, inside: str) -> None:
    assert _own_direction(sheet, inside) >= BLOCKS


@pytest.mark.parametrize("sheet", [STYLE, PROSE])
def test_no_rule_is_for_one_direction_alone(sheet: str) -> None:
    """A thing far to the left makes a page that is read from the right scroll sideways."""
    assert not PHYSICAL.findall(sheet)
