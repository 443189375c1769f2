"""Figures of a step, and the judgement of them.

Pure. A run fails by rows lost, rows of two leaders at once, a step that does not become whole, and
a write gap above the step's bound. The first three end the run where they are; the gap varies with
what else the machine does, so the further steps are taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.soak.judge import Acknowledged
from tests.topology.script import PLANNED_MOVE_S, Step


@dataclass(frozen=True, slots=True)
class Figures:
    """Cost of a step: seconds until all was as the file says, the longest write gap through port
    5000 and that at the members themselves, the rows acknowledged in it, and of all rows so far
    those lost and those acknowledged beside a newer leader. ``canary_ms`` are
    the gaps of its changes of leader by the canary, ``pauses`` the write gaps above the bound,
    each with the action before it, and ``wrong`` says in words why it did not become whole. Where
    power was lost meanwhile, ``bound`` has each loss in words with the rows that it may cost, which
    ``lost`` leaves out, ``within`` counts those of them that are lost, and ``power_gap_s`` is the
    longest write gap in which a node lost power, which ``gap_s`` leaves out."""

    step: Step
    whole_s: float
    gap_s: float
    member_gap_s: float
    told: int
    lost: int
    beside: int
    canary_ms: tuple[int, ...] = ()
    canary_lost: int = 0
    load: float = 0.0
    pauses: tuple[str, ...] = ()
    wrong: str = ""
    bound: tuple[str, ...] = ()
    within: int = 0
    power_gap_s: float = 0.0

    @property
    def keeps_promise(self) -> bool:
        return not (self.all_lost or self.beside or self.wrong)

    @property
    def all_lost(self) -> int:
        """The lost rows of all writers, the canary among them."""
        return self.lost + self.canary_lost

    @property
    def gap_bound_s(self) -> float:
        """The longest write gap that the step may have. After a loss of power the leader may move
        in any of them."""
        return PLANNED_MOVE_S if self.bound else self.step.gap_bound_s

    @property
    def is_over(self) -> bool:
        return self.gap_s > self.gap_bound_s


def broken(
    all_found: Sequence[Figures], steps: Sequence[Step], *, judges_gaps: bool = True
) -> list[str]:
    """Return what fails a run of these steps, a line for each; none for a run that passes."""
    wrong = [text for found in all_found for text in broken_by(found, judges_gaps=judges_gaps)]
    taken = {found.step.name for found in all_found}
    return wrong + [f"{step.name}: not taken" for step in steps if step.name not in taken]


def broken_by(found: Figures, *, judges_gaps: bool) -> Iterator[str]:
    name = found.step.name
    if found.all_lost:
        yield f"{name}: {found.all_lost} acknowledged rows lost"
    if found.beside:
        yield f"{name}: {found.beside} rows acknowledged by two members at once"
    if found.wrong:
        yield f"{name}: not whole ({found.wrong})"
    if judges_gaps and found.is_over:
        why = f" ({'; '.join(found.pauses)})" if found.pauses else ""
        yield f"{name}: a write gap of {found.gap_s:.2f} s, bound {found.gap_bound_s:g} s{why}"


def longest_gaps_s(
    rows: Iterable[Acknowledged], power_lost: Sequence[float], since: float, until: float
) -> tuple[float, float]:
    """Return the longest time without a row in which no node lost power, and the longest in which
    one did: its member may have led, or its proxy have been the writer's. 0 for none."""
    moments = sorted(row.at for row in rows if since <= row.at <= until)
    without = with_loss = 0.0
    for earlier, later in pairwise([since, *moments, until]):
        if any(earlier <= at <= later for at in power_lost):
            with_loss = max(with_loss, later - earlier)
        else:
            without = max(without, later - earlier)
    return without, with_loss


def pauses(
    rows: Iterable[Acknowledged], acts: Sequence[tuple[float, str]], since: float, over_s: float
) -> Iterable[str]:
    """Yield each pause of more than ``over_s`` that ended after ``since``: its length, when it
    began after ``since``, and the last of ``acts`` (moment and key, in order) before its end."""
    moments = sorted(row.at for row in rows)
    for earlier, later in pairwise(moments):
        if later - earlier > over_s and later > since:
            key = next((key for at, key in reversed(acts) if at < later), "nothing")
            yield f"{later - earlier:.2f} s after {max(0.0, earlier - since):.0f} s ({key})"


def line(found: Figures) -> str:
    """Return a step's figures in words."""
    whole = f"NOT whole ({found.wrong})" if found.wrong else f"whole after {found.whole_s:.0f} s"
    over = ", over" if found.is_over else ""
    over += f": {'; '.join(found.pauses)}" if found.pauses else ""
    bound = f"(bound {found.gap_bound_s:g} s{over})"
    if found.power_gap_s:
        bound += f", {found.power_gap_s:.2f} s with a loss of power in it (no bound)"
    cuts = "".join(f"\n  {text}" for text in found.bound)
    cuts += f"\n  {found.within} of these rows lost" if found.bound else ""
    canary = f" (canary: {', '.join(map(str, found.canary_ms))} ms)" if found.canary_ms else ""
    return (
        f"{found.step.name}: {whole}; longest write gap {found.gap_s:.2f} s {bound}, "
        f"at the members {found.member_gap_s:.2f} s{canary}; "
        f"{found.told} rows acknowledged, lost {found.all_lost}, by two members "
        f"at once {found.beside}; load {found.load:.1f}{cuts}"
    )


def table(all_found: Sequence[Figures]) -> str:
    """Return the steps' figures as a Markdown table."""
    heads = "edit|whole after|write gap|bound|at the members|rows|lost|by two at once|load"
    rows = [f"| {heads.replace('|', ' | ')} |", f"|{'---|' * (heads.count('|') + 1)}"]
    for found in all_found:
        whole = "not whole" if found.wrong else f"{found.whole_s:.0f} s"
        bound = f"{found.gap_bound_s:g} s{', over' if found.is_over else ''}"
        rows.append(
            f"| {found.step.title} | {whole} | {found.gap_s:.2f} s | {bound} | "
            f"{found.member_gap_s:.2f} s | {found.told} | {found.all_lost} | {found.beside} | "
            f"{found.load:.1f} |"
        )
    return "\n".join(rows)
