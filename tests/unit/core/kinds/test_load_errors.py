"""Messages for every mistake in a file: the exact line, and nothing is accepted or lost."""

import re
import time
from functools import cache

import pytest

from queenright.core.kinds.load import load
from queenright.core.manifest.document import Loaded
from tests.golden.compare import assert_golden
from tests.support.documents import BASE, lines, loaded
from tests.support.error_cases import CASES

PROBLEM_LINE = re.compile(r"^[^:]+:\d+: \S+: .+$")


@cache
def told(text: str) -> Loaded:
    """Return the judgement on a case's text, at which two tests look."""
    return loaded(text)


def test_what_is_told_for_every_mistake() -> None:
    shown = [
        f"## {name}\n" + "\n".join(map(str, told(text).problems)) + "\n"
        for name, text in CASES.items()
    ]
    assert_golden("manifest_errors.txt", "\n".join(shown))


def test_a_mistake_is_told_in_whole_lines_and_keeps_the_document_out() -> None:
    for name, text in CASES.items():
        result = told(text)
        assert result.problems, name
        for problem in result.problems:
            assert PROBLEM_LINE.match(str(problem)), f"{name}: {problem}"
            assert 1 <= problem.line <= text.count("\n") + 1, f"{name}: {problem}"
        assert bool(result.documents) is not bool(result.errors), name


@pytest.mark.parametrize("piece", ["[{", "{", "- ", "? "])
def test_brackets_without_an_end_cost_little(piece: str) -> None:
    began = time.process_time()
    (problem,) = load({"a.yaml": piece * 50_000}).problems
    assert time.process_time() - began < 1
    assert problem.message == "is nested far too deeply"


def test_the_base_of_all_cases_is_sound() -> None:
    assert lines(BASE) == []


def test_a_sound_document_beside_a_broken_one_is_still_there() -> None:
    result = load({"a.yaml": BASE, "b.yaml": "nonsense"})
    assert [one.name for one in result.documents] == ["main"]
    assert [problem.file for problem in result.errors] == ["b.yaml"]


def test_documents_before_a_syntax_error_are_still_judged() -> None:
    result = loaded(f"{BASE}---\na: [\n")
    assert [one.name for one in result.documents] == ["main"]
    assert [problem.field for problem in result.problems] == ["yaml"]


def test_problems_come_in_the_order_of_the_file() -> None:
    problems = loaded(CASES["all at once"]).problems
    assert [problem.line for problem in problems] == sorted(problem.line for problem in problems)
    assert len({problem.line for problem in problems}) == 7


def test_terminal_escapes_never_reach_the_message() -> None:
    told = "\n".join(lines(BASE.replace("lanSubnet", '"lan\\e[31mSubnet"')))
    assert "\x1b" not in told


def test_a_file_of_another_sort_floods_no_log() -> None:
    told = lines(BASE + "".join(f"  field{number}: 1\n" for number in range(150)))
    assert len(told) == 101
    assert told[-1] == "cluster.yaml:113: file: has 50 further problems; mend these first"
