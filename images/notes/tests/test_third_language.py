"""Tests that a further language needs its catalogues alone: a folder of words on each side."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

WEB = Path(__file__).parents[1] / "web"
SERVER = Path(__file__).parents[1] / "src/notes"
MARK = "Kiel la aparato"


def test_a_folder_of_words_is_a_language(tmp_path: Path) -> None:
    """The folder of German words is copied; the sources beside it stay as they are."""
    web = tmp_path / "notes" / "web"
    shutil.copytree(WEB, web, ignore=shutil.ignore_patterns("node_modules"))
    (web / "node_modules").symlink_to((WEB / "node_modules").resolve())
    made = shutil.copytree(web / "src/words/de", web / "src/words/eo")
    text = (made / "app.ts").read_text()
    german = next(line for line in text.splitlines() if "languageSystem:" in line)
    (made / "app.ts").write_text(text.replace(german, f'  languageSystem: "{MARK}",'))
    for command in (["node", "check.mjs", "types"], ["node", "build.mjs"]):
        ended = subprocess.run(command, cwd=web, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
    scripts = [path.read_text() for path in (tmp_path / "notes").rglob("static/assets/*.js")]
    assert any(MARK in script for script in scripts)
    assert any('["de","eo"]' in script for script in scripts)


def test_no_screen_has_words_of_its_own() -> None:
    """Texts between tags, and attributes that a person reads or hears, are in the catalogues."""
    found = set[str]()
    for path in (WEB / "src").rglob("*.tsx"):
        source = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)
        between = r"(?<![=\-])>\s*([^<>{}();=&|?:]*[A-Za-z]{2}[^<>{}();=&|?:]*?)\s*(?=[<{])"
        found.update(re.findall(between, source))
        said = r'\b(?:aria-label|title|placeholder|alt|label)="([^"]*[A-Za-z]{2}[^"]*)"'
        found.update(re.findall(said, source))
    # The names of keys, variables and a format are the same everywhere.
    assert found <= {"Esc", "PDF", "PROTOCOL_HEADER", "HOST_HEADER"}, found


#: What a replica with the folder does: its front page for this reader, and its messages.
SHOWN = """
import asyncio
from notes.http.problems import Problem, not_found
from notes.http.viewer import ANYBODY, Seen
from notes.web.render import template
from notes.words.spoken import LANGUAGES, Spoken, by_reader, of_messages

assert LANGUAGES == ("en", "de", "eo"), LANGUAGES
assert by_reader("eo, de;q=0.5") == "eo"
seen = Seen("https", "notes.example.org", "10.0.0.1")
made = template("error.html", ANYBODY, seen, 404, language="eo", problem=not_found().document)
text = "".join(made._pieces)
assert '<html lang="eo">' in text, text
assert "«Nicht gefunden»" in text, text
assert "«Diese Seite gibt es nicht.»" in text, text
t = of_messages({"cookie": "notes-language=eo"})
answer = Problem(422, "There may be 50 parameters.", field="query").response(t)
assert answer.headers["content-language"] == "eo"
assert "«Es dürfen 50 Parameter sein.»".encode() in answer.body, answer.body
"""


def test_a_folder_of_words_is_a_language_of_the_server(tmp_path: Path) -> None:
    """The folder of German words is copied, with marks; the other modules stay as they are."""
    notes = tmp_path / "notes"
    shutil.copytree(SERVER, notes, ignore=shutil.ignore_patterns("static", "__pycache__"))
    made = shutil.copytree(notes / "words" / "de", notes / "words" / "eo")
    begin = made / "__init__.py"
    text = begin.read_text().replace("notes.words.de", "notes.words.eo")
    marks = "".join(
        f"{name}: dict[str, str] = {{text: f'«{{other}}»' for text, other in {name}.items()}}\n"
        for name in ("WORDS", "MESSAGES")
    )
    begin.write_text(text.replace(": Final", "") + marks)
    ended = subprocess.run(
        [sys.executable, "-c", SHOWN],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
