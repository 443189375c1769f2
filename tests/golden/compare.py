"""Texts that are compared with a file kept beside this module."""

import difflib
import os
from pathlib import Path

HERE = Path(__file__).parent


def assert_golden(name: str, text: str) -> None:
    """The text is what the file says; `UPDATE_GOLDEN=1` writes it instead, for a person to read."""
    file = HERE / name
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    kept = file.read_text(encoding="utf-8") if file.exists() else ""
    difference = difflib.unified_diff(
        kept.splitlines(), text.splitlines(), f"golden/{name}", "now", lineterm=""
    )
    assert kept == text, "\n".join([f"{name} differs (UPDATE_GOLDEN=1 accepts):", *difference])
