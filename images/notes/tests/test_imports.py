"""No module of the application imports itself, not even through others or within a function."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import notes

SOURCES = Path(notes.__file__).parent


def _modules(sources: Path) -> dict[str, Path]:
    found = dict[str, Path]()
    for path in sources.rglob("*.py"):
        parts = path.relative_to(sources.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _imported(tree: ast.Module) -> Iterator[str]:
    """The dotted names that any import in the file could mean, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are not followed here"
            assert node.module
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def import_graph(sources: Path) -> dict[str, set[str]]:
    """For each module of a package the modules of the package that it imports."""
    modules = _modules(sources)
    return {
        name: {i for i in _imported(ast.parse(path.read_text())) if i in modules} - {name}
        for name, path in modules.items()
    }


def check(graph: Mapping[str, set[str]]) -> None:
    """Raises `CycleError` with the first cycle found."""
    TopologicalSorter(graph).prepare()


def test_there_is_no_cycle_of_imports() -> None:
    graph = import_graph(SOURCES)
    assert graph["notes.main"] >= {"notes.config", "notes.server"}  # imported within a function
    try:
        check(graph)
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_a_cycle_hidden_in_a_function_is_found(tmp_path: Path) -> None:
    package = tmp_path / "toy"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "above.py").write_text("from toy import below\n")
    (package / "below.py").write_text("def late():\n    import toy.above\n")
    with pytest.raises(CycleError):
        check(import_graph(package))
