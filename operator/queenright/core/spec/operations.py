"""What an owner asks of a running cluster: who leads, what is paused, which nodes are maintained.

Fields for the contract's operational rules (spec: database-cluster §3, Operational rules). A wish
that has an end is written with it, and is over by itself.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from queenright.core.spec.document import Part, Sequence, Worded
from queenright.core.spec.identifiers import NodeName
from queenright.core.spec.quantities import Seconds
from queenright.core.spec.wording import UnfitValueError, describe

MOMENT_PATTERN = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)? ?(Z|[+-]\d{2}:\d{2})$"

_moment = re.compile(MOMENT_PATTERN, re.ASCII)
_naive = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?", re.ASCII)


def parse_moment(value: object) -> datetime:
    """The moment of `2026-12-01T06:00Z`, in UTC; a zone is never guessed."""
    expected = "must be a moment with its zone, such as 2026-12-01T06:00Z"
    text = value.strip() if isinstance(value, str) else ""
    if isinstance(value, datetime):
        found = value
    elif _moment.fullmatch(text) or _naive.fullmatch(text):
        try:
            found = datetime.fromisoformat(re.sub(r" (?=[Z+-])", "", text))
        except ValueError as error:
            raise UnfitValueError(f"{expected}; {describe(value)} is none: {error}") from None
    else:
        raise UnfitValueError(f"{expected}, not {describe(value)}")
    if found.tzinfo is None:
        raise UnfitValueError(
            f"{describe(value)} has no zone; write it with Z for UTC, or with +01:00, such as "
            f"{found:%Y-%m-%dT%H:%M}Z"
        )
    try:
        return found.astimezone(UTC)
    except OverflowError:
        raise UnfitValueError(f"{expected}; {describe(value)} is beyond the calendar") from None


def format_moment(moment: datetime) -> str:
    """The shortest spelling: seconds only where there are some."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}" if moment.second else f"{moment:%Y-%m-%dT%H:%MZ}"


Moment = Annotated[
    datetime,
    BeforeValidator(parse_moment),
    PlainSerializer(format_moment, when_used="json"),
    WithJsonSchema(
        {"type": "string", "pattern": MOMENT_PATTERN, "examples": ["2026-12-01T06:00Z"]}
    ),
]
"""A point in time, with its zone."""


class Pausing(Worded):
    """`active` or `paused`, for good or until a moment."""

    WORD: ClassVar[str] = "state"

    state: Literal["active", "paused"] = Field(description="`active` or `paused`.")
    until: Moment | None = Field(
        default=None, description="When the pause is over by itself. Default: when it is edited."
    )

    def is_paused(self, now: datetime) -> bool:
        return self.state == "paused" and (self.until is None or now < self.until)


class Maintenance(Part):
    """Nodes that will be powered off or worked on (spec: database-cluster, Operational rules 2)."""

    nodes: Sequence[NodeName] = Field(
        default=(),
        description="Member nodes that are about to be powered off. The leader moves to a member "
        "that stays, and `queenright status` says when it is safe.",
        examples=[["node3", "node4"]],
    )
    until: Moment | None = Field(
        default=None, description="When the maintenance is over by itself. Default: when edited."
    )

    def nodes_at(self, now: datetime) -> tuple[str, ...]:
        """The nodes in maintenance at a moment."""
        return self.nodes if self.until is None or now < self.until else ()


class Canary(Part):
    """A writer that measures what clients of port 5000 see of each change of leader."""

    enabled: bool = Field(
        default=False,
        description="Whether five rows a second are written through the proxies' port 5000, to a "
        "table of its own in a database of its own, and each leader change's gap is logged.",
    )


class Failback(Worded):
    """What happens when a failover has taken the lead away from the member named by `primary`."""

    WORD: ClassVar[str] = "mode"

    mode: Literal["manual", "automatic"] = Field(
        default="manual",
        description="`manual`: the new leader stays, as the contract has it (spec: §1.8). "
        "`automatic`: the lead moves back after a stable time.",
    )
    after_s: Seconds = Field(
        default=600,
        ge=60,
        description="How long everything has to be well before the lead moves back by itself.",
    )
