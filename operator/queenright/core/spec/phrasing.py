"""The models' refusals in words for people.

Decides, from pydantic's errors and the models' own fields, what to tell: what is wrong with which
field, and what would be right.
"""

from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from queenright.core.spec.document import HEAD, Part, Worded
from queenright.core.spec.problems import Finding, Path, path_text
from queenright.core.spec.quantities import format_duration
from queenright.core.spec.wording import describe, did_you_mean


def findings_of(error: ValidationError, model: type[BaseModel]) -> Iterator[Finding]:
    """One finding for each of pydantic's errors."""
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
            return _choice(field_at(model, path), value)
        case "greater_than_equal":
            return _out_of_bounds("at least", context["ge"], value, path, model)
        case "less_than_equal":
            return _out_of_bounds("at most", context["le"], value, path, model)
    part = part_at(model, path)
    if part is not None and issubclass(part, Worded) and details["type"].startswith("model"):
        return f"{_words(part)}, or a mapping with {_names(part)}, not {describe(value)}"
    expected = _TYPES.get(details["type"].partition("_")[0])
    if expected == "a mapping" and part is not None and len(fields_of(part)) <= _FEW:
        expected += f" with {_names(part)}"
    if expected:
        return f"must be {expected}, not {describe(value)}{_type_hint(expected, value)}"
    return f"{details['msg'][:1].lower()}{details['msg'][1:]}, not {describe(value)}"


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


def _choice(field: FieldInfo | None, value: object) -> str:
    choices = [str(choice) for choice in get_args(field.annotation)] if field else []
    meant = did_you_mean(value, choices) if isinstance(value, str) else ""
    return f"must be {' or '.join(choices)}, not {describe(value)}{meant}"


def _words(part: type[Worded]) -> str:
    words = get_args(part.model_fields[part.WORD].annotation)
    return f"must be {' or '.join(words)}"


def _names(part: type[BaseModel]) -> str:
    return " and ".join(f"`{name}`" for name in fields_of(part))


def _out_of_bounds(how: str, bound: float, value: Any, path: Path, model: type[BaseModel]) -> str:
    """Bound and value in the unit that the field's attribute is named for."""
    part = part_at(model, path[:-1])
    fields = part.model_fields if part else {}
    attribute = next((name for name, field in fields.items() if field.alias == path[-1]), "")
    if attribute.endswith("_s"):
        return f"must be {how} {format_duration(bound)}, not {format_duration(value)}"
    return f"must be {how} {bound}, not {describe(value)}"


def _unknown(path: Path, model: type[BaseModel]) -> str:
    name = str(path[-1])
    part = part_at(model, path[:-1])
    if part is not None and issubclass(part, Part) and name in part.LEFT_OUT:
        return f"is not a field here: {part.LEFT_OUT[name]}"
    known = fields_of(part) if part else {}
    meant = did_you_mean(name, known)
    if meant:
        return f"is not a field here{meant}"
    homes = [path_text(home) for home in _homes(model, name)]
    if homes:
        return f"is not a field here; there is one in {' and '.join(homes[:3])}"
    return f"is not a field here; the fields are {', '.join(known)}"


def _homes(part: type[BaseModel], name: str, path: Path = ()) -> Iterator[Path]:
    for alias, field in fields_of(part).items():
        inner = inner_part(field.annotation)
        if alias == name and path:
            yield path
        if inner is not None:
            yield from _homes(inner, name, (*path, alias))


def fields_of(part: type[BaseModel]) -> Mapping[str, FieldInfo]:
    """A part's fields by the names that a person writes, the document's head first."""
    fields = {field.alias or name: field for name, field in part.model_fields.items()}
    head = [name for name in HEAD if name in fields]
    return {name: fields[name] for name in [*head, *(name for name in fields if name not in head)]}


def field_at(model: type[BaseModel], path: Path) -> FieldInfo | None:
    """The field that a path names, or the list's field for a path to an entry."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    part = part_at(model, path[:-1]) if path else None
    return fields_of(part).get(str(path[-1])) if part else None


def part_at(model: type[BaseModel], path: Path) -> type[BaseModel] | None:
    """The model of the mapping that a path names."""
    part: type[BaseModel] | None = model
    for step in path:
        if part is None:
            return None
        if isinstance(step, str):
            field = fields_of(part).get(step)
            part = inner_part(field.annotation) if field else None
    return part


def inner_part(annotation: Any) -> type[Part] | None:
    """The model within an annotation such as `Member`, `tuple[Member, ...]` or `Member | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    if get_origin(annotation) is None:
        return None
    return next((part for part in map(inner_part, get_args(annotation)) if part is not None), None)
