"""JSON Schema of every kind, for editors: completion, hover texts and first errors as one types.

Decides the schema's text from the models alone; what only several fields or the swarm can tell is
left to `queenright validate`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel

from queenright.core.kinds.registry import KINDS
from queenright.core.manifest.error_messages import fields_of, inner_part
from queenright.core.manifest.model import HEAD, Resource, Worded
from queenright.core.manifest.quantities import format_duration, format_size
from queenright.core.postgres.parameters import CUSTOM_PATTERN, MANAGED, Parameter, parameters

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_VALUE = {"$ref": "#/$defs/ParameterValue"}
_SWITCH = {"$ref": "#/$defs/Switch"}


def schemas() -> Mapping[str, str]:
    """The text of each kind's schema by its file name."""
    return {kind.schema_file: schema_text(kind.model) for kind in KINDS.values()}


def schema_text(model: type[Resource]) -> str:
    """The text of one kind's schema."""
    return json.dumps(schema_of(model), indent=1, ensure_ascii=False) + "\n"


def schema_of(model: type[Resource]) -> dict[str, Any]:
    """A kind's JSON Schema as data."""
    schema = model.model_json_schema(mode="validation")
    parts = schema["$defs"]
    for part in _parts_of(model):
        for attribute, field in part.model_fields.items():
            if part is not model:
                _finish(parts[part.__name__]["properties"][field.alias], attribute, part)
    if "PostgreSQL" in parts:
        parts["PostgreSQL"]["properties"]["parameters"] |= _parameters_schema()
        parts["ParameterValue"] = {"type": ["string", "number", "boolean"]}
        parts["Switch"] = {
            "enum": [True, False, "on", "off", "true", "false", "yes", "no", 1, 0, "1", "0"]
        }
    return {
        "$schema": DIALECT,
        "title": model.KIND,
        "description": schema["description"],
        "type": "object",
        "additionalProperties": False,
        "required": list(HEAD),
        "properties": {name: schema["properties"][name] for name in HEAD},
        "$defs": {name: parts[name] for name in sorted(parts)},
    }


def _parts_of(part: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield part
    for field in fields_of(part).values():
        inner = inner_part(field.annotation)
        if inner is not None:
            yield from _parts_of(inner)


def _finish(schema: dict[str, Any], attribute: str, part: type[BaseModel]) -> None:
    """Puts a field's default and bounds as a person writes them, and leaves out defaults that say
    nothing: null, and a part's, whose fields have their own."""
    field = part.model_fields[attribute]
    default = schema.get("default")
    inner = inner_part(field.annotation)
    if inner is not None and issubclass(inner, Worded):
        words = [*get_args(inner.model_fields[inner.WORD].annotation)]
        schema["anyOf"] = [{"enum": words}, {"$ref": schema.pop("$ref")}]
        schema["default"] = getattr(field.default, inner.WORD)
    elif default is None or "$ref" in schema:
        schema.pop("default", None)
    elif isinstance(default, int | float) and attribute.endswith("_s"):
        schema["default"] = format_duration(default)
    elif isinstance(default, int) and attribute.endswith("_bytes"):
        schema["default"] = format_size(default)
    for bound in field.metadata:
        for name, keyword in (("ge", "minimum"), ("le", "maximum")):
            if hasattr(bound, name) and "anyOf" in schema:
                schema["anyOf"][0] = {**schema["anyOf"][0], keyword: getattr(bound, name)}


def _parameters_schema() -> dict[str, Any]:
    """PostgreSQL's parameters by name, so that an editor completes them and marks unknown ones."""
    return {
        "properties": {
            name: {**_parameter_type(parameter), "description": _parameter_text(parameter)}
            for name, parameter in parameters().items()
            if name not in MANAGED and not name.startswith("recovery_target")
        },
        "patternProperties": {CUSTOM_PATTERN: _VALUE},
        "additionalProperties": False,
    }


def _parameter_type(parameter: Parameter) -> dict[str, Any]:
    if parameter.type == "bool":
        return _SWITCH
    if parameter.type == "enum":
        switch = [True, False] if {"on", "off"} <= {*parameter.words} else []
        return {"enum": [*parameter.words, *switch]}
    return _VALUE


def _parameter_text(parameter: Parameter) -> str:
    words = [{"bool": "switch", "enum": "word", "string": "text"}.get(parameter.type, "number")]
    if parameter.unit:
        words.append(f"counts {parameter.unit} without a unit")
    if parameter.maximum != float("inf"):
        words.append(f"{parameter.minimum:.10g} to {parameter.maximum:.10g}")
    if parameter.needs_restart:
        words.append("a change needs a restart")
    return "; ".join(words)
