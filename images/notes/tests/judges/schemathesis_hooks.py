"""Hooks for schemathesis: protect the objects that its run needs from deletion.

It uses ids from earlier answers, and so would sooner or later revoke its own token, disable its own
account, or delete the space that it works in. NOTES_SPARED is a JSON object: `operations` are the
deleting ones; `instead` maps each protected id to the id that they get in its place.
"""

import json
import os
from typing import Any

import schemathesis

_SPARED = json.loads(os.environ["NOTES_SPARED"])


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Replaces the protected ids in a deleting request."""
    if case.operation.definition.raw["operationId"] in _SPARED["operations"]:
        for name, value in case.path_parameters.items():
            case.path_parameters[name] = _SPARED["instead"].get(str(value).lower(), value)
