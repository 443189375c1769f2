"""What is wrong with a file, where, and what came out of it all the same.

A problem is one line that a person can act on: `file:line: field: message`. Paths of fields are
tuples inside (`("spec", "members", 0, "node")`) and text outside (`spec.members[0].node`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from queenright.core.spec.document import Resource
from queenright.core.spec.notes_app import NotesApp
from queenright.core.spec.postgres_cluster import PostgresCluster
from queenright.core.spec.wording import printable

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
    """One thing wrong. `field` is a field's path, or `file`, `yaml` or `document` where the whole
    is meant. An error keeps the document from taking effect; a warning does not."""

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
    """A problem before its line is looked up. `involves` are the further fields that it rests on:
    where one of those is itself refused, the finding is guesswork and is dropped."""

    path: Path
    message: str
    severity: Severity = "error"
    involves: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a document stands. `line` is its first line; `lines` has that of each field written."""

    file: str
    line: int
    lines: Mapping[str, int] = field(default_factory=dict)

    def line_of(self, path: str) -> int:
        """Line of a field, or of the nearest part around it that the file has."""
        while path and path not in self.lines:
            cut = max(path.rfind("."), path.rfind("["))
            path = path[:cut] if cut > 0 else ""
        return self.lines.get(path, self.line)

    def problem(self, finding: Finding) -> Problem:
        """The finding with its file and line."""
        name = path_text(finding.path)
        return Problem(
            self.file, self.line_of(name), name or "document", finding.message, finding.severity
        )


@dataclass(frozen=True, slots=True)
class Document:
    """A valid document and its place."""

    resource: Resource
    origin: Origin

    @property
    def kind(self) -> str:
        return self.resource.KIND

    @property
    def name(self) -> str:
        return self.resource.metadata.name

    @property
    def cluster(self) -> PostgresCluster:
        """The resource of a document that is known to be a `PostgresCluster`."""
        if not isinstance(self.resource, PostgresCluster):
            raise TypeError(f"{self.kind} {self.name} is not a PostgresCluster")
        return self.resource

    @property
    def app(self) -> NotesApp:
        """The resource of a document that is known to be a `NotesApp`."""
        if not isinstance(self.resource, NotesApp):
            raise TypeError(f"{self.kind} {self.name} is not a NotesApp")
        return self.resource

    @property
    def is_cluster(self) -> bool:
        return isinstance(self.resource, PostgresCluster)

    @property
    def is_app(self) -> bool:
        return isinstance(self.resource, NotesApp)


@dataclass(frozen=True, slots=True)
class Clash:
    """A finding between two documents, told at the later one. An error keeps both from taking
    effect: which of the two came first in time, the files don't tell."""

    earlier: Document
    later: Document
    finding: Finding


@dataclass(frozen=True, slots=True)
class Loaded:
    """What came out of some files: the documents without errors, and every problem, by place."""

    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    is_empty_on_purpose: bool = False
    """Whether a file says, with an empty list (`[]`), that there is meant to be nothing."""

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "warning")
