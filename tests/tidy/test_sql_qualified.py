"""Every statement that goes to a database names what it means with its schema.

Decides from PostgreSQL's own parser, over every text in the code that begins like a statement:
functions, operators, tables and types. A name without a schema means whatever stands first in the
session's search path, which somebody else may have set.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pglast
import pytest
from pglast import ast as nodes
from pglast.visitors import Visitor

ROOT = Path(__file__).parents[2]
SOURCES = ("operator/queenright", "images/member/queenright_member")
KEYWORD = re.compile(
    r"\b(SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|CREATE|ALTER|DROP|GRANT|REVOKE|SET|RESET|SHOW|DO"
    r"|CALL|COPY|TRUNCATE|COMMENT|VACUUM|ANALYZE|REINDEX|CHECKPOINT|EXECUTE|PREPARE|LOCK|EXPLAIN"
    r"|REASSIGN|SECURITY|LISTEN|NOTIFY|BEGIN|VALUES|TABLE)\s+[^\s]",
)
BEGINS = re.compile(rf"^\s*{KEYWORD.pattern}")
CLAUSES = ("CREATE ROLE {} WITH {}", "ALTER ROLE {} WITH {}")
"""Templates whose last part is a clause and no name; they name nothing that has a schema."""


class Unqualified(Visitor):  # type: ignore[misc]
    """Collects names without a schema."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def visit_FuncCall(self, _: object, node: nodes.FuncCall) -> None:  # noqa: N802 (pglast calls it so)
        if len(node.funcname) < 2:
            self.found.append(f"function {node.funcname[-1].sval}")

    def visit_A_Expr(self, _: object, node: nodes.A_Expr) -> None:  # noqa: N802 (pglast calls it so)
        if len(node.name) < 2:
            self.found.append(f"operator {node.name[-1].sval}")

    def visit_RangeVar(self, _: object, node: nodes.RangeVar) -> None:  # noqa: N802 (pglast calls it so)
        if node.schemaname is None:
            self.found.append(f"table {node.relname}")

    def visit_TypeName(self, _: object, node: nodes.TypeName) -> None:  # noqa: N802 (pglast calls it so)
        if node.names and len(node.names) < 2:
            self.found.append(f"type {node.names[-1].sval}")

    def visit_CollateClause(self, _: object, node: nodes.CollateClause) -> None:  # noqa: N802 (pglast calls it so)
        if len(node.collname) < 2:
            self.found.append(f"collation {node.collname[-1].sval}")

    def visit_CaseExpr(self, _: object, node: nodes.CaseExpr) -> None:  # noqa: N802 (pglast calls it so)
        if node.arg is not None:
            self.found.append("CASE with an operand, which is compared by an operator without one")

    def visit_CreateExtensionStmt(self, _: object, node: nodes.CreateExtensionStmt) -> None:  # noqa: N802 (pglast calls it so)
        if not any(option.defname == "schema" for option in node.options or ()):
            self.found.append(f"extension {node.extname} without a schema to put it in")


def unqualified(text: str) -> list[str]:
    """Names without a schema in a statement; `%s` and `{}` stand for values and names."""
    if text.strip() in CLAUSES:
        return []
    plain = re.sub(r"%\(\w+\)s|%s", "NULL", text)
    plain = re.sub(r"TO \{\} WITH INHERIT \{\}", "TO filled WITH INHERIT TRUE", plain)
    plain = re.sub(r"(PASSWORD|ENCODING|LOCALE) \{\}", r"\1 'filled'", plain)
    plain = re.sub(r"CONNECTION LIMIT \{\}", "CONNECTION LIMIT 1", plain)
    plain = re.sub(r"\\gexec", ";", plain)
    plain = re.sub(r"(?m)^\\set .*$", "", plain)
    counter = iter(range(100))
    plain = re.sub(r"\{\}", lambda _: f"filled{next(counter)}", plain)
    found = Unqualified()
    found(pglast.parse_sql(plain))
    return found.found


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Every text in a module that begins like a statement, an f-string's parts put together."""
    if not KEYWORD.search(source):
        return
    tree = ast.parse(source)
    inner = {
        id(part)
        for joined in ast.walk(tree)
        if isinstance(joined, ast.JoinedStr)
        for part in ast.walk(joined)
        if part is not joined
    }
    for node in ast.walk(tree):
        if id(node) in inner:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            text = "".join(
                part.value
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
                else "{}"
                for part in node.values
            )
        else:
            continue
        # psql's commands come before the first statement of a script.
        statement = re.sub(r"\A(\s*\\\S.*\n)+", "", text)
        if BEGINS.match(statement):
            yield node.lineno, statement


def modules() -> list[Path]:
    return sorted(path for place in SOURCES for path in (ROOT / place).rglob("*.py"))


def test_every_statement_is_qualified() -> None:
    seen, wrong = 0, []
    for path in modules():
        for line, text in texts(path.read_text(encoding="utf-8")):
            seen += 1
            try:
                found = unqualified(text)
            except pglast.parser.ParseError as error:
                found = [f"can't be parsed: {error}"]
            wrong += [f"{path.relative_to(ROOT)}:{line}: {one}" for one in found]
    assert wrong == []
    assert seen >= 30, "the statements are found at all"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("SELECT coalesce(json_agg(extname), '[]') FROM pg_catalog.pg_extension", "json_agg"),
        ("SELECT extname FROM pg_extension", "table pg_extension"),
        ("SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = %s", "operator ="),
        ("SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = ANY(%s)", "operator ="),
        ("SELECT rolname FROM pg_catalog.pg_roles WHERE rolname IN ('a')", "operator ="),
        ("SELECT rolname FROM pg_catalog.pg_roles WHERE rolname LIKE 'a'", "operator ~~"),
        ("SELECT %s::text", "type text"),
        ("SELECT 'x' COLLATE \"C\"", "collation C"),
        ("SELECT CASE %s WHEN 1 THEN 2 END", "CASE"),
        ("CREATE EXTENSION {}", "extension"),
        ("CREATE TABLE beat (id bigint)", "table beat"),
        ("CREATE TABLE public.beat (at timestamptz)", "type timestamptz"),
    ],
)
def test_the_checker_finds_it(text: str, name: str) -> None:
    assert any(name in found for found in unqualified(text))


def test_the_checker_reads_every_kind_of_text() -> None:
    source = "A = 'SELECT a()'\nB = f'SELECT {A}()'\nC = ('SELECT '\n 'b()')\nprint('Select one')\n"
    assert [line for line, _ in texts(source)] == [1, 2, 3]
