"""Load the files' texts, and read only those anew that have changed.

Invariant: the result is that of ``load``; only the documents of unchanged files are the very ones
of the last time, by which everything that was made from them is found again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from queenright.core.kinds.load import JudgedFile, load_changed
from queenright.core.manifest.document import Loaded


@dataclass
class FileMemory:
    """The files of the last two calls: while a file is invalid, its present text and its last good
    one are loaded in turn."""

    newer: Mapping[str, JudgedFile] = field(default_factory=dict)
    older: Mapping[str, JudgedFile] = field(default_factory=dict)

    def load(self, files: Mapping[str, str]) -> Loaded:
        """The valid documents of some texts, by file name, and every problem in order of place."""
        before = {
            name: known
            for name, text in files.items()
            for known in (self.newer.get(name), self.older.get(name))
            if known is not None and known.text == text
        }
        loaded, read = load_changed(files, before)
        self.older, self.newer = self.newer, read
        return loaded
