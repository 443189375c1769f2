"""The Markdown parser, and its rules beyond CommonMark: footnotes and bare addresses.

Invariant: every rule reads a bounded part of the text, so parsing takes linear time.
"""

import functools
import re
import time

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.footnote.index import footnote_def

from notes.doc.attributes import SchemaError

MAX_NESTING = 100
_LABEL = re.compile(r"\[\^([^\s\[\]\\|`]{1,60})\]")
_SCHEME = re.compile(r"https?$")
_URL = re.compile(r"(https?://|www\.)([^\s\x00-,/:-@\[-^`{-\x7f]{1,255})[^\s<]{0,2000}")
_LOCAL = re.compile(r"(?<![A-Za-z0-9.+_-])(?:mailto:)?[A-Za-z0-9.+_-]{1,64}$")
_DOMAIN = re.compile(r"@[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63}){1,8}")
_ENTITY = re.compile(r"&[A-Za-z0-9]{1,32};$")
_MAY_PRECEDE = " \t\n*_~("


@functools.cache
def parser() -> MarkdownIt:
    """The parser. Its `env` needs `until_s`, the processor time at which parsing is aborted."""
    options = {"html": True, "maxNesting": MAX_NESTING, "strikethrough_single_tilde": True}
    made = MarkdownIt("commonmark", options)
    made.enable(["table", "strikethrough"])
    made.inline.ruler.before("text", "in_time", _in_time)
    made.inline.add_terminator_char("w")
    made.inline.ruler.after("image", "footnote_reference", _reference)
    made.inline.ruler.push("bare_address", _bare_address)
    made.inline.ruler.push("bare_mail", _bare_mail)
    made.block.ruler.before("reference", "footnote", _footnote, {"alt": ["paragraph", "reference"]})
    # The schema checks addresses; the parser keeps them as they are written.
    made.normalizeLink = lambda url: url  # type: ignore[method-assign]
    made.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    made.validateLink = lambda url: True  # type: ignore[method-assign]
    return made


def _in_time(state: StateInline, silent: bool) -> bool:
    if time.thread_time() > state.env["until_s"]:
        raise SchemaError("markdown", "takes too long to read")
    return False


def _footnote(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Reads a footnote. Of two with the same label the second is ordinary text."""
    found = _LABEL.match(state.src, state.bMarks[line] + state.tShift[line])
    if found is None or not found[1].isprintable() or not state.src.startswith(":", found.end()):
        return False
    labels: dict[str, str] = state.env.setdefault("labels", {})
    name = found[1].casefold()
    if name in labels or state.is_code_block(line):
        return False
    if not silent:
        labels[name] = found[1]
    return footnote_def(state, line, end, silent)


def _reference(state: StateInline, silent: bool) -> bool:
    """Reads a reference to an existing footnote."""
    found = _LABEL.match(state.src, state.pos, state.posMax)
    if found is None or found[1].casefold() not in state.env.get("labels", ()):
        return False
    if not silent:
        state.push("footnote_reference", "", 0).content = found[1]
    state.pos = found.end()
    return True


def _bare_address(state: StateInline, silent: bool) -> bool:
    """Reads `https://…`, `http://…` and `www.…` as links."""
    if silent or state.linkLevel > 0:
        return False
    start = state.pos
    if state.src.startswith("://", start):
        scheme = _SCHEME.search(state.src, max(0, start - 5), start)
        start = scheme.start() if scheme else 0
        if scheme is None:
            return False
    elif not state.src.startswith("www.", start):
        return False
    before = state.src[start - 1 : start]
    if (
        before.isalnum()
        or before in ("[", "<")
        or (start == state.pos and before not in _MAY_PRECEDE)
    ):
        return False
    found = _URL.match(state.src, start, state.posMax)
    if found is None:
        return False
    text = _trimmed(found[0])
    ends = found[2].rstrip("._-").split(".")[-2:]
    if len(text) <= len(found[1]) or not ends[-1] or any("_" in part for part in ends):
        return False
    return _link(state, start, text, f"http://{text}" if found[1] == "www." else text)


def _bare_mail(state: StateInline, silent: bool) -> bool:
    """Reads an e-mail address as a link."""
    if silent or state.linkLevel > 0 or not state.src.startswith("@", state.pos):
        return False
    local = _LOCAL.search(state.src, max(0, state.pos - 71), state.pos)
    domain = _DOMAIN.match(state.src, state.pos, state.posMax)
    if local is None or domain is None or domain[0][-1] in "-_":
        return False
    text = local[0] + domain[0]
    return _link(
        state, local.start(), text, text if text.startswith("mailto:") else f"mailto:{text}"
    )


def _trimmed(text: str) -> str:
    """A bare address without the punctuation that follows it in a sentence."""
    left = {")": text.count(")") - text.count("("), "]": text.count("]") - text.count("[")}
    end = len(text)
    while end:
        last = text[end - 1]
        if left.get(last, 0) > 0:
            left[last] -= 1
        elif last == ";":
            entity = _ENTITY.search(text, max(0, end - 34), end)
            end = entity.start() + 1 if entity else end
        elif last not in "?!.,:*_~'\"":
            break
        end -= 1
    return text[:end]


def _link(state: StateInline, start: int, text: str, href: str) -> bool:
    """Makes a link of the text from `start`; the part before `pos` is in `state.pending`."""
    known = state.pos - start
    if len(state.pending) < known:
        return False  # a part of it is not plain text
    state.pending = state.pending[: len(state.pending) - known]
    state.push("link_open", "a", 1).attrs = {"href": href}
    state.push("text", "", 0).content = text
    state.push("link_close", "a", -1)
    state.pos = start + len(text)
    return True
