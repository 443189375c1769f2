"""The log's lines `pass` and `part`: for each full pass, and for one over some documents."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import structlog

from queenright.core.audit.record import Trigger
from queenright.core.kinds.registry import KINDS, key_of
from queenright.core.manifest.document import Document
from queenright.engine.archiving import archive_figures
from queenright.engine.reconcile import PassResult

log = structlog.get_logger()


def tell_pass(
    result: PassResult,
    trigger: Trigger,
    problems: Sequence[object],
    began_s: float,
    api_calls: int,
) -> None:
    """Log the line of a full pass, which made this many calls of Docker's API."""
    views = result.survey.views
    holds = {hold.key: hold.reason for view in views for hold in view.plan.holds}
    lists = {kind.plural: [view.name for view in result.survey.of(kind)] for kind in KINDS.values()}
    log.info(
        "pass",
        trigger=trigger.kind,
        trigger_detail=trigger.detail,
        **lists,
        plan_ids=[view.plan.id for view in views],
        actions=sum(len(found.tried) for found in result.results),
        failures=list(result.failures),
        refusals=[refusal.reason for refusal in result.refusals],
        holds=holds,
        **archive_figures(result.survey.observed),
        problems=[str(problem) for problem in problems],
        api_calls=api_calls,
        duration_ms=milliseconds_since(began_s),
        converged=result.is_converged,
    )


def tell_part(
    part: Sequence[Document], result: PassResult | None, trigger: Trigger, began_s: float
) -> None:
    """Log the line of a pass over some documents: for which of them a plan was made."""
    log.info(
        "part",
        trigger=trigger.kind,
        trigger_detail=trigger.detail,
        documents=[str(key_of(document)) for document in part],
        planned=[str(view.key) for view in result.survey.views] if result else [],
        actions=sum(len(found.tried) for found in result.results) if result else 0,
        duration_ms=milliseconds_since(began_s),
    )


def milliseconds_since(began_s: float) -> float:
    return round((anyio.current_time() - began_s) * 1000, 1)
