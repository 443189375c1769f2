"""What an owner asks of a running cluster: who leads, what is paused, which nodes are maintained.

Fields for the contract's operational rules (spec: database-cluster §3, Operational rules). A wish
that has an end is written with it, and is over by itself.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from queenright.core.spec.document import Part, Sequence
from queenright.core.spec.identifiers import NodeName
from queenright.core.spec.quantities import Seconds
from queenright.core.spec.wording import UnfitValueError, describe

MOMENT_PATTERN = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?\s?(Z|[+-]\d{2}:\d{2})$"


def parse_moment(value: object) -> datetime:
    """The moment of `2026-12-01T06:00Z`, in UTC; a zone is never guessed."""
    expected = "must be a moment with its zone, such as 2026-12-01T06:00Z"
    if isinstance(value, datetime):
        found = value
    elif isinstance(value, str):
        try:
            found = datetime.fromisoformat(value.strip().replace(" +", "+"))
        except ValueError:
            raise UnfitValueError(f"{expected}, not {describe(value)}") from None
    else:
        raise UnfitValueError(f"{expected}, not {describe(value)}")
    if found.tzinfo is None:
        raise UnfitValueError(f"{describe(value)} has no zone: write Z for UTC, or +01:00")
    return found.astimezone(UTC)


Moment = Annotated[
    datetime,
    BeforeValidator(parse_moment),
    PlainSerializer(lambda moment: f"{moment:%Y-%m-%dT%H:%M:%SZ}", when_used="json"),
    WithJsonSchema(
        {"type": "string", "pattern": MOMENT_PATTERN, "examples": ["2026-12-01T06:00Z"]}
    ),
]
"""A point in time, with its zone."""


class Pausing(Part):
    """`active` or `paused`, for good or until a moment."""

    state: Literal["active", "paused"] = Field(description="`active` or `paused`.")
    until: Moment | None = Field(
        default=None, description="When the pause is over by itself. Default: when it is edited."
    )

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, value: Any) -> Any:
        """The word alone stands for a pausing without an end."""
        return {"state": value} if isinstance(value, str) else value

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


class Failback(Part):
    """What happens when a failover has taken the lead away from the member named by `primary`."""

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

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, value: Any) -> Any:
        return {"mode": value} if isinstance(value, str) else value
