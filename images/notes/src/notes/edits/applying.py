"""The steps of one request, applied to a document within the limits of a request."""

from typing import Any

import msgspec

from notes.doc.attributes import SchemaError
from notes.http.problems import Problem
from notes.steps.mark_steps import MarkSetStep
from notes.steps.model import Node, StepError
from notes.steps.step_json import MAX_STEPS, apply_all, step_from

#: Steps times the nodes of the page: a step may look at all of them.
MAX_WORK = 1_000_000


def applied(doc: Node, given: list[Any] | msgspec.Raw) -> Node:
    """The document after the steps of a request; many are still JSON. Raises a 422."""
    if isinstance(given, msgspec.Raw):
        given = msgspec.json.decode(given)
    try:
        steps = [step_from(one, f"steps[{at}]") for at, one in enumerate(given)]
        count = sum(len(step.steps) if isinstance(step, MarkSetStep) else 1 for step in steps)
        most = max(1, min(MAX_STEPS, MAX_WORK // doc.work))
        if count > most:
            raise Problem(
                422,
                f"steps: {count} are too many (a page of this size takes {most} at once);"
                " send them in several edits.",
                field="steps",
            )
        return apply_all(doc, steps, MAX_WORK)
    except SchemaError as error:
        raise Problem(422, str(error), field=error.path) from None
    except StepError as error:
        raise Problem(422, str(error), field=str(error).partition(":")[0]) from None
    except RecursionError:
        raise Problem(422, "The steps have too many levels.", field="steps") from None
