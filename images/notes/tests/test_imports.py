"""No module of the application imports itself, not even through others or within a function.

The same is true of the workspace's modules, in which imports of types alone count, too.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import notes

SOURCES = Path(notes.__file__).parent
WORKSPACE = Path(__file__).parents[1] / "web" / "src"
SCRIPT_IMPORT = re.compile(
    r"""^(?:import|export)\b[^;]*?\bfrom\s+["'](\.[^"']+)["']|^import\s+["'](\.[^"']+)["']"""
    r"""|\bimport\(\s*["'](\.[^"']+)["']\s*\)""",
    re.MULTILINE,
)


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


def script_graph(sources: Path) -> dict[str, set[str]]:
    """For each TypeScript module below a folder the modules that it imports, at once or later."""
    paths = {path.with_suffix(""): path for path in sources.rglob("*.ts*")}
    return {
        str(name.relative_to(sources)): {
            str(found.relative_to(sources))
            for match in SCRIPT_IMPORT.finditer(path.read_text())
            if (found := (path.parent / next(filter(None, match.groups()))).resolve()) in paths
        }
        for name, path in paths.items()
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


def test_there_is_no_cycle_of_imports_in_the_workspace() -> None:
    graph = script_graph(WORKSPACE)
    assert graph["app/main"] >= {"app/store", "screens/space/settings"}  # one of them later
    assert sum(map(len, graph.values())) > 500
    try:
        check(graph)
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_a_cycle_of_types_is_found(tmp_path: Path) -> None:
    (tmp_path / "above.tsx").write_text('import {\n  type B,\n  b,\n} from "./below";\n')
    (tmp_path / "below.ts").write_text('import "./some.css";\nimport type { A } from "./above";\n')
    assert script_graph(tmp_path) == {"above": {"below"}, "below": {"above"}}
    with pytest.raises(CycleError):
        check(script_graph(tmp_path))
