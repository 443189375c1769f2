"""Read a pickle's plain data without unpickling: numbers, texts, lists, mappings.

An object is replaced by the mapping of its state.

``pickletools`` only names the opcodes; the few that plain data needs are followed here. Invariant:
nothing is imported, constructed or called, and any other opcode is a ValueError.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MOST_OPCODES = 20_000


class Mark:
    """The place on the stack at which the items of a collection begin."""


@dataclass
class Machine:
    """The stack and the memo of a pickle that is being read."""

    stack: list[Any] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)

    def pop(self) -> Any:
        if not self.stack or isinstance(self.stack[-1], Mark):
            raise ValueError("not plain data: the stack is empty")
        return self.stack.pop()

    def pop_to_mark(self) -> list[Any]:
        items: list[Any] = []
        while self.stack:
            item = self.stack.pop()
            if isinstance(item, Mark):
                return items[::-1]
            items.append(item)
        raise ValueError("not plain data: a collection has no beginning")

    def top(self, kind: type) -> Any:
        if not self.stack or not isinstance(self.stack[-1], kind):
            raise ValueError(f"not plain data: no {kind.__name__} to fill")
        return self.stack[-1]

    def recall(self, index: int) -> None:
        if index not in self.memo:
            raise ValueError("not plain data: it refers to a value that was never stored")
        self.stack.append(self.memo[index])

    def remember(self, index: int) -> None:
        if not self.stack:
            raise ValueError("not plain data: there is no value to store")
        self.memo[index] = self.stack[-1]

    def set_items(self, items: list[Any]) -> None:
        target = self.top(dict)
        if len(items) % 2:
            raise ValueError("not plain data: a key without a value")
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, str | int):
                raise ValueError("not plain data: a key is neither text nor number")  # noqa: TRY004  # one error for all that is not plain
            target[key] = value

    def take(self, count: int) -> list[Any]:
        return [self.pop() for _ in range(count)][::-1]

    def build(self) -> None:
        """Put an object's state in its place (a mapping that ``NEWOBJ`` left empty)."""
        state = self.pop()
        target = self.top(dict)
        if not isinstance(state, dict):
            raise ValueError("not plain data: an object's state is not a mapping")  # noqa: TRY004  # as above
        target.update(state)

    def new_object(self) -> None:
        self.take(2)
        self.stack.append({})

    def append(self, items: list[Any]) -> None:
        self.top(list).extend(items)


CONSTANTS: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
PUSHED = frozenset({"BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE"})
STEPS: dict[str, Callable[[Machine], object]] = {
    "PROTO": lambda m: None,
    "MARK": lambda m: m.stack.append(Mark()),
    "EMPTY_DICT": lambda m: m.stack.append({}),
    "EMPTY_LIST": lambda m: m.stack.append([]),
    "EMPTY_TUPLE": lambda m: m.stack.append(()),
    "SETITEM": lambda m: m.set_items(m.take(2)),
    "SETITEMS": lambda m: m.set_items(m.pop_to_mark()),
    "APPEND": lambda m: m.append(m.take(1)),
    "APPENDS": lambda m: m.append(m.pop_to_mark()),
    "GLOBAL": lambda m: m.stack.append(None),
    "NEWOBJ": lambda m: m.new_object(),
    "BUILD": lambda m: m.build(),
}
"""The opcodes that pickle's protocol 2 needs for plain data, besides the values themselves."""


def read_plain_pickle(pickled: bytes) -> object:
    """Return the data; an object is the mapping of its attributes. ValueError for anything else."""
    machine = Machine()
    for number, (opcode, argument, _) in enumerate(pickletools.genops(pickled)):
        if number > MOST_OPCODES:
            raise ValueError("not plain data: it does not end")
        match opcode.name:
            case "STOP":
                return machine.pop()
            case name if name in CONSTANTS:
                machine.stack.append(CONSTANTS[name])
            case name if name in PUSHED:
                machine.stack.append(argument)
            case "BINPUT" | "LONG_BINPUT" if isinstance(argument, int):
                machine.remember(argument)
            case "BINGET" | "LONG_BINGET" if isinstance(argument, int):
                machine.recall(argument)
            case name if name in STEPS:
                STEPS[name](machine)
            case name:
                raise ValueError(f"not plain data: {name}")
    raise ValueError("not plain data: it does not end")
