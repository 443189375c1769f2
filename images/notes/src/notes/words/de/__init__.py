"""German: the words of the plain pages, and the messages of the server."""

from typing import Final

from notes.words.de import documents, forms, imports, pages, refusals, requests

WORDS: Final = {**pages.WORDS, **forms.WORDS}
MESSAGES: Final = {
    **requests.MESSAGES,
    **refusals.MESSAGES,
    **documents.MESSAGES,
    **imports.MESSAGES,
}
