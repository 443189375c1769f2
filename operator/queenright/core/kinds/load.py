"""Load documents: from texts to valid documents and problems.

Decides which documents are valid, and reports everything that is wrong with the others at once,
each with file, line and field. A document with any error is left out; whatever the text, nothing is
raised.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from pydantic import ValidationError

from queenright.core.kinds.registry import API_VERSIONS, KINDS, AnyKind
from queenright.core.manifest.document import Clash, Document, Loaded, Origin
from queenright.core.manifest.error_messages import findings_of
from queenright.core.manifest.error_recovery import repaired
from queenright.core.manifest.model import HEAD, Resource
from queenright.core.manifest.problems import Finding, Path, Problem, path_text
from queenright.core.manifest.suggestions import describe, did_you_mean, nearest
from queenright.core.manifest.yaml_reader import YamlDocument, read_yaml

MOST_TOLD = 100
"""Problems of one file that are listed; further ones are only counted."""

_REPAIRS = 3


@dataclass(frozen=True, slots=True)
class _Judged:
    """One document of a file: its name as far as it is known, and the document if valid."""

    origin: Origin
    identity: tuple[str, str] | None
    document: Document | None
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class JudgedFile:
    """The documents and problems of one file's text by itself."""

    text: str
    judged: tuple[_Judged, ...] = ()
    problems: tuple[Problem, ...] = ()
    is_empty_on_purpose: bool = False


def load(files: Mapping[str, str]) -> Loaded:
    """The valid documents of some texts, by file name, and every problem in order of place."""
    return load_changed(files, {})[0]


def load_changed(
    files: Mapping[str, str], before: Mapping[str, JudgedFile]
) -> tuple[Loaded, Mapping[str, JudgedFile]]:
    """The same as ``load``, and each file as it was judged, for the next time: a file of ``before``
    with the same text is not read anew, and its documents are the same ones."""
    read = {
        file: known
        if (known := before.get(file)) is not None and known.text == files[file]
        else judge_file(file, files[file])
        for file in sorted(files)
    }
    return _joined(read), read


def judge_file(file: str, text: str) -> JudgedFile:
    """Read and validate one file, whatever the others say."""
    written, broken = read_yaml(file, text)
    if [document.value for document in written] == [[]] and not broken:
        return JudgedFile(text, is_empty_on_purpose=True)
    judged = tuple(
        _judge(document, Origin(file, document.line, document.lines)) for document in written
    )
    empty = (_nothing_in(file, text),) if not written and not broken else ()
    return JudgedFile(text, judged, (*broken, *empty))


def _joined(files: Mapping[str, JudgedFile]) -> Loaded:
    """The documents and problems of all files together."""
    judged = [one for file in files.values() for one in file.judged]
    problems = [problem for file in files.values() for problem in file.problems]
    problems += [problem for one in judged for problem in one.problems]
    repeated = list(_repeated(judged))
    problems += [problem for problem, _ in repeated]
    twice = {identity for _, identity in repeated}
    documents = [one.document for one in judged if one.document and one.identity not in twice]
    described = {one.identity for one in judged if one.identity}
    clashes = [*_clashes(documents, described)]
    problems += [clash.later.origin.problem(clash.finding) for clash in clashes]
    clashing = {
        id(document)
        for clash in clashes
        if clash.finding.severity == "error"
        for document in (clash.earlier, clash.later)
    }
    kept = tuple(document for document in documents if id(document) not in clashing)
    shown = tuple(_bounded(sorted(set(problems))))
    is_empty_on_purpose = any(file.is_empty_on_purpose for file in files.values())
    return Loaded(kept, shown, is_empty_on_purpose)


def _bounded(problems: Sequence[Problem]) -> Iterator[Problem]:
    """Each file's problems up to a bound, so that a file of another sort floods no log."""
    for _, of_one in groupby(problems, key=lambda problem: problem.file):
        found = list(of_one)
        yield from found[:MOST_TOLD]
        if len(found) > MOST_TOLD:
            rest = found[MOST_TOLD:]
            message = f"has {len(rest)} further problems; mend these first"
            worst = min(problem.severity for problem in rest)
            yield Problem(rest[0].file, rest[0].line, "file", message, worst)


def _nothing_in(file: str, text: str) -> Problem:
    what = "has no document in it" if text.strip() else "is empty"
    return Problem(file, 1, "file", f"{what}; to take its clusters out, remove the file")


