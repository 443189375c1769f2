"""Loaded by schemathesis: keeps what its run stands on out of reach of what it takes away.

It uses the ids that earlier answers told it, and so would sooner or later revoke its own token,
disable its own account, or delete the space that it works in. NOTES_SPARED is a JSON object:
`operations` take something away; for an id in `instead` they get the one that stands beside it.
"""

import json
import os
from typing import Any

import schemathesis

_SPARED = json.loads(os.environ["NOTES_SPARED"])


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Aims at something else whatever would hit what is spared."""
    if case.operation.definition.raw["operationId"] in _SPARED["operations"]:
        for name, value in case.path_parameters.items():
            case.path_parameters[name] = _SPARED["instead"].get(str(value).lower(), value)
