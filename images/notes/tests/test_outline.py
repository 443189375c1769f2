"""Tests the outline of a space: pages in reading order, as nested lists of any depth."""

import random
from datetime import UTC, datetime
from html.parser import HTMLParser
from uuid import UUID

import pytest

from notes.pages.tree import TreeNode
from notes.web.render import _environment
from notes.web.workspace_views import outline

_LIST = (
    "{% for item in outline %}{% if item.begins %}<ul>{% endif %}<li>{{ item.node.title }}"
    "{% if item.is_leaf %}</li>{% endif %}{% for _ in range(item.ends) %}</ul>"
    "{% if not (item.is_last and loop.last) %}</li>{% endif %}{% endfor %}{% endfor %}"
)


class _Reader(HTMLParser):
    """Reads nested lists into pairs: each page's title and its parent's."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.titles: list[str | None] = []
        self.found: dict[str, str | None] = {}

    def handle_starttag(self, tag: str, _: object) -> None:
        self.open.append(tag)
        if tag == "li":
            self.titles.append(None)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag == "li":
            self.titles.pop()

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.found[data.strip()] = next((t for t in reversed(self.titles[:-1]) if t), None)
            self.titles[-1] = data.strip()


def _node(number: int, parent: int | None) -> TreeNode:
    above = None if parent is None else UUID(int=parent)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return TreeNode(UUID(int=number), above, str(number), False, False, moment)


def _read(nodes: list[TreeNode]) -> dict[str, str | None]:
    reader = _Reader()
    reader.feed(_environment().from_string(_LIST).render(outline=outline(nodes)))
    assert not reader.open
    return reader.found


@pytest.mark.parametrize("seed", range(20))
def test_every_page_lies_below_its_parent(seed: int) -> None:
    source = random.Random(seed)
    parents = {n: source.choice([None, *range(1, n)]) for n in range(1, source.randint(2, 40))}
    found = _read([_node(number, parent) for number, parent in parents.items()])
    assert found == {str(n): None if p is None else str(p) for n, p in parents.items()}


def test_a_very_deep_tree_is_no_error() -> None:
    assert len(_read([_node(n, n - 1 if n > 1 else None) for n in range(1, 5001)])) == 5000


def test_a_page_whose_parent_is_not_seen_is_at_the_top() -> None:
    assert _read([_node(2, 1), _node(3, 2)]) == {"2": None, "3": "2"}
