"""Plain messages for the errors of the pydantic models.

Pure: from pydantic's errors and the models' fields, each message names the fault and a value that
would be accepted.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from queenright.core.manifest.model import HEAD, Part, Worded
from queenright.core.manifest.problems import Finding, Path, path_text
from queenright.core.manifest.quantities import format_duration
from queenright.core.manifest.secret_fields import describe_at, secret_hint
from queenright.core.manifest.suggestions import did_you_mean, nearest


def findings_of(error: ValidationError, model: type[BaseModel]) -> Iterator[Finding]:
    """Return one finding for each of pydantic's errors."""
    for details in error.errors(include_url=False):
        path = tuple(details["loc"])
        yield Finding(path, _message(details, path, model))


_FEW = 3
_TYPES = {
    "string": "text",
    "int": "a whole number",
    "bool": "true or false",
    "tuple": "a list",
    "list": "a list",
    "dict": "a mapping",
    "model": "a mapping",
}


def _message(details: ErrorDetails, path: Path, model: type[BaseModel]) -> str:
    value, context = details["input"], details.get("ctx", {})
    match details["type"]:
        case "missing":
            return _missing(path, field_at(model, path))
        case "extra_forbidden":
            return _unknown(path, model)
        case "value_error":
            return str(context["error"])
        case "literal_error":
            return _choice(path, field_at(model, path), value)
        case "greater_than_equal":
            return _out_of_bounds("at least", context["ge"], value, path, model)
        case "less_than_equal":
            return _out_of_bounds("at most", context["le"], value, path, model)
    shown = describe_at(path, value, field_at(model, path))
    part = part_at(model, path)
    if part is not None and issubclass(part, Worded) and details["type"].startswith("model"):
        return f"{_words(part)}, or a mapping with {_names(part)}, not {shown}"
    expected = _TYPES.get(details["type"].partition("_")[0])
    if expected == "a mapping" and part is not None and len(fields_of(part)) <= _FEW:
        expected += f" with {_names(part)}"
    if expected:
        return f"must be {expected}, not {shown}{_type_hint(expected, value)}"
    return f"{details['msg'][:1].lower()}{details['msg'][1:]}, not {shown}"


def _type_hint(expected: str, value: object) -> str:
    if expected == "text" and isinstance(value, int | float):
        return "; put it in quotes"
    if expected.startswith(("a list", "a mapping")) and value is None:
        return "; is the file cut short, or an indentation missing?"
    return ""


def _missing(path: Path, field: FieldInfo | None) -> str:
    if field is None:
        return "is missing"
    if field.examples and isinstance(field.examples[0], str):
        return f"is missing; write for example `{path[-1]}: {field.examples[0]}`"
    meaning = (field.description or "").split(". ")[0].rstrip(".")
    return f"is missing: {meaning[:1].lower()}{meaning[1:]}"


def _choice(path: Path, field: FieldInfo | None, value: object) -> str:
    choices = [str(choice) for choice in get_args(field.annotation)] if field else []
    meant = did_you_mean(value, choices) if isinstance(value, str) else ""
    return f"must be {' or '.join(choices)}, not {describe_at(path, value)}{meant}"


def _words(part: type[Worded]) -> str:
    words = get_args(part.model_fields[part.WORD].annotation)
    return f"must be {' or '.join(words)}"


def _names(part: type[BaseModel]) -> str:
    return " and ".join(f"`{name}`" for name in fields_of(part))


def _out_of_bounds(how: str, bound: float, value: Any, path: Path, model: type[BaseModel]) -> str:
    """Return the message with bound and value in the unit of the field's attribute."""
    part = part_at(model, path[:-1])
    fields = part.model_fields if part else {}
    attribute = next((name for name, field in fields.items() if field.alias == path[-1]), "")
    if attribute.endswith("_s"):
        # Of a field that may be left out, pydantic has the text as it was written.
        written = value if isinstance(value, str) else format_duration(value)
        return f"must be {how} {format_duration(bound)}, not {written}"
    return f"must be {how} {bound}, not {describe_at(path, value)}"


def _unknown(path: Path, model: type[BaseModel]) -> str:
    name = str(path[-1])
    part = part_at(model, path[:-1])
    if part is not None and issubclass(part, Part) and name in part.LEFT_OUT:
        return f"is not a field here: {part.LEFT_OUT[name]}"
    known = fields_of(part) if part else {}
    near = nearest(name, known)
    hint = secret_hint(name, known[near] if near else None)
    if near:
        return f'is not a field here; did you mean "{near}"?{_sentence(hint)}'
    homes = [path_text(home) for home in _homes(model, name)]
    if homes:
        return f"is not a field here; there is one in {' and '.join(homes[:3])}{hint}"
    return f"is not a field here; the fields are {', '.join(known)}{hint}"


def _sentence(hint: str) -> str:
    """Return a hint as a sentence, to follow a question mark."""
    text = hint.removeprefix("; ")
    return f" {text[:1].upper()}{text[1:]}" if text else ""


def _homes(part: type[BaseModel], name: str, path: Path = ()) -> Iterator[Path]:
    for alias, field in fields_of(part).items():
        inner = inner_part(field.annotation)
        if alias == name and path:
            yield path
        if inner is not None:
            yield from _homes(inner, name, (*path, alias))


@cache
def fields_of(part: type[BaseModel]) -> Mapping[str, FieldInfo]:
    """Return a part's fields by their YAML names, the document's head first."""
    fields = {field.alias or name: field for name, field in part.model_fields.items()}
    head = [name for name in HEAD if name in fields]
    return {name: fields[name] for name in [*head, *(name for name in fields if name not in head)]}


def field_at(model: type[BaseModel], path: Path) -> FieldInfo | None:
    """Return the field at a path; for a path to a list entry, the list's field."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    part = part_at(model, path[:-1]) if path else None
    return fields_of(part).get(str(path[-1])) if part else None


def part_at(model: type[BaseModel], path: Path) -> type[BaseModel] | None:
    """Return the model of the mapping at a path."""
    part: type[BaseModel] | None = model
    for step in path:
        if part is None:
            return None
        if isinstance(step, str):
            field = fields_of(part).get(step)
            part = inner_part(field.annotation) if field else None
    return part


def inner_part(annotation: Any) -> type[Part] | None:
    """Return the model within an annotation, such as `Member` or `tuple[Member, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    if get_origin(annotation) is None:
        return None
    return next((part for part in map(inner_part, get_args(annotation)) if part is not None), None)
