"""A valid document, where it stands in its file, and all that came out of some files.

A document is generic over its resource: `Document[R]` is one of a known kind, a bare `Document` is
one of any kind.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeGuard, TypeVar

import typing_extensions

from queenright.core.manifest.model import Resource
from queenright.core.manifest.problems import Finding, Problem, path_text

R = TypeVar("R", bound=Resource)
R_co = typing_extensions.TypeVar("R_co", bound=Resource, default=Resource, covariant=True)


@dataclass(frozen=True, slots=True)
class Origin:
    """A document's place. `line` is its first line; `lines` has the line of each written field."""

    file: str
    line: int
    lines: Mapping[str, int] = field(default_factory=dict)

    def line_of(self, path: str) -> int:
        """Return the line of a field, or of the nearest part around it that the file has."""
        while path and path not in self.lines:
            cut = max(path.rfind("."), path.rfind("["))
            path = path[:cut] if cut > 0 else ""
        return self.lines.get(path, self.line)

    def problems(self, findings: Iterable[Finding]) -> tuple[Problem, ...]:
        """The findings with their file and lines, each once, in their order of place."""
        return tuple(sorted({self.problem(finding) for finding in findings}))

    def problem(self, finding: Finding) -> Problem:
        """Return the finding with its file and line."""
        name = path_text(finding.path)
        return Problem(
            self.file, self.line_of(name), name or "document", finding.message, finding.severity
        )


@dataclass(frozen=True, slots=True)
class Document(Generic[R_co]):
    """A valid document and its place."""

    resource: R_co
    origin: Origin

    @property
    def kind(self) -> str:
        return self.resource.KIND

    @property
    def name(self) -> str:
        return self.resource.metadata.name


def is_of(document: Document, model: type[R]) -> TypeGuard[Document[R]]:
    """Returns True if the document's resource is of this model."""
    return isinstance(document.resource, model)


def documents_of(model: type[R], documents: Iterable[Document]) -> tuple[Document[R], ...]:
    """The documents whose resource is of this model, in their order."""
    return tuple(document for document in documents if is_of(document, model))


@dataclass(frozen=True, slots=True)
class Clash:
    """A finding between two documents, reported at the later one. An error keeps both from taking
    effect, because the files do not show which of the two came first in time."""

    earlier: Document
    later: Document
    finding: Finding


@dataclass(frozen=True, slots=True)
class Loaded:
    """The documents without errors, and every problem, sorted by place."""

    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    is_empty_on_purpose: bool = False
    """True if a file has an empty list (`[]`): the owner wants no document."""

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "warning")
