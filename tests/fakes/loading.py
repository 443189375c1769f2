"""Manifests judged once for each text: the same few are written again and again, in every history.

What comes out depends on the texts alone and is never changed, so its parts may be shared. The
documents themselves are new ones every time: by that the operator tells one reading from another;
an operator's own memory (``JudgedFiles``) gives the ones of an unchanged file again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from queenright.core.kinds.load import load
from queenright.core.manifest.document import Document, Loaded

MOST_TEXTS = 512


def judged(files: Mapping[str, str]) -> Loaded:
    """As ``load`` judges the texts."""
    found = _judged(tuple(files.items()))
    return replace(found, documents=tuple(replace(one) for one in found.documents))


@dataclass
class JudgedFiles:
    """As ``FileMemory``: the documents of a file whose text is the same are the same ones."""

    before: dict[tuple[str, str, str, str], Document] = field(default_factory=dict)
    """The last document of each text, by file, text, kind and name."""

    def load(self, files: Mapping[str, str]) -> Loaded:
        found = judged(files)
        kept = {
            (one.origin.file, files[one.origin.file], one.kind, one.name): one
            for one in found.documents
        }
        kept = {key: self.before.get(key, one) for key, one in kept.items()}
        self.before = kept
        return replace(found, documents=tuple(kept.values()))


@lru_cache(maxsize=MOST_TEXTS)
def _judged(files: tuple[tuple[str, str], ...]) -> Loaded:
    return load(dict(files))
