"""Compare two spellings of a setting as Patroni and PostgreSQL do.

Pure: compares two values as the file, Patroni's JSON or PostgreSQL write them. Invariant: values
that Patroni itself takes for unchanged (it merges by ``str``, ``patch_config``) are equal here;
a write of them would change nothing and be planned again for ever.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from queenright.core.postgres.parameters import Parameter, amount_of, is_on, parameters

OFF_WORDS = frozenset({"off", "false", "no", "0"})
MOST = 10**18
_WHOLE = re.compile(r"\s{0,9}[-+]?\d{1,18}\s{0,9}", re.ASCII)


def same_parameter(name: str, one: object, other: object) -> bool:
    """Return True if two values of a PostgreSQL parameter are equal, by its type and unit: ``on``
    is true, and ``256MB`` of a parameter in blocks of 8kB is 32768. Texts are compared as they
    are."""
    if str(one) == str(other):
        return True
    if one is None or other is None:
        return False
    parameter = parameters().get(name)
    if parameter is None:
        return _switch(one) == _switch(other)
    match parameter.type:
        case "bool":
            return _is_switch(one) and _is_switch(other) and is_on(str(one)) == is_on(str(other))
        case "enum":
            return _word(parameter, one) == _word(parameter, other)
        case "integer" | "real":
            return _same_amount(parameter, one, other)
        case _:
            return False


def same_setting(wanted: object, present: object) -> bool:
    """Return True if a setting of Patroni's has the desired value. Patroni reads numbers as whole
    ones, and any non-empty value of a switch as on, even the text ``off``."""
    if str(wanted) == str(present):
        return True
    if wanted is None or present is None:
        return False
    if isinstance(wanted, bool):
        return bool(present) == wanted
    number = _number(wanted)
    return number is not None and number == _number(present)


def same_rules(one: object, other: object) -> bool:
    """Return True if two lists of access rules have the same lines in the same order."""
    if not isinstance(one, list | tuple) or not isinstance(other, list | tuple):
        return False
    return lines(one) == lines(other)


def lines(rules: Sequence[object]) -> list[str]:
    """Return access rules with normalised spacing."""
    texts = (str(rule).strip() for rule in rules)
    return [text if '"' in text else " ".join(text.split()) for text in texts]


def _switch(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _is_switch(value: object) -> bool:
    word = str(value).strip().lower()
    return is_on(word) or word in OFF_WORDS


def _word(parameter: Parameter, value: object) -> str:
    """Return an enum's word; an enum with on and off has their synonyms too."""
    word = str(value).strip().lower()
    if {"on", "off"} <= {*parameter.words} and _is_switch(word):
        return "on" if is_on(word) else "off"
    return word


def _same_amount(parameter: Parameter, one: object, other: object) -> bool:
    first, second = _amount(parameter, one), _amount(parameter, other)
    if first is None or second is None:
        return False
    return first == second or (parameter.type == "real" and math.isclose(first, second))


def _amount(parameter: Parameter, value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return amount_of(parameter, value)


def _number(value: object) -> int | None:
    """Return a whole number of a length that Patroni's settings can have, else None."""
    if isinstance(value, float) and math.isfinite(value):
        return _number(int(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < MOST else None
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else None
