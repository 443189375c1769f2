"""No module of the operator or of its tests imports itself by way of others, not even for its types
alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.sources import facts

ROOT = Path(__file__).parents[2]


def modules(root: Path, package: str) -> dict[str, Path]:
    found = {}
    for path in (root / package).rglob("*.py"):
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def imports(path: Path, known: Mapping[str, object]) -> Iterator[str]:
    """The known modules that a file imports, at whatever place in it."""
    for module, names in facts(path).imports:
        taken = (f"{module}.{name}" for name in names)
        yield from (name if name in known else module for name in taken) if names else (module,)


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


@pytest.mark.parametrize(
    ("root", "package"),
    [(ROOT / "operator", "queenright"), (ROOT, "tests")],
    ids=["operator", "tests"],
)
def test_no_module_imports_itself_by_way_of_others(root: Path, package: str) -> None:
    known = modules(root, package)
    assert len(known) > 200
    graph = {
        name: {other for other in imports(path, known) if other in known} - {name}
        for name, path in known.items()
    }
    assert sum(map(len, graph.values())) > 1000
    assert cycle(graph) == []


def test_a_cycle_is_found(tmp_path: Path) -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    file = tmp_path / "file.py"
    file.write_text("def f():\n    from x.y import z\n    import x.q\n")
    assert {*imports(file, {"x.y.z": 0})} == {"x.y.z", "x.q"}
