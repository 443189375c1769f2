"""The field reference for people, in Markdown, from the models' own schema.

Decides the text of `docs/reference.md` from the registered kinds: a table for each part, with type,
default and meaning of each field.
"""

from collections.abc import Iterator
from typing import Any

from queenright.core.kinds.json_schema import schema_of
from queenright.core.kinds.registry import KINDS
from queenright.core.manifest.model import API_VERSION
from queenright.core.manifest.moments import MOMENT_PATTERN
from queenright.core.manifest.quantities import SIZE_PATTERN

_HEAD = f"""\
# Field reference

Every field of every kind of document, with its default. Made from the models by `make crds`; the
same facts are in the JSON Schemas under `crds/`, which editors use:

```yaml
# yaml-language-server: $schema=../crds/postgrescluster.schema.json   or notesapp.schema.json
apiVersion: {API_VERSION}
```

A *duration* is a number with a unit (`500ms`, `30s`, `10m`, `1h`, `1m30s`) or bare seconds. A
*size* is a number with a unit (`64M`, `2G`, `1MB`, `1GiB`; all powers of 1024) or bare bytes.
A *moment* is a date and a time with its zone (`2026-12-01T06:00Z`, `2026-12-01 07:00:00 +01:00`).
*§* refers to the section of a contract that a value comes from: the database cluster's, or for
`NotesApp` the notes application's. Scalars follow
YAML 1.2: `yes`, `no`, `on` and `off` are text, and only `true` and `false` are booleans.
"""


def reference() -> str:
    """The whole text."""
    return "\n".join([_HEAD, *(_kind(schema_of(kind.model)) for kind in KINDS.values())])


def _kind(schema: dict[str, Any]) -> str:
    parts = [f"## {schema['title']}\n", f"{schema['description']}\n"]
    parts += _tables(schema, schema["$defs"], "")
    return "\n".join(parts)


def _tables(part: dict[str, Any], parts: dict[str, Any], path: str) -> Iterator[str]:
    """A table for the part itself, then one for each part within it."""
    required = part.get("required", [])
    if path:
        yield f"### `{path}`\n\n{part.get('description', '')}\n"
    yield "| field | type | default | meaning |\n|---|---|---|---|"
    for name, field in part["properties"].items():
        default = "**required**" if name in required else _default(field)
        yield f"| `{name}` | {_type(field, parts)} | {default} | {_cell(field, parts)} |"
    yield ""
    for name, field in part["properties"].items():
        inner, suffix = _inner(field)
        if inner:
            yield from _tables(parts[inner], parts, f"{path}.{name}{suffix}".removeprefix("."))


def _inner(field: dict[str, Any]) -> tuple[str, str]:
    """Name of the part that a field holds, and `[]` if it holds a list of them."""
    if "$ref" in field:
        return str(field["$ref"]).rsplit("/", 1)[-1], ""
    for choice in field.get("anyOf", []):
        if "$ref" in choice:
            return _inner(choice)
    items = field.get("items", {})
    return (str(items["$ref"]).rsplit("/", 1)[-1], "[]") if "$ref" in items else ("", "")


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    if "$ref" in field:
        return "below"
    if value is None or value == []:
        return "none" if "Default:" not in field.get("description", "") else "see there"
    if isinstance(value, dict):
        return "<br>".join(f"`{key}: {item}`" for key, item in value.items())
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _type(field: dict[str, Any], parts: dict[str, Any]) -> str:
    choices = [one for one in field.get("anyOf", []) if one.get("type") != "null"]
    if len(choices) == 1:
        return _type(choices[0], parts)
    patterns = {str(choice.get("pattern")) for choice in choices}
    if SIZE_PATTERN in patterns:
        return "size"
    if any("ms|s|m|h|d" in pattern for pattern in patterns):
        return "duration"
    if len(choices) > 1:
        return " or ".join(_type(choice, parts) for choice in choices)
    if field.get("pattern") == MOMENT_PATTERN:
        return "moment"
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return " or ".join(f"`{choice}`" for choice in field["enum"])
    if field.get("type") == "array":
        return f"list of {_type(field['items'], parts)}"
    if "$ref" in field:
        return "mapping"
    bounds = f" {field['minimum']} to {field['maximum']}" if "maximum" in field else ""
    names = {"string": "text", "integer": "number", "object": "mapping"}
    return names.get(str(field.get("type")), str(field.get("type"))) + bounds


def _cell(field: dict[str, Any], parts: dict[str, Any]) -> str:
    text = field.get("description") or parts.get(_inner(field)[0], {}).get("description", "")
    return str(text).replace("|", "\\|").replace("\n", " ")
