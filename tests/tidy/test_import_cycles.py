"""No module of the operator imports itself by way of others, not even for its types alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.support.sources import statements

ROOT = Path(__file__).parents[2] / "operator"


def modules() -> dict[str, Path]:
    found = {}
    for path in (ROOT / "queenright").rglob("*.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def imports(text: str, known: Mapping[str, object]) -> Iterator[str]:
    """The known modules that a text imports, at whatever place in it."""
    for node in statements(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in known else node.module for name in names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """One cycle of a graph, each node before the one that it leads to; [] where there is none."""
    done: set[str] = set()
    way: list[str] = []

    def walk(name: str) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        way.append(name)
        for other in sorted(graph.get(name, ())):
            if found := walk(other):
                return found
        done.add(way.pop())
        return []

    return next((found for name in sorted(graph) if (found := walk(name))), [])


def test_no_module_imports_itself_by_way_of_others() -> None:
    known = modules()
    assert len(known) > 200
    graph = {
        name: {other for other in imports(path.read_text(), known) if other in known} - {name}
        for name, path in known.items()
    }
    assert sum(map(len, graph.values())) > 1000
    assert cycle(graph) == []


def test_a_cycle_is_found() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    text = "def f():\n    from x.y import z\n    import x.q\n"
    assert {*imports(text, {"x.y.z": 0})} == {"x.y.z", "x.q"}
