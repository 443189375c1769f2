"""Finds the one replacement that makes a document of another.

Invariant: applied to the first document the step gives exactly the second one.
"""

from collections.abc import Sequence

from notes.steps.model import Node, StepError
from notes.steps.places import slice_of
from notes.steps.steps import ReplaceStep


def difference(old: Node, new: Node) -> list[ReplaceStep]:
    """The steps from `old` to `new`: none if they are equal, else one. Raises `StepError`."""
    begin = _begin(old.content, new.content, 0)
    if begin is None:
        return []
    ends = _ends(old.content, new.content, old.content_size, new.content_size)
    if ends is None:
        raise StepError("the documents differ from the begin only")
    end, end_new = ends
    # The equal parts may overlap, as in "aa" and "aaa".
    overlap = begin - min(end, end_new)
    if overlap > 0:
        end, end_new = end + overlap, end_new + overlap
    step = ReplaceStep(begin, end, slice_of(new, begin, end_new))
    if step.apply(old) != new:
        raise StepError("the difference does not apply")
    return [step]


def _begin(old: Sequence[Node], new: Sequence[Node], at: int) -> int | None:
    for one, two in zip(old, new, strict=False):
        if one is two or one == two:
            at += one.size
            continue
        if not one.same_markup(two):
            return at
        if one.kind.is_text:
            same = next(
                (n for n, (a, b) in enumerate(zip(one.text, two.text, strict=False)) if a != b),
                min(len(one.text), len(two.text)),
            )
            if same and "\ud800" <= one.text[same - 1] <= "\udbff":
                same -= 1
            return at + same
        inner = _begin(one.content, two.content, at + 1)
        return at if inner is None else inner
    return None if len(old) == len(new) else at


def _ends(old: Sequence[Node], new: Sequence[Node], at: int, at_new: int) -> tuple[int, int] | None:
    for one, two in zip(reversed(old), reversed(new), strict=False):
        if one is two or one == two:
            at, at_new = at - one.size, at_new - two.size
            continue
        if not one.same_markup(two):
            return at, at_new
        if one.kind.is_text:
            pairs = zip(reversed(one.text), reversed(two.text), strict=False)
            same = next(
                (n for n, (a, b) in enumerate(pairs) if a != b), min(len(one.text), len(two.text))
            )
            if same and "\udc00" <= one.text[-same] <= "\udfff":
                same -= 1
            return at - same, at_new - same
        inner = _ends(one.content, two.content, at - 1, at_new - 1)
        return (at, at_new) if inner is None else inner
    return None if len(old) == len(new) else (at, at_new)
