"""Reads page properties (YAML before a Markdown text, lines below a Notion title) as pairs.

Invariant: YAML is read as a stream of events of bounded number and depth: no alias is followed, no
tag creates an object, no function is recursive.
"""

import re

import yaml

Pairs = list[tuple[str, str]]
MAX_CHARACTERS = 65_536
MAX_EVENTS = 10_000
MAX_DEPTH = 20
_MATTER = re.compile(
    r"\A---[ \t]*\n(.*?)\n?^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_LINE = re.compile(r"^([^\W\d_][^:\n]{0,80}): (.*)$")


class UnreadableError(ValueError):
    """The properties are not plain YAML; the text gives the reason."""


def split_matter(text: str) -> tuple[str | None, str]:
    """The YAML before a Markdown text, or None, and the rest of the text."""
    match = _MATTER.match(text[: MAX_CHARACTERS + 100])
    if match is None or len(match[1]) > MAX_CHARACTERS:
        return None, text
    return match[1], text[match.end() :]


def read_matter(source: str) -> Pairs:
    """The pairs of a YAML mapping; lists become comma-separated. Raises `UnreadableError`."""
    reader = _Reader()
    try:
        for number, event in enumerate(yaml.parse(source, Loader=yaml.SafeLoader)):
            if number > MAX_EVENTS:
                raise UnreadableError("it has too many values")
            reader.take(event)
    except yaml.YAMLError:
        raise UnreadableError("it is not YAML") from None
    except RecursionError:
        raise UnreadableError("it is nested too deeply") from None
    return reader.pairs


class _Reader:
    """Collects the events of one mapping whose values are texts, lists or mappings of those."""

    def __init__(self) -> None:
        self.pairs: Pairs = []
        self._depth = 0
        self._key: str | None = None
        self._values: list[str] = []

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.AliasEvent):
            raise UnreadableError("it has aliases")
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise UnreadableError("it is nested too deeply")
            if self._depth == 1 and not isinstance(event, yaml.MappingStartEvent):
                raise UnreadableError("it is not a list of properties")
            if self._depth == 2 and self._key is None:
                raise UnreadableError("a property's name is not a text")
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._depth -= 1
            if self._depth == 1:
                self._end()
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(str(event.value))

    def _scalar(self, value: str) -> None:
        if self._depth == 0:
            raise UnreadableError("it is not a list of properties")
        if self._depth == 1 and self._key is None:
            self._key = value
            return
        self._values.append(" ".join(value.split()))
        if self._depth == 1:
            self._end()

    def _end(self) -> None:
        if self._key is not None:
            self.pairs.append((self._key, ", ".join(v for v in self._values if v)))
        self._key, self._values = None, []


def names_of(source: str) -> list[str]:
    """The aliases in an Obsidian note's properties."""
    try:
        pairs = read_matter(source)
    except UnreadableError:
        return []
    found = [value for key, value in pairs if key.lower() in {"alias", "aliases"}]
    return [name.strip() for value in found for name in value.split(",") if name.strip()]


def take_lines(lines: list[str]) -> tuple[Pairs, int]:
    """The pairs from Notion's `Name: value` lines below a title, and the number of lines."""
    pairs: Pairs = []
    for number, line in enumerate(lines):
        match = _LINE.match(line)
        if match is None:
            # Properties end with an empty line; without it this was a paragraph with a colon.
            return (pairs, number) if pairs and not line.strip() else ([], 0)
        pairs.append((match[1], match[2].strip()))
    return pairs, len(lines)
