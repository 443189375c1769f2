"""Read YAML text into plain data with the line of every field.

Pure: finds the documents of a text and the errors against YAML's rules. Plain scalars follow YAML
1.2's core schema, as editors do: `no` and `12:30` are text, `010` is ten. For any text the outcome
is data and problems, never an exception.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.parser import Parser
from yaml.reader import Reader, ReaderError
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

from queenright.core.manifest.problems import Path, Problem, path_text
from queenright.core.manifest.suggestions import describe, printable

MOST_DEPTH = 30
MOST_NODES = 50_000
"""Bounds of one document, because aliases can make a small text expand enormously."""
_MOST_NESTED = 200
"""Mappings and lists inside one another that the parser follows, whatever Python's own bound."""
_LONGEST_KEY = 1024
"""Characters between a key's beginning and its colon, by YAML's rules."""

_TAG = "tag:yaml.org,2002:"


class _CoreSchema(BaseResolver):
    """YAML 1.2's core schema."""


for _name, _pattern, _first in (
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", list("-+0123456789")),
    (
        "float",
        (
            r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
        ),
        list("-+0123456789."),
    ),
):
    _CoreSchema.add_implicit_resolver(_TAG + _name, re.compile(_pattern), _first)


class _Loader(Reader, Scanner, Parser, Composer, _CoreSchema):
    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        _CoreSchema.__init__(self)
        self._nested = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        """Return the next node; stop at one that is nested so deeply that no manifest has it."""
        if self._nested == _MOST_NESTED:
            raise RecursionError
        self._nested += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._nested -= 1

    def stale_possible_simple_keys(self) -> None:
        """Forget keys that are too far back; the oldest is the first, and decides for all."""
        for oldest in self.possible_simple_keys.values():
            if oldest.line == self.line and self.index - oldest.index <= _LONGEST_KEY:
                return
            break
        super().stale_possible_simple_keys()

    def next_possible_simple_key(self) -> int | None:
        """The number of the oldest key's token, without a look at each bracket that is open."""
        return next((key.token_number for key in self.possible_simple_keys.values()), None)


@dataclass(slots=True)
class YamlDocument:
    """One document as data. `lines` has the line of each key and list entry, by path."""

    value: Any
    line: int
    lines: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def read_yaml(file: str, text: str) -> tuple[list[YamlDocument], list[Problem]]:
    """Return the documents of a text without empty ones, and the problems that stop reading."""
    documents: list[YamlDocument] = []
    loader: _Loader | None = None
    try:
        loader = _Loader(text)
        documents.extend(_Builder(file).document(node) for node in _compose(loader))
    except yaml.MarkedYAMLError as error:
        return documents, [_syntax_problem(file, text, error)]
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = f"holds the character U+{_code_point(error.character):04X}, which YAML forbids"
        return documents, [Problem(file, line, "yaml", message)]
    except RecursionError:
        line = (loader.line if loader else 0) + 1
        return documents, [Problem(file, line, "yaml", "is nested far too deeply")]
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        line = (loader.line if loader else 0) + 1
        return documents, [Problem(file, line, "yaml", f"can't be read: {describe(str(error))}")]
    return [
        document for document in documents if document.value is not None or document.problems
    ], []


def _compose(loader: _Loader) -> Iterator[Node]:
    while loader.check_node():
        node = loader.get_node()
        if node is not None:
            yield node


def _code_point(character: object) -> int:
    return character if isinstance(character, int) else ord(str(character)[:1] or "\0")


