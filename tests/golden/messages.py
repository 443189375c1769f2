"""Messages of holds, refusals and actions, compared with one page: messages.txt beside this module.

Tests assert keys, kinds and fields themselves, and leave the words to ``assert_words``. The page
has each message under its key, with the test that produces it as the situation.
"""

from __future__ import annotations

import fcntl
import os
import re
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from queenright.core.actions import AnyAction
from queenright.core.planning.plan import Hold, Refusal

PAGE = Path(__file__).parent / "messages.txt"
WIDTH = 100

Entry = tuple[str, str]
"""The subject of a message, such as ``hold restart-service/main_member-1``, and the situation."""

_seen: dict[tuple[str, str], list[str]] = {}


@dataclass(frozen=True, slots=True)
class Text:
    """A message that is neither a hold nor an action, with a key of its own."""

    key: str
    reason: str


def assert_words(*messages: AnyAction | Hold | Refusal | Text) -> None:
    """Assert that the page has each message's words; ``UPDATE_GOLDEN=1`` writes them instead."""
    for message in messages:
        key, words = without_digests(about(message)), without_digests(message.reason)
        entry = (key, state(key, words))
        if os.environ.get("UPDATE_GOLDEN"):
            write(entry, words)
            continue
        kept = the_page().get(entry, "")
        assert kept == words, (
            f"{entry[0]} ({entry[1]}) differs (UPDATE_GOLDEN=1 accepts):\n"
            f"  page: {kept or 'has no such entry'}\n  now:  {words}"
        )


def without_digests(text: str) -> str:
    """The text with a mark for each digest, so that no edit of a template changes the page."""
    return re.sub(r"(?<=[-:])(?:[0-9a-f]{64}|[0-9a-f]{12})\b", "<digest>", text)


def about(message: AnyAction | Hold | Refusal | Text) -> str:
    """The message's kind and key."""
    match message:
        case Text(key):
            return f"text {key}"
        case Refusal(guard):
            return f"refusal {guard}"
        case Hold(key):
            kind = (
                "attention"
                if message.wants_attention
                else "news"
                if message.is_informational
                else "hold"
            )
            return f"{kind} {key}"
        case _:
            return f"action {message.key}"


def state(of: str, words: str) -> str:
    """The running test's name in words; other words of the same key get a number."""
    test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
    name = in_words(test.partition("::")[2])
    said = _seen.setdefault((test, of), [])
    if words not in said:
        said.append(words)
    number = said.index(words) + 1
    return f"{name} ({number})" if number > 1 else name


def names_of_tests(text: str) -> set[str]:
    """Names of the tests in a module's text, if it compares any words with the page."""
    found = re.findall(r"^\s*(?:async )?def (test_\w+)", text, flags=re.MULTILINE)
    return set(map(in_words, found)) if "assert_words(" in text else set()


def name_of_test(entry: Entry) -> str:
    """The name of the test that compares an entry, without its class, parameters and number."""
    return re.sub(r"( ?\[.*\])?( \(\d+\))?$", "", entry[1].rpartition(": ")[2])


def in_words(name: str) -> str:
    return " ".join(name.replace("::", ": ").replace("test_", "").replace("_", " ").split())


@cache
def the_page() -> dict[Entry, str]:
    return read_page(PAGE.read_text(encoding="utf-8"))


def write(entry: Entry, words: str) -> None:
    with PAGE.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        page = {**read_page(file.read()), entry: words}
        file.truncate(0)
        file.write(page_text(page))


def page_text(page: dict[Entry, str]) -> str:
    """The page: each key with its messages, each message with the situations that produce it."""
    messages: dict[tuple[str, str], list[str]] = {}
    for (key, when), words in sorted(page.items(), key=lambda item: order(item[0])):
        messages.setdefault((key, words), []).append(when)
    lines: list[str] = []
    last = ""
    for (key, words), situations in messages.items():
        if key != last:
            lines += ["", key] if lines else [key]
            last = key
        lines += [f"  {when}" for when in situations]
        wrapped = textwrap.wrap(words, WIDTH - 4, break_long_words=False, break_on_hyphens=False)
        lines += [f"    {line}" for line in wrapped]
    return "\n".join(lines) + "\n"


def order(entry: Entry) -> tuple[str, str, str]:
    kind, _, key = entry[0].partition(" ")
    return key, kind, entry[1]


def read_page(text: str) -> dict[Entry, str]:
    page: dict[Entry, str] = {}
    key, situations, is_open = "", [""], False
    for line in text.splitlines():
        if line.startswith("    "):
            is_open = False
            for when in situations:
                page[key, when] = f"{page.get((key, when), '')} {line.strip()}".strip()
        elif line.startswith("  "):
            situations = [*situations, line.strip()] if is_open else [line.strip()]
            is_open = True
        elif line:
            key = line
    return page