def _judge(written: YamlDocument, origin: Origin) -> _Judged:
    value = written.value
    findings: list[Finding] = []
    resource: Resource | None = None
    if isinstance(value, dict):
        kind, value, findings = _kind_of(value)
        if kind is not None:
            resource, more = _validate(kind, value, origin)
            reported = {problem.field for problem in written.problems}
            findings += [one for one in more if path_text(one.path) not in reported]
    elif not written.problems:
        findings = [Finding((), f"must be a mapping of fields, not {describe(value)}")]
    problems = (*written.problems, *map(origin.problem, findings))
    sound = resource is not None and not any(p.severity == "error" for p in problems)
    document = Document(resource, origin) if resource is not None and sound else None
    return _Judged(origin, _identity(value), document, problems)


def _kind_of(value: dict[str, Any]) -> tuple[AnyKind | None, dict[str, Any], list[Finding]]:
    """The document's kind, the document as if its head were right, and what is wrong with it."""
    findings = []
    for field, known in (("apiVersion", API_VERSIONS), ("kind", tuple(KINDS))):
        given = value.get(field)
        if isinstance(given, str) and given in known:
            continue
        misspelt = nearest(field, [name for name in value if name not in HEAD])
        findings.append(_head_finding(value, field, known, misspelt))
        value = {name: item for name, item in value.items() if name != misspelt}
        if field == "apiVersion":
            value["apiVersion"] = API_VERSIONS[0]
    return KINDS.get(str(value.get("kind"))), value, findings


def _head_finding(
    value: dict[str, Any], field: str, known: Sequence[str], misspelt: str | None
) -> Finding:
    if field in value:
        given = value[field]
        meant = did_you_mean(given, known) if isinstance(given, str) else ""
        message = f"must be {' or '.join(known)}, not {describe(given)}{meant}"
        return Finding((field,), message)
    if misspelt is not None:
        return Finding((misspelt,), f'is not a field here; did you mean "{field}"?')
    return Finding((field,), f"is missing; write `{field}: {known[0]}`")


def _validate(
    kind: AnyKind, value: dict[str, Any], origin: Origin
) -> tuple[Resource | None, list[Finding]]:
    """The resource if the model takes it, and the findings of model and checks."""
    findings: list[Finding] = []
    refused: list[Path] = []
    for _ in range(_REPAIRS):
        try:
            resource = kind.model.model_validate(value)
        except ValidationError as error:
            found = [_as_written(one, value) for one in findings_of(error, kind.model)]
            if not refused:
                findings += [one for one in found if _was_written(one, origin)]
            refused += [one.path for one in found]
            value = repaired(value, kind.model, [one.path for one in found])
        else:
            checked = kind.check(resource)
            findings += [one for one in checked if not _rests_on(one, refused)]
            return (None if refused else resource), findings
    return None, findings


def _as_written(finding: Finding, value: Any) -> Finding:
    """The finding at the word that a person wrote, where a word stands for a mapping."""
    *around, _ = finding.path or ("",)
    holder = value
    for step in around:
        try:
            holder = holder[step]
        except (KeyError, IndexError, TypeError):
            return finding
    return replace(finding, path=tuple(around)) if isinstance(holder, str) else finding


def _was_written(finding: Finding, origin: Origin) -> bool:
    """False for a value that was derived from another one, which has its own finding."""
    return path_text(finding.path) in origin.lines or finding.message.startswith("is missing")


def _rests_on(finding: Finding, refused: Iterable[Path]) -> bool:
    """True if a finding's field, or one that it involves, is within a refused field.

    Also true if one of them contains a refused field.
    """
    return any(
        path[: len(bad)] == bad for bad in refused for path in (finding.path, *finding.involves)
    ) or any(bad[: len(path)] == path for bad in refused for path in finding.involves)


def _identity(value: object) -> tuple[str, str] | None:
    metadata = value.get("metadata") if isinstance(value, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    kind = value.get("kind") if isinstance(value, dict) else None
    return (kind, name) if isinstance(kind, str) and isinstance(name, str) else None


def _repeated(judged: Sequence[_Judged]) -> Iterator[tuple[Problem, tuple[str, str]]]:
    first: dict[tuple[str, str], Origin] = {}
    for one in judged:
        if one.identity is None:
            continue
        if one.identity in first:
            where = first[one.identity]
            place = f"{where.file}:{where.line}"
            kind, name = one.identity
            message = f"{describe(name)} is also the name of the {describe(kind)} at {place}"
            finding = Finding(("metadata", "name"), message)
            yield one.origin.problem(finding), one.identity
        first.setdefault(one.identity, one.origin)


def _clashes(
    documents: Sequence[Document], described: Collection[tuple[str, str]]
) -> Iterator[Clash]:
    for kind in KINDS.values():
        yield from kind.check_together(documents, described)
