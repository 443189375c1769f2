"""The kinds of zip that can be imported, and the formats of their pages."""

from typing import Literal

Kind = Literal["own", "obsidian", "notion", "outline", "outline-json", "bookstack", "files"]
Form = Literal["markdown", "html", "csv", "outline", "nothing"]
KINDS: dict[Kind, str] = {
    "own": "an export of this application",
    "obsidian": "an Obsidian vault",
    "notion": "a Notion export",
    "outline": "an Outline export",
    "outline-json": "an Outline export (JSON)",
    "bookstack": "a BookStack export",
    "files": "Markdown and files",
}

#: The kind of a job that reads a zip without importing it.
PREVIEW = "import-preview"
#: What to do if the same zip was imported to the same place before.
Mode = Literal["once", "copy", "replace"]
