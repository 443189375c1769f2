"""Recordings of a terminal: what is kept of a run, and the pictures that are drawn from it."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.lab.recording import ROOT, Recording, main, read_cast, record, render
from tests.lab.terminal_svg import COLUMNS, DARK, LIGHT, ROWS, draw, rows

CAST = ROOT / "docs" / "pictures" / "demo.cast"


def texts(*events: tuple[float, str]) -> list[str]:
    return [row.text for row in rows(events)]


def test_lines_wrap_as_on_a_terminal() -> None:
    assert texts((0, "a" * COLUMNS + "b\n\nc")) == ["a" * COLUMNS, "b", "", "c"]


def test_a_line_that_comes_in_parts_is_one_row() -> None:
    assert texts((0, "one "), (1, "two\r\nthree\r\n")) == ["one two", "three"]


def test_escapes_and_overwritten_text_are_left_out() -> None:
    assert texts((0, "\x1b[1;32mgreen\x1b[0m\r\n10 %\r100 %\n\x07bell\x00\n")) == [
        "green",
        "100 %",
        "bell",
    ]


def test_long_pauses_are_cut() -> None:
    found = rows([(0, "a\n"), (0.25, "b\n"), (300, "c\n")])
    assert [row.at_s for row in found] == [0, 0.25, 1.25]


def test_a_picture_shows_its_last_rows_and_every_row_before() -> None:
    screen = rows([(number / 10, f"row {number}\n") for number in range(ROWS + 5)])
    picture = draw("title", screen, LIGHT)
    tree = ElementTree.fromstring(picture)  # noqa: S314  # drawn here
    shown = [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert shown == ["title", *(f"row {number}" for number in range(ROWS + 5))]
    assert 'transform="translate(0 -95)"' in picture
    assert "prefers-reduced-motion" in picture


def test_what_is_printed_can_be_no_markup() -> None:
    picture = draw('"<x>', rows([(0, "<script>a & b</script>\n")]), DARK)
    tree = ElementTree.fromstring(picture)  # noqa: S314  # drawn here
    assert not list(tree.iter("{http://www.w3.org/2000/svg}script"))
    assert "&lt;script&gt;a &amp; b" in picture


def test_both_themes_differ_in_colours_alone() -> None:
    screen = rows([(0, "$ make demo\n"), (1, "lab: up\n")])
    light, dark = draw("title", screen, LIGHT), draw("title", screen, DARK)
    for ours, theirs in zip(
        (LIGHT.background, LIGHT.bar, LIGHT.border, LIGHT.text, LIGHT.quiet, LIGHT.good),
        (DARK.background, DARK.bar, DARK.border, DARK.text, DARK.quiet, DARK.good),
        strict=True,
    ):
        light = light.replace(ours, theirs)
    assert light == dark


def test_a_run_is_recorded_with_its_times_and_without_this_machines_paths() -> None:
    program = f"import time; print('{ROOT}/.demo'); time.sleep(.3); print('zwölf')"
    found = record([sys.executable, "-c", program])
    assert found is not None
    prompt, *events = found.events
    assert prompt == (0.0, f"$ {sys.executable} -c {program}\r\n")
    assert [text for _, text in events] == [".demo\r\n", "zwölf\r\n"]
    assert events[1][0] - events[0][0] >= 0.25
    assert read_cast(found.as_cast()).events[1:] == tuple(
        (round(at, 3), text) for at, text in events
    )


def test_a_run_that_fails_replaces_no_recording(tmp_path: Path) -> None:
    cast = tmp_path / "demo.cast"
    cast.write_text("before")
    program = "print('half'); raise SystemExit(3)"
    assert main(["record", str(cast), sys.executable, "-c", program]) == 1
    assert cast.read_text() == "before"


def test_the_closing_hints_are_not_drawn() -> None:
    recording = Recording("t", ((0.0, "$ t\r\nconverged\r\n\r\nLook     make status\r\nmore\r\n"),))
    assert [row.text for row in recording.screen()] == ["$ t", "converged"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pictures_in_the_readme_are_drawn_from_the_recording(
    theme: str, tmp_path: Path
) -> None:
    (tmp_path / CAST.name).write_bytes(CAST.read_bytes())
    render(tmp_path / CAST.name)
    name = f"{CAST.stem}-{theme}.svg"
    assert (tmp_path / name).read_bytes() == CAST.with_name(name).read_bytes(), "make demo-picture"
