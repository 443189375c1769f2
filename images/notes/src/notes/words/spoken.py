"""Chooses the language of the plain pages, and translates their words.

The templates have the words in English. Each other language is a module of this package, named by
its tag, whose `WORDS` has the same words in that language; nothing else has to know of it.
"""

import functools
import importlib
import pkgutil
import re
from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

import notes.words

ENGLISH: Final = "en"
_TAG: Final = re.compile(r"[a-z]{2,3}")
LANGUAGES: Final = (
    ENGLISH,
    *(one.name for one in pkgutil.iter_modules(notes.words.__path__) if _TAG.fullmatch(one.name)),
)
#: Templates with words in all languages. The others, forms of the people who write, are English.
TRANSLATED: Final = frozenset(
    f"{name}.html"
    for name in (
        "backlinks", "error", "home", "invitation", "login", "page", "pages", "search",
        "share_password", "shared", "sign_out", "space", "trashed",
    )
)  # fmt: skip
_MOST_LISTED: Final = 32


@functools.cache
def _words(language: str) -> Mapping[str, str]:
    if language == ENGLISH:
        return {}
    found: dict[str, str] = importlib.import_module(f"notes.words.{language}").WORDS
    return found


class Spoken:
    """The words of one language, as templates use them: `t("Pages below %s", title)`.

    `own` is the attribute of an element whose text a person wrote, in a language that nobody knows;
    it is empty on a site that names its language.
    """

    def __init__(self, language: str, *, is_of_site: bool = False) -> None:
        self.language = language
        self.own = Markup("" if is_of_site else ' lang=""')  # noqa: S704 - no text of anybody
        self._words = _words(language)

    def __call__(self, text: str, *values: object) -> str:
        """The text in this language, or in English if it has no translation."""
        found = self._words.get(text, text)
        return found % values if values else found

    def as_said(self, text: str) -> Markup:
        """The attribute of an element whose text has no translation: it is English."""
        has = self.language == ENGLISH or text in self._words
        return Markup("" if has else ' lang="en"')  # noqa: S704 - no text of anybody


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


def of_site(template: str, fixed: str | None, header: str) -> Spoken:
    """The words of a template: in the `fixed` language of a site, else in the reader's."""
    if template not in TRANSLATED:
        return Spoken(ENGLISH)
    if fixed in LANGUAGES:
        return Spoken(str(fixed), is_of_site=True)
    return Spoken(by_reader(header))
