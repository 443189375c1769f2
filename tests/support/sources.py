"""Facts of the Python files, each file parsed once for all tests about them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Facts:
    """Docstrings and functions of a file: kept instead of its tree, which takes much memory."""

    opens_with_docstring: bool
    docstrings: tuple[tuple[int, str], ...]
    """Line and text of each text that stands alone, docstrings of attributes among them."""
    functions: tuple[tuple[int, str, int], ...]
    """Line, name and number of lines of each function."""
    imports: tuple[tuple[str, tuple[str, ...]], ...]
    """The modules that it imports, at whatever place, each with the names that it takes from it."""


@cache
def facts(path: Path) -> Facts:
    tree = ast.parse(path.read_text(encoding="utf-8", errors="replace"))
    docstrings: list[tuple[int, str]] = []
    functions: list[tuple[int, str, int]] = []
    imports: list[tuple[str, tuple[str, ...]]] = []
    for statement in statements(tree):
        match statement:
            case ast.Expr(value=ast.Constant(value=str(text))):
                docstrings.append((statement.lineno, text))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                lines = (statement.end_lineno or statement.lineno) - statement.lineno + 1
                functions.append((statement.lineno, name, lines))
            case ast.ImportFrom(module=str(module), names=names):
                imports.append((module, tuple(alias.name for alias in names)))
            case ast.Import(names=names):
                imports += [(alias.name, ()) for alias in names]
    documented = bool(ast.get_docstring(tree))
    return Facts(documented, tuple(docstrings), tuple(functions), tuple(imports))


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield every statement within a node; no expression is looked into, since none holds one."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        inner = getattr(node, name, None)
        for one in inner if isinstance(inner, list) else ():
            if isinstance(one, ast.stmt):
                yield one
            yield from statements(one)
