"""Help texts of every command, in one file to read like a page: ``tests/golden/help.txt``."""

import subprocess
import sys
from pathlib import Path

from tests.golden.compare import assert_golden
from tests.support.command_line import environment

SHOW_ALL = """
import click
from queenright.cli.main import main

def commands(group, *above):
    for name in group.list_commands(click.Context(group)):
        yield (*above, name)
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from commands(command, *above, name)

for words in [(), *commands(main)]:
    print("$", " ".join(("queenright", *words, "--help")))
    try:
        main([*words, "--help"], prog_name="queenright", standalone_mode=False)
    except SystemExit as end:
        assert not end.code, end.code
    print()
"""
"""Runs in a process of its own: click remembers the options of commands that ran before."""


def test_the_help_texts(tmp_path: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-c", SHOW_ALL],
        env=environment(tmp_path, COLUMNS="80"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.count("$ queenright ") > 20, "the commands' own pages are among them"
    assert_golden("help.txt", shown.stdout)
