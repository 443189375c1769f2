"""Tests that a further language of the workspace needs its catalogue alone: a folder of words."""

import shutil
import subprocess
from pathlib import Path

WEB = Path(__file__).parents[1] / "web"
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
