"""Problems and findings: the faults of a file, each with its field.

A problem is one line that a person can act on: `file:line: field: message`. Paths of fields are
tuples inside (`("spec", "members", 0, "node")`) and text outside (`spec.members[0].node`).
"""

from dataclasses import dataclass
from typing import Literal

from queenright.core.manifest.suggestions import printable

Path = tuple[str | int, ...]
"""A field's place in a document: keys and list indices."""

Severity = Literal["error", "warning"]


def path_text(path: Path) -> str:
    """`("spec", "members", 0, "node")` -> `spec.members[0].node`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{printable(step)}"
    return text.removeprefix(".")


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One problem. `field` is a field's path, or `file`, `yaml` or `document` where the whole is
    meant. An error keeps the document from taking effect; a warning does not."""

    file: str
    line: int
    field: str
    message: str
    severity: Severity = "error"

    def __str__(self) -> str:
        warning = "warning: " if self.severity == "warning" else ""
        return f"{printable(self.file)}:{self.line}: {self.field}: {warning}{self.message}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem before its line is looked up. `involves` are further fields that it depends on: if
    one of those is refused itself, the finding is dropped."""

    path: Path
    message: str
    severity: Severity = "error"
    involves: tuple[Path, ...] = ()
