"""Decides the text of Patroni's configuration, from a template and the values for it.

A placeholder is ``${NAME}``. Standing alone as a YAML value (``key: ${NAME}``, ``- ${NAME}``) it
becomes the value's own type: a quoted string, a list, an integer. Inside a longer plain value
(``${NODE_CONNECT}:8008``) only an address may stand, and the whole value becomes one quoted string.
``$${`` stands for a literal ``${``. Comment lines are left alone. Invariant: whatever characters a
value has, it cannot end its own YAML scalar.
"""

import re
from collections.abc import Mapping, Sequence

Value = str | int | Sequence[str]

_LINE = re.compile(
    r"^(?P<head>\s*(?:-\s+)*(?:[^\s#'\"{\[][^:#]*:\s+|-\s+)?)(?P<value>\S.*?)(?P<tail>\s*)$"
)
_PLACEHOLDER = re.compile(r"(?<!\$)\$\{([^}]*)\}?")
_ALONE = re.compile(r"^\$\{([A-Za-z0-9_]+)\}$")
_COMPOSABLE = re.compile(r"^[A-Za-z0-9._-]+$")
_NOT_PLAIN = re.compile(r"['\"{}\[\],]|\s#|:\s|^[&*!|>%@`?]")
_ESCAPE = re.compile(r"[^\x20-\x7e]|[\"\\]")


class TemplateError(Exception):
    """The template cannot be filled; the message names the line and the placeholder."""


def placeholders(template: str) -> frozenset[str]:
    """The names that the template refers to, comment lines aside."""
    return frozenset(
        name
        for line in template.splitlines()
        if not _is_comment(line)
        for name in _PLACEHOLDER.findall(line)
    )


def fill(template: str, values: Mapping[str, Value]) -> str:
    """The template with every placeholder replaced; TemplateError at the first that cannot be."""
    lines = template.splitlines()
    return "".join(_fill_line(number, line, values) + "\n" for number, line in enumerate(lines, 1))


def _fill_line(number: int, line: str, values: Mapping[str, Value]) -> str:
    if _is_comment(line) or not _PLACEHOLDER.search(line):
        return line.replace("$${", "${")
    parts = _LINE.match(line)
    if parts is None or _PLACEHOLDER.search(parts["head"]):
        raise TemplateError(f"line {number}: a placeholder can only stand in a value")
    alone = _ALONE.match(parts["value"])
    if alone:
        return parts["head"] + _scalar(_value(number, alone[1], values))
    return parts["head"] + _scalar(_composed(number, parts["value"], values))


def _composed(number: int, text: str, values: Mapping[str, Value]) -> str:
    outside = _PLACEHOLDER.sub("", text)
    if _NOT_PLAIN.search(outside.replace("$${", "")):
        raise TemplateError(
            f"line {number}: beside a placeholder only plain text may stand, "
            "such as ${NODE_CONNECT}:8008"
        )

    def put(match: re.Match[str]) -> str:
        name = match[1]
        value = _value(number, name, values)
        if name != "NODE_CONNECT":
            raise TemplateError(f"line {number}: ${{{name}}} has to stand alone as a value")
        if not isinstance(value, str) or not _COMPOSABLE.match(value):
            raise TemplateError(f"line {number}: the value of ${{{name}}} is not an address")
        return value

    return _PLACEHOLDER.sub(put, text).replace("$${", "${")


def _value(number: int, name: str, values: Mapping[str, Value]) -> Value:
    if name not in values:
        known = ", ".join(sorted(values))
        raise TemplateError(f"line {number}: unknown placeholder ${{{name}}} (known: {known})")
    return values[name]


def _scalar(value: Value) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return '"' + _ESCAPE.sub(_escaped, value) + '"'
    return "[" + ", ".join(_scalar(item) for item in value) + "]"


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    return "\\" + character if character in '"\\' else f"\\U{ord(character):08x}"


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")
