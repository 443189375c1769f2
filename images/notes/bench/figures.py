"""A figure with its target and the target's source; it is printed when measured."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value; `at_most` or `at_least` is its target, in the same unit."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def met(self) -> bool:
        below = self.at_most is None or self.value <= self.at_most
        return below and (self.at_least is None or self.value >= self.at_least)

    def line(self) -> str:
        target, verdict = "", ""
        if self.at_most is not None:
            target, verdict = f"at most {self.at_most:g}", "over"
        elif self.at_least is not None:
            target, verdict = f"at least {self.at_least:g}", "under"
        if target and self.met:
            verdict = "met"
        shown = f"{self.value:,.2f}" if self.value < 10 else f"{self.value:,.0f}"
        head = f"{self.name:<46} {shown:>8} {self.unit:<6} {target:<14} {verdict:<7}"
        return f"{head}{self.note}".rstrip()
