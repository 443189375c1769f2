"""Checks the prose of the project: docstrings' first lines, and words that must not come back.

The rules: a docstring's first line says what its object does or returns; comments, messages and
documents name the actor, and use one plain word for one thing.
"""

import ast
import re
from pathlib import Path

import pytest

PROJECT = next(p for p in Path(__file__).resolve().parents if (p / "pyproject.toml").is_file())
FOLDERS = ("src", "tests", "bench", "docs")
ENDINGS = {".py", ".md", ".sql", ".html", ".mjs", ".lua", ".mk", ".yaml", ".toml", ".example"}
NOT_OURS = {"node_modules", "data", ".venv", ".git"}
LONGEST = 100
QUESTION = re.compile(r"(?:What|Whether|Which|Why|Who|How)\b")
#: Words that hide the actor, or that have a plain word: "is told" (gets, shows), "wish" (claim).
UNWANTED = re.compile(
    r"\b(?:(?:is|are|be|was) (?:told|said|asked for|wished)|wish(?:es|ed)?|whoever"
    r"|nobody's|somebody's|one's own|stands? for|for ever|anew|honest|looked at|at the door)\b",
    re.IGNORECASE,
)


def texts() -> dict[str, str]:
    """The texts of the project's files, by their paths."""
    files = [path for path in PROJECT.iterdir() if path.is_file()]
    for folder in FOLDERS:
        files += [path for path in (PROJECT / folder).rglob("*") if path.is_file()]
    return {
        str(path.relative_to(PROJECT)): path.read_text("utf-8")
        for path in sorted(files)
        if (path.suffix in ENDINGS or path.name == "Dockerfile")
        and path != Path(__file__).resolve()
        and not NOT_OURS & set(path.relative_to(PROJECT).parts)
    }


def first_lines(source: str) -> list[tuple[int, str, int]]:
    """Line number, text and width of the line of each docstring's first line in a module."""
    found = list[tuple[int, str, int]]()
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                number = node.body[0].lineno
                found.append((number, text.splitlines()[0], len(lines[number - 1])))
    return found


def questions(source: str) -> list[str]:
    """The first lines of docstrings that begin like a question, or are too long."""
    return [
        f"{number}: {line}"
        for number, line, width in first_lines(source)
        if QUESTION.match(line) or width > LONGEST
    ]


def test_a_docstring_begins_with_what_its_object_does_or_returns() -> None:
    found = {
        path: wrong
        for path, source in texts().items()
        if path.endswith(".py") and (wrong := questions(source))
    }
    assert not found


def test_unwanted_words_stay_out() -> None:
    found = [
        f"{path}:{number}: {match[0]}"
        for path, text in texts().items()
        for number, line in enumerate(text.splitlines(), 1)
        for match in UNWANTED.finditer(line)
    ]
    assert not found


def test_the_checked_files_are_those_of_the_project() -> None:
    paths = texts()
    assert {"README.md", "src/notes/server.py", "tests/conftest.py", "Dockerfile"} <= set(paths)


@pytest.mark.parametrize(
    "source",
    [
        '"""What the environment says."""',
        'def closed():\n    """Whether there will be no more connections."""',
        'class Call:\n    """Who asks."""',
        f'async def run():\n    """{"Runs " * 25}."""',
    ],
)
def test_a_first_line_that_is_a_question_or_too_long_is_found(source: str) -> None:
    assert len(questions(source)) == 1


@pytest.mark.parametrize(
    "text",
    ["a client is told why not", "A space's domain is a wish", "Whoever was ignored", "for ever"],
)
def test_an_unwanted_word_is_found(text: str) -> None:
    assert UNWANTED.search(text)


@pytest.mark.parametrize("text", ["test_is_told_once", "Whichever host", "it told the client"])
def test_other_words_are_not_found(text: str) -> None:
    assert not UNWANTED.search(text)
    assert not QUESTION.match(text)
