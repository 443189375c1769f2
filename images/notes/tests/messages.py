"""Finds the messages in the code that a person may see, as the catalogues write them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import notes

SOURCES = Path(str(notes.__file__)).parent
#: The place of the message among the arguments of what raises it, stores it or answers with it.
PLACES = {
    "Problem": 1, "_BehindError": 1, "unavailable": 0, "FieldError": 1, "refused": 0,
    "SchemaError": 1, "RefusedError": 1, "StepError": 0, "UnreadablePageError": 0,
    "UnreadableHtmlError": 0, "UnreadableError": 0, "UnusableNameError": 0, "JobFailedError": 0,
    "_late": 0,
}  # fmt: skip
#: As `PLACES`, in the runner of jobs alone.
OF_RUNNER = {"_finish": 1, "_end": 4}
#: Not seen by a person: the configuration and the migrations stop the start, audit is the log.
OTHERS = {"config.py", "db/migrate.py"}
#: Variables that hold a message, or a part of one, until it is raised.
HELD = {"problem", "holds", "remedy", "at", "notes"}
#: Constants that are, or have, messages or parts of them.
NAMED = {"_OBJECTS", "_REASONS", "KINDS", "TOO_LONG", "TOO_MUCH", "FORBIDDEN", "FORBIDDEN_OTHER"}
#: Functions that return messages.
RETURNED = {"_unreadable", "decoded", "said"}
#: A message that is passed on: it was found where it was made.
PASSED = {
    "str(error)", "str(problem)", "str(over_quota)", "error.message", "answer.message", "error",
    "detail", "message", "why", "refused", "None", "text", "note", "t.said(one.message)",
}  # fmt: skip


def written(node: ast.AST | None) -> str | None:
    """The text of a literal, with `%s` for each part that differs."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.sub(r"\{\w*\}", "%s", node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "%s" for part in node.values
        )
    return None


def _literals(node: ast.AST) -> Iterator[str]:
    """The texts of an expression, whose parts may be texts, too."""
    text = written(node)
    if text is not None:
        yield text
        return
    for child in ast.iter_child_nodes(node):
        yield from _literals(child)


def _constants(tree: ast.Module) -> dict[str, list[str]]:
    """The texts that a module names: as a constant, or the values of a mapping."""
    found = dict[str, list[str]]()
    for node in tree.body:
        target = node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(node, ast.Assign):
            target = node.targets[0]
        value = getattr(node, "value", None)
        if not isinstance(target, ast.Name) or value is None:
            continue
        values = value.values if isinstance(value, ast.Dict) else [value]
        texts = [text for one in values if (text := written(one)) is not None]
        if texts:
            found[target.id] = texts
    return found


class UnreadableError(AssertionError):
    """A message that is no literal, so that nobody can translate it."""


def _of(argument: ast.expr, constants: dict[str, list[str]], where: str) -> Iterator[str]:
    text = written(argument)
    if text is not None:
        yield text
        return
    named = [one.id for one in ast.walk(argument) if isinstance(one, ast.Name)]
    known = [text for name in named for text in constants.get(name, ())]
    direct = [] if isinstance(argument, ast.Name) else list(_literals(argument))
    if ast.unparse(argument) in PASSED:
        return
    if not known:
        raise UnreadableError(f"{where}: {ast.unparse(argument)} is no literal")
    yield from (*known, *direct)


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _in_call(node: ast.Call, constants: dict[str, list[str]], where: str) -> Iterator[str]:
    name = _called(node)
    if name == "not_found":
        kind = written(node.args[0]) if node.args else "page"
        yield f"There is no such {kind}."
    elif name == "append" and where.startswith("transfer/"):
        if re.search(r"notes|changed|left_out", ast.unparse(node.func)):
            argument = node.args[0]
            yield from _literals(argument.elts[-1] if isinstance(argument, ast.Tuple) else argument)
    elif name == "note":
        # That of an import: `note` of the log has more arguments, that of an edit a page.
        if len(node.args) == 1 and where.startswith("transfer/"):
            yield from _of(node.args[0], constants, f"{where}:{node.lineno}")
    else:
        at = OF_RUNNER.get(name) if where == "jobs/runner.py" else None
        at = PLACES.get(name) if at is None else at
        if at is not None and len(node.args) > at:
            yield from _of(node.args[at], constants, f"{where}:{node.lineno}")


def _in(tree: ast.Module, where: str) -> Iterator[str]:
    constants = _constants(tree)
    yield from (text for name in NAMED & set(constants) for text in constants[name])
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _in_call(node, constants, where)
        elif isinstance(node, ast.Assign):
            if ast.unparse(node.targets[0]) in HELD:
                yield from (text for text in _literals(node.value) if re.search("[a-z] ", text))
        elif isinstance(node, ast.FunctionDef) and node.name in RETURNED:
            for one in ast.walk(node):
                if isinstance(one, ast.Return) and one.value is not None:
                    yield from (text for text in _literals(one.value) if " " in text)


def found() -> set[str]:
    """Every message of the application. Raises if one is no literal."""
    texts = set[str]()
    for path in SOURCES.rglob("*.py"):
        where = path.relative_to(SOURCES).as_posix()
        if path.parent.name == "words" or "words/" in where or where in OTHERS:
            continue
        texts.update(_in(ast.parse(path.read_text("utf-8")), where))
    # What has no words of its own is a message with the name of a field or file before it.
    before = re.compile(r"[^ ]*: %s")
    return {text for text in texts if not before.fullmatch(text)}


def found_in(source: str) -> set[str]:
    """The messages of a module with this source."""
    return set(_in(ast.parse(source), "module.py"))
