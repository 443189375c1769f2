"""The frame of every page: head, navigation, the state of the last pass, and the limits of size.

Pure. Invariant: a page with its style and its script has at most ``MOST_BYTES``, whatever is shown.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

from queenright.core.manifest.moments import format_moment
from queenright.core.page.html import Html, tag, within
from queenright.core.page.values import Basis

MOST_BYTES = 60_000
STALE_S = 60.0
"""With a pass every 15 s at the latest, an older one is a sign that something is wrong."""
LONGEST_WORD = 600
"""The longest text that is shown of one hold, note or record, in characters."""
MOST_PROBLEMS = 5
MOST_BANNERS_BYTES = 4_000
_DOCTYPE = "<!doctype html>\n"
PLACES = (("/", "All"), ("/holds", "Holds"), ("/trail", "Trail"))


@cache
def asset(name: str) -> str:
    """Return the text of a file of this package."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def shortened(text: str, longest: int = LONGEST_WORD) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def framed(title: str, here: str, basis: Basis, *content: Html) -> bytes:
    """Return a whole page. ``here`` is the address in the navigation that it belongs to."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · Queenright"),
        tag("link", rel="stylesheet", href="/style.css"),
        tag("script", src="/script.js", defer="defer"),
    )
    links = (
        tag("a", word, href=target, aria_current="page" if target == here else "")
        for target, word in PLACES
    )
    header = tag(
        "header",
        tag("a", "Skip to content", href="#main", class_="skip"),
        tag("span", "Queenright", class_="name"),
        tag("nav", *links, aria_label="Pages"),
        tag("span", id="live", role="status"),
    )
    main = tag("main", tag("h1", title), *banners(basis), *content, id="main", tabindex="-1")
    page = tag("html", head, tag("body", header, main, tag("footer", seen(basis))), lang="en")
    return f"{_DOCTYPE}{page.markup}\n".encode()


def seen(basis: Basis) -> Html:
    """Return the time of the pass that the page rests on."""
    if basis.at is None:
        return tag("p", "The operator has not ended a pass yet.")
    return tag("p", f"As the pass that ended at {format_moment(basis.at)} saw it.")


def banners(basis: Basis) -> tuple[Html, ...]:
    """Return the warnings about everything: no file, an old pass, a swarm that can't be read."""
    words = [basis.waits] if basis.waits else []
    if basis.age_s > STALE_S:
        words.append(
            f"The last pass ended {round(basis.age_s)} seconds ago (usually at most 15): what "
            "follows may be out of date; see the operator's log"
        )
    if basis.blind:
        words.append(f"The swarm can't be read: {basis.blind}")
    words += basis.problems[:MOST_PROBLEMS]
    if len(basis.problems) > MOST_PROBLEMS:
        words.append(f"{len(basis.problems) - MOST_PROBLEMS} more problems of the files")
    rows = (tag("p", shortened(word), class_="banner") for word in words)
    shown, left = within(rows, MOST_BANNERS_BYTES)
    return (*shown, *left_out(left, "queenright status has them"))


def section(title: str, *content: Html) -> Html:
    return tag("section", tag("h2", title), *content)


def left_out(number: int, where: str) -> tuple[Html, ...]:
    """Return a line about what did not fit; nothing where all did."""
    if not number:
        return ()
    return (tag("p", f"{number} more: {where}", class_="more"),)
