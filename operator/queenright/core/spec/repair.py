"""A stand-in for what is refused, so that the rest of a document can be judged all the same.

Decides, from the paths that a model refused, a document without them: optional fields fall back to
their defaults, required ones to an example. The result is never used for anything but finding
further problems, and only those that rest on no repaired field are told.
"""

import copy
from typing import Any, get_origin

from pydantic import BaseModel

from queenright.core.spec.phrasing import field_at, fields_of, part_at
from queenright.core.spec.problems import Path

STAND_IN = "stand-in"


def repaired(value: dict[str, Any], model: type[BaseModel], paths: list[Path]) -> dict[str, Any]:
    """The document with something acceptable, or nothing, at each path."""
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
