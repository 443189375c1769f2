"""Figures of a round, the judgement of them, and the table.

Pure. A round keeps its promise where the cluster became whole without a person (or held, told the
amount, and went on by the file's word where the variant says so), all members have the same rows,
nothing was acknowledged by two at once, and no row is lost of those that came back in time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.power_losses.script import Round
from tests.soak.judge import Acknowledged

Row = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Figures:
    """Cost of a round: seconds from the last start to a leader that acknowledges rows, and to a
    whole cluster; rows acknowledged in the round, and lost by it; rows acknowledged beside a newer
    leader. ``held`` is the hold that waited for its owner, ``differs`` the members that have
    other rows than the leader, ``wrong`` why it did not become whole, ``led`` the members that led
    last before the loss and after it."""

    round: Round
    leads_s: float
    whole_s: float
    told: int
    lost: int
    beside: int
    held: str = ""
    differs: tuple[str, ...] = ()
    wrong: str = ""
    load: float = 0.0
    led: tuple[str, str] = ("", "")

    @property
    def faults(self) -> tuple[str, ...]:
        """Broken promises, in words; none for a round as it has to be."""
        found = []
        if self.wrong:
            found.append(f"not whole: {self.wrong}")
        if self.differs:
            found.append(f"other rows than the leader: {', '.join(self.differs)}")
        if self.beside:
            found.append(f"{self.beside} rows by two at once")
        if self.lost and not self.round.variant.may_lose:
            found.append(f"{self.lost} rows lost")
        if self.held and not self.round.variant.waits:
            found.append(f"a person was needed: {self.held}")
        if self.round.variant.waits and not self.held:
            found.append("a leader without its owner's word")
        return tuple(found)


def why_no_amount(hold: str, leader: str, missing: str) -> str:
    """Return why the hold of a loss does not say enough to its owner, empty if it does: the field
    that accepts it, and what is lost that only the missing member has, with how many bytes."""
    if f"acceptLoss: {{leader: {leader}, timeline: " not in hold:
        return f"the hold does not say how to accept {leader}"
    if f"what only {missing} has" not in hold:
        return f"the hold does not say that what only {missing} has is lost"
    if "(at least " not in hold and "Patroni noted no WAL position" not in hold:
        return "the hold does not say how many bytes are lost at least"
    return ""


def newly_lost(
    told: Sequence[Acknowledged], present: frozenset[Row], known: frozenset[Row]
) -> frozenset[Row]:
    """Return the acknowledged rows that are gone, without those that an earlier round has lost."""
    return frozenset((row.client, row.number) for row in told) - present - known


def other_rows(held: Mapping[str, frozenset[Row]], leader: str) -> tuple[str, ...]:
    """Return the members whose rows are not the leader's, with how many they lack and have too
    many."""
    found = []
    for name, rows in sorted(held.items()):
        lacks, more = len(held[leader] - rows), len(rows - held[leader])
        if lacks or more:
            found.append(f"{name} (lacks {lacks}, has {more} others)")
    return tuple(found)


def line(found: Figures) -> str:
    """Return a round's figures in words."""
    one = found.round
    whole = "NOT whole" if found.wrong else f"whole after {found.whole_s:.0f} s"
    faults = f"; BROKEN: {'; '.join(found.faults)}" if found.faults else ""
    held = "; held for its owner's word" if found.held else ""
    manager = ", the manager too" if one.with_manager else ""
    led = f" ({found.led[1]}, before it {found.led[0]})" if all(found.led) else ""
    return (
        f"{one.number} {one.variant.name}{manager}: a leader{led} after {found.leads_s:.0f} s, "
        f"{whole}{held}; {found.told} rows, lost {found.lost}, by two at once {found.beside}; load "
        f"{found.load:.0f}{faults}"
    )


def table(all_found: Sequence[Figures]) -> str:
    """Return the variants' figures as a Markdown table, and a line of what they are in all."""
    rows = [
        "| power loss | rounds | as promised | leader after | whole after | rows | lost | by two |",
        "|---|---|---|---|---|---|---|---|",
    ]
    titles = list(dict.fromkeys(found.round.variant.title for found in all_found))
    for title in titles:
        some = [found for found in all_found if found.round.variant.title == title]
        kept = sum(not found.faults for found in some)
        whole = [found for found in some if not found.wrong]
        rows.append(
            f"| {title} | {len(some)} | {kept} | {_span([found.leads_s for found in whole])} | "
            f"{_span([found.whole_s for found in whole])} | {sum(found.told for found in some)} | "
            f"{sum(found.lost for found in some)} | {sum(found.beside for found in some)} |"
        )
    counts = Counter("held" if found.held else "alone" for found in all_found if not found.faults)
    return "\n".join(rows) + (
        f"\n\n{len(all_found)} power losses: {counts['alone']} came back without a person, "
        f"{counts['held']} held with the amount and came back by their owner's word, "
        f"{len(all_found) - counts.total()} broke a promise\n"
    )


def _span(seconds: Sequence[float]) -> str:
    if not seconds:
        return "-"
    low, high = f"{min(seconds):.0f}", f"{max(seconds):.0f}"
    return f"{low} s" if low == high else f"{low}-{high} s"
