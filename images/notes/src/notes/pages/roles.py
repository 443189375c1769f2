"""Roles: names for the API and numbers for the database."""

from enum import IntEnum
from typing import Literal

RoleName = Literal["viewer", "commenter", "editor", "manager"]
EveryoneName = Literal["none", "viewer", "commenter", "editor"]


class Role(IntEnum):
    """A role on a page or space; each includes those before it."""

    NONE = 0
    VIEWER = 1
    COMMENTER = 2
    EDITOR = 3
    MANAGER = 4

    @classmethod
    def named(cls, name: str) -> "Role":
        return cls[name.upper()]

    @property
    def label(self) -> str:
        return self.name.lower()
