"""Tests that the bench judges each budget: one that is broken, or not measured, is an error."""

import json
import re
from collections.abc import Iterator

import pytest

from bench import __main__ as bench
from bench import together, web
from bench.budgets import BUDGETS
from bench.figures import Figure
from tests.test_prose import PROJECT


def run(monkeypatch: pytest.MonkeyPatch, values: dict[str, float]) -> int:
    """Runs the bench with a section `web` that measures these figures."""

    def measure() -> Iterator[Figure]:
        for name, value in values.items():
            yield Figure(name, value, "ms", BUDGETS["web"].get(name))

    monkeypatch.setattr(bench, "SECTIONS", {"web": measure})
    monkeypatch.setattr(bench.sys, "argv", ["bench"])
    return bench.main()


def test_a_broken_budget_is_over_and_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PARTS", raising=False)
    assert run(monkeypatch, dict(BUDGETS["web"])) == 0
    assert " over" not in capsys.readouterr().out
    for name, bound in BUDGETS["web"].items():
        assert run(monkeypatch, {**BUDGETS["web"], name: bound + 1}) == 1
        (line,) = [line for line in capsys.readouterr().out.splitlines() if " over" in line]
        assert line.startswith(name)


def test_a_budget_that_was_not_measured_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PARTS", raising=False)
    values = dict(BUDGETS["web"])
    left = values.popitem()[0]
    assert run(monkeypatch, values) == 1
    assert f"{left}: not measured" in capsys.readouterr().out
    # Who measures parts of it wants no others.
    monkeypatch.setenv("PARTS", "1000")
    assert run(monkeypatch, values) == 0


def test_a_score_below_its_target_is_under() -> None:
    assert "under" in Figure("score", 94, "", at_least=95).line()
    assert "met" in Figure("score", 95, "", at_least=95).line()


def test_each_budget_has_a_section_and_a_page_of_that_size() -> None:
    assert set(BUDGETS) <= set(bench.SECTIONS)
    sizes = {name.partition(" blocks")[0] for name in BUDGETS["web"] if " blocks" in name}
    assert {size for size in sizes if size[0].isdigit()} == {f"{size:,}" for size in web.BLOCKS}


def test_the_way_of_an_edit_is_judged_from_its_request() -> None:
    for to in ("reads", "edits"):
        found = {"from": "request", "to": to, "p50": 1.0, "p95": 251.0, "most": 300.0}
        assert not together.figure(found).met
        assert together.figure({**found, "from": "key"}).met


def test_the_build_has_the_same_bounds_of_bytes() -> None:
    bounds = json.loads((PROJECT / "web/budgets.json").read_text())
    for key, name in web.SIZES.items():
        assert bounds[key] == BUDGETS["web"][name] * 1024


def test_the_document_lists_each_budget_with_its_bound() -> None:
    document = (PROJECT / "docs/budgets.md").read_text()
    rows = dict(re.findall(r"^\| `(.+?)` \| ([\d,]+) [a-zA-Z]+ \|", document, re.MULTILINE))
    listed = {name: float(bound.replace(",", "")) for name, bound in rows.items()}
    assert listed == {name: bound for part in BUDGETS.values() for name, bound in part.items()}