class _Builder:
    """Turns the nodes of one document into data, and records lines and problems on the way."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._lines: dict[str, int] = {}
        self._problems: list[Problem] = []
        self._left = MOST_NODES

    def document(self, node: Node) -> YamlDocument:
        value = self._value(node, ())
        return YamlDocument(value, _line(node), self._lines, self._problems)

    def _value(self, node: Node, path: Path) -> Any:
        self._left -= 1
        if self._left < 0 or len(path) > MOST_DEPTH:
            if self._left >= -1:
                self._left = -1
                self._complain(
                    node, path[:3], "is nested too deeply or too large, perhaps by aliases"
                )
            return None
        if isinstance(node, MappingNode) and node.tag == _TAG + "map":
            return self._mapping(node, path)
        if isinstance(node, SequenceNode) and node.tag == _TAG + "seq":
            return self._list(node, path)
        if isinstance(node, ScalarNode):
            return self._scalar(node, path)
        self._complain(node, path, f"the tag {describe(node.tag)} is not known here; remove it")
        return None

    def _list(self, node: SequenceNode, path: Path) -> list[Any]:
        values = []
        for index, item in enumerate(node.value):
            self._lines[path_text((*path, index))] = _line(item)
            values.append(self._value(item, (*path, index)))
        return values

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                self._complain(key_node, path, "a field's name must be text, not a list or mapping")
                continue
            key = _text(key_node.value)
            place = (*path, key)
            if key in values:
                first = self._lines[path_text(place)]
                message = f"is written twice; the first is on line {first}. Remove one of them"
                self._complain(key_node, place, message)
                continue
            self._lines[path_text(place)] = _line(key_node)
            values[key] = self._value(value_node, place)
        return values

    def _scalar(self, node: ScalarNode, path: Path) -> Any:
        text = _text(node.value)
        match node.tag.removeprefix(_TAG):
            case "str":
                return text
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int" if len(text) <= 40:
                return _number(text)
            case "float":
                return _number(text)
            case "int":
                return text
        self._complain(node, path, f"the tag {describe(node.tag)} is not known here; remove it")
        return None

    def _complain(self, node: Node, path: Path, message: str) -> None:
        self._problems.append(
            Problem(self._file, _line(node), path_text(path) or "document", message)
        )


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _text(value: str) -> str:
    """Return the text without lone surrogates, which escapes can make and no encoder accepts."""
    return value.encode("utf-8", "replace").decode("utf-8")


def _number(text: str) -> int | float | str:
    if text[:2] in {"0x", "0o"}:
        return int(text, 16 if text[1] == "x" else 8)
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        return text


_SYNTAX = (
    (r"found character '\\t' that cannot start", "a tab indents this line; YAML takes only spaces"),
    (
        r"mapping values are not allowed",
        (
            "a colon at a place where YAML allows none: indent this line like its neighbours, or "
            "put the text with the colon in quotes"
        ),
    ),
    (
        r"could not find expected ':'",
        "a colon is missing: a field is written `name: value`",
    ),
    (
        r"expected <block end>",
        (
            "the indentation does not match the lines above: fields of one mapping and entries of "
            "one list start in one column"
        ),
    ),
    (r"unexpected end of stream", "quotes that open here are never closed"),
    (
        r"expected ',' or '[\]}]', but got '<stream end>'",
        "a bracket that opens here is never closed",
    ),
    (
        r"expected ',' or '([\]}])'",
        r"a comma or the closing \1 is missing after what opens here",
    ),
    (r"found undefined alias", "an alias (*name) whose anchor (&name) does not exist"),
    (
        r"found character '(.)' that cannot start",
        r"a value can't start with \1; put it in quotes",
    ),
    (r"found unknown escape character", "an unknown escape after a backslash; use single quotes"),
    (r"found duplicate anchor", "an anchor (&name) that is written twice"),
    (r"expected the node content", "a value is missing or starts with a sign that needs quotes"),
)


_WHERE_IT_OPENED = re.compile(r"expected ':'|end of stream|expected ',' or")


def _syntax_problem(file: str, text: str, error: yaml.MarkedYAMLError) -> Problem:
    raw = error.problem or "is not YAML"
    mark = error.problem_mark or error.context_mark
    if _WHERE_IT_OPENED.search(raw):
        mark = error.context_mark or mark
    line = int(mark.line) + 1 if mark else 1
    lines = text.splitlines() or [""]
    if re.match(r" *\t", lines[min(line, len(lines)) - 1]):
        return Problem(file, line, "yaml", _SYNTAX[0][1])
    for pattern, message in _SYNTAX:
        match = re.search(pattern, raw)
        if match:
            return Problem(
                file, line, "yaml", match.expand(message) if match.re.groups else message
            )
    return Problem(file, line, "yaml", f"is not YAML: {printable(raw)}")
