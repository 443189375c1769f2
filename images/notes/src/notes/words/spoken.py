"""Chooses the language of a page or message, and translates its words.

The templates and messages are in English. Each other language is a module or folder of this
package, named by its tag: its `WORDS` has the words of the templates in that language, its
`MESSAGES` what the application says to a person. Nothing else has to know of it.
"""

import functools
import importlib
import pkgutil
import re
from collections.abc import Mapping
from typing import Final

from markupsafe import Markup
from starlette.requests import cookie_parser

import notes.words
from notes.words import pseudo
from notes.words.recognised import Messages, fill

ENGLISH: Final = "en"
#: What the workspace sets to the language that it shows. A script can read it.
COOKIE: Final = "notes-language"
#: The headers that decide the language of a page.
VARY: Final = "accept-language, cookie"
_TAG: Final = re.compile(r"[a-z]{2,3}")
LANGUAGES: Final = (
    ENGLISH,
    *(one.name for one in pkgutil.iter_modules(notes.words.__path__) if _TAG.fullmatch(one.name)),
)
_FROM_THE_RIGHT: Final = {"ar", "fa", "he", "ur", pseudo.TAG}
_MOST_LISTED: Final = 32


@functools.cache
def words_of(language: str) -> Mapping[str, str]:
    """The words of the templates in a language, by the English ones."""
    return _catalogue("WORDS", language)


@functools.cache
def messages_of(language: str) -> Mapping[str, str]:
    """The messages of the application in a language, by the English ones."""
    return _catalogue("MESSAGES", language)


def _catalogue(part: str, language: str) -> Mapping[str, str]:
    if language == ENGLISH:
        return {}
    if language == pseudo.TAG:
        return pseudo.catalogue(
            text for one in LANGUAGES if one != ENGLISH for text in _catalogue(part, one)
        )
    found: dict[str, str] = getattr(importlib.import_module(f"notes.words.{language}"), part)
    return found


@functools.cache
def _recognised(language: str) -> Messages:
    return Messages(messages_of(language))


class Spoken:
    """The words of one language, as templates use them: `t("Pages below %s", title)`.

    `own` is the attribute of an element whose text a person wrote, in a language that nobody knows;
    it is empty on a site that names its language.
    """

    def __init__(self, language: str, *, is_of_site: bool = False) -> None:
        self.language = language
        self.own = Markup("" if is_of_site else ' lang=""')  # noqa: S704 - no text of anybody
        #: The attribute of the page's root: the direction in which this language is written.
        self.direction = Markup(' dir="rtl"' if language in _FROM_THE_RIGHT else "")  # noqa: S704
        self._words = words_of(language)

    def __call__(self, text: str, *values: object) -> str:
        """The text in this language, or in English if it has no translation."""
        found = self._words.get(text, text)
        return fill(found, values) if values else found

    def said(self, text: str) -> str:
        """A message of the application in this language, or as it is if it has no translation."""
        found = self._found(text)
        return text if found is None else found

    def as_said(self, text: str) -> Markup:
        """The attribute of an element whose text has no translation: it is English."""
        has = self.language == ENGLISH or self._found(text) is not None
        return Markup("" if has else ' lang="en"')  # noqa: S704 - no text of anybody

    def _found(self, text: str) -> str | None:
        if self.language == ENGLISH:
            return None
        return self._words.get(text) or _recognised(self.language).said(text)


def by_reader(header: str) -> str:
    """The language of an Accept-Language header that its reader prefers; English without one."""
    best, found = 0.0, ENGLISH
    for part in header.split(",")[:_MOST_LISTED]:
        tag, _, rest = part.partition(";")
        language = tag.strip().lower().partition("-")[0]
        weight = _weight(rest)
        if language in LANGUAGES and weight > best:
            best, found = weight, language
    return found


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if not name:
        return 1.0
    if name.strip().lower() != "q" or not re.fullmatch(r"[01](\.[0-9]{0,3})?", value.strip()):
        return 0.0
    return float(value)


def _chosen(headers: Mapping[str, str]) -> str | None:
    """The language of the workspace in this browser; None without one that there are words of."""
    text = headers.get("cookie", "")
    found = cookie_parser(text).get(COOKIE) if COOKIE in text else None
    return found if found in LANGUAGES or found == pseudo.TAG else None


def of_reader(headers: Mapping[str, str]) -> str:
    """The language for the reader of a page: that of the workspace, else the browser's."""
    return _chosen(headers) or by_reader(headers.get("accept-language", ""))


def of_messages(headers: Mapping[str, str]) -> Spoken:
    """The words for the messages of the API: the language of the workspace that asks.

    A client without its cookie, or with a token, gets English.
    """
    return Spoken(ENGLISH if "authorization" in headers else _chosen(headers) or ENGLISH)


def of_site(fixed: str | None, wanted: str) -> Spoken:
    """The words of a page: in the `fixed` language of its site, else in the `wanted` one."""
    if fixed in LANGUAGES:
        return Spoken(str(fixed), is_of_site=True)
    return Spoken(wanted)
