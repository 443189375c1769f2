"""Replace the refused parts of a document, so that the rest can still be checked.

Pure: takes the paths that a model refused; optional fields get their defaults, required ones an
example. The result serves only to find further problems, and only problems that do not depend on a
replaced field are reported.
"""

import copy
from typing import Any, get_origin

from pydantic import BaseModel

from queenright.core.manifest.error_messages import field_at, fields_of, part_at
from queenright.core.manifest.problems import Path

STAND_IN = "stand-in"


def repaired(value: dict[str, Any], model: type[BaseModel], paths: list[Path]) -> dict[str, Any]:
    """Return the document with an acceptable value, or none, at each path."""
    value = copy.deepcopy(value)
    for path in sorted(paths, key=len, reverse=True):
        holder = _reach(value, path[:-1])
        step = path[-1] if path else None
        if isinstance(holder, dict) and isinstance(step, str):
            field = field_at(model, path)
            if field is not None and field.is_required():
                holder[step] = _example(model, path)
            else:
                holder.pop(step, None)
        elif isinstance(holder, list) and isinstance(step, int) and step < len(holder):
            part = part_at(model, path)
            holder[step] = _example_part(part) if part else STAND_IN
    return value


def _reach(value: Any, path: Path) -> Any:
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _example(model: type[BaseModel], path: Path) -> Any:
    field, part = field_at(model, path), part_at(model, path)
    if part is not None:
        example = _example_part(part)
        return [example] if field and get_origin(field.annotation) is tuple else example
    return field.examples[0] if field and field.examples else STAND_IN


def _example_part(part: type[BaseModel]) -> dict[str, Any]:
    return {
        name: _example(part, (name,))
        for name, field in fields_of(part).items()
        if field.is_required()
    }
