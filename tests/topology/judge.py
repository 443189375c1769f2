"""Figures of a step, and the judgement of them.

Pure. Rows lost, rows of two leaders at once, and a step that does not become whole break a promise;
a write gap above the target is only told, since it varies with what else the machine does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.soak.judge import Acknowledged
from tests.topology.script import Step


@dataclass(frozen=True, slots=True)
class Figures:
    """Cost of a step: seconds until all was as the file says, the longest write gap through port
    5000 and that at the members themselves, the rows acknowledged in it, and of all rows so far
    those lost and those acknowledged beside a newer leader. ``canary_ms`` are
    the gaps of its changes of leader by the canary, ``pauses`` the write gaps above the target,
    each with the action before it, and ``wrong`` says in words why it did not become whole. Where
    power was lost meanwhile, ``bound`` has each loss in words with the rows that it may cost, which
    ``lost`` leaves out, and ``within`` counts those of them that are lost."""

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

    @property
    def keeps_promise(self) -> bool:
        return not (self.all_lost or self.beside or self.wrong)

    @property
    def all_lost(self) -> int:
        """The lost rows of all writers, the canary among them."""
        return self.lost + self.canary_lost

    @property
    def is_over_target(self) -> bool:
        return self.gap_s > self.step.target_s


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
    over = f", over the target of {found.step.target_s:g} s" if found.is_over_target else ""
    over += f": {'; '.join(found.pauses)}" if found.pauses else ""
    cuts = "".join(f"\n  {text}" for text in found.bound)
    cuts += f"\n  {found.within} of these rows lost" if found.bound else ""
    canary = f" (canary: {', '.join(map(str, found.canary_ms))} ms)" if found.canary_ms else ""
    return (
        f"{found.step.name}: {whole}; longest write gap {found.gap_s:.2f} s{over}, at the members "
        f"{found.member_gap_s:.2f} s{canary}; "
        f"{found.told} rows acknowledged, lost {found.all_lost}, by two members "
        f"at once {found.beside}; load {found.load:.1f}{cuts}"
    )


def table(all_found: Sequence[Figures]) -> str:
    """Return the steps' figures as a Markdown table."""
    rows = [
        "| edit | whole after | write gap | at the members | rows | lost | by two at once | load |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for found in all_found:
        whole = "not whole" if found.wrong else f"{found.whole_s:.0f} s"
        over = f" (target {found.step.target_s:g} s)" if found.is_over_target else ""
        rows.append(
            f"| {found.step.title} | {whole} | {found.gap_s:.2f} s{over} | "
            f"{found.member_gap_s:.2f} s | {found.told} | {found.all_lost} | {found.beside} | "
            f"{found.load:.1f} |"
        )
    return "\n".join(rows)
