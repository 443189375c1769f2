"""Base models of every document: `apiVersion`, `kind`, `metadata`, `spec`.

YAML fields are camelCase, attributes are snake_case. An attribute with a unit in its name (`ttl_s`,
`limit_bytes`) is written without it (`ttl: 30s`, `limit: 2G`), because the value has the unit.
Unknown fields and wrong types are errors; nothing is dropped.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from queenright.core.manifest.names import Name

API_VERSION = "queenright/v1alpha1"
HEAD = ("apiVersion", "kind", "metadata", "spec")
"""The fields of every document, in the order in which people write them."""


def yaml_name(attribute: str) -> str:
    """Return the YAML name of an attribute: `loop_wait_s` -> `loopWait`."""
    first, *rest = attribute.removesuffix("_s").removesuffix("_bytes").split("_")
    return first + "".join(word.capitalize() for word in rest)


def _title(attribute: str, _: object) -> str:
    words = attribute.removesuffix("_s").removesuffix("_bytes").replace("_", " ")
    return words[:1].upper() + words[1:]


class Part(BaseModel):
    """A mapping in a document: frozen, strict about types, without unknown fields."""

    LEFT_OUT: ClassVar[Mapping[str, str]] = {}
    """Fields that people may look for and that are left out on purpose, each with the reason."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        alias_generator=yaml_name,
        field_title_generator=_title,
        use_attribute_docstrings=False,
    )


class Worded(Part):
    """A mapping that a single word can replace: `paused` for `{state: paused}`."""

    WORD: ClassVar[str]
    """The attribute that the word sets."""

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, value: Any) -> Any:
        return {cls.WORD: value} if isinstance(value, str) else value


T = TypeVar("T")


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Sequence = Annotated[tuple[T, ...], BeforeValidator(_tuple)]
"""A YAML list, kept as a tuple."""


class Metadata(Part):
    """The document's metadata: its name."""

    name: Name = Field(
        description="The cluster's name: Patroni's scope, and the prefix of what is made for it.",
        examples=["main"],
    )


class Resource(Part):
    """A whole document. A kind adds its `kind` literal and its `spec`."""

    KIND: ClassVar[str]

    metadata: Metadata = Field(description="The document's metadata: its name.")

    @model_validator(mode="before")
    @classmethod
    def _derive(cls, data: Any) -> Any:
        return cls.with_derived(data) if isinstance(data, dict) else data

    @classmethod
    def with_derived(cls, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the document with the defaults that depend on other fields.

        Called with unchecked data, so it leaves values of an unexpected shape alone."""
        return document
