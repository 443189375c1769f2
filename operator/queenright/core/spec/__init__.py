"""What a person writes: the kinds of document, their validation, and their places in the files."""

from queenright.core.spec.changes import ChangedField, changed_fields
from queenright.core.spec.loading import load
from queenright.core.spec.placement import placement_problems
from queenright.core.spec.problems import Document, Loaded, Origin, Problem
from queenright.core.spec.schema import schemas

__all__ = [
    "ChangedField",
    "Document",
    "Loaded",
    "Origin",
    "Problem",
    "changed_fields",
    "load",
    "placement_problems",
    "schemas",
]
