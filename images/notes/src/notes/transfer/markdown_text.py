"""Converts the special Markdown syntax of other programs to common syntax.

Works on lines and leaves code unchanged. Invariant: addresses generated here begin with a reserved
prefix and are later resolved or restored to the original text; none is stored in a page.
"""

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote

from notes.transfer.properties import Pairs, UnreadableError, read_matter, split_matter, take_lines
from notes.transfer.sources import Kind

WIKI = "/.wiki/"
BOOK = "/.bs/"
DATA = "/.data/"
PICTURES = ("png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "bmp")
MAX_PICTURES = 200
_FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})")
_TICKS = re.compile(r"`+")
_WIKI = re.compile(r"(?<!\\)(!?)\[\[([^\[\]\n]{1,500})\]\]")
_MARKED = re.compile(r"(?<![=\\])==(?=[^\s=])([^=\n]{1,2000}?)(?<=[^\s=])==(?!=)")
_CALLOUT = re.compile(r"^((?:[ ]{0,3}>[ ]?)+)\[!([\w-]{1,40})\][+-]?[ \t]*(.*)$")
_BLOCK_ID = re.compile(r"(?<=\S)[ ]\^[A-Za-z0-9-]{1,40}$")
_NOTICE = re.compile(r"^:::[ ]?(info|tip|warning|success|danger|note)?[ ]*$")
_BOOK = re.compile(r"\[\[bsexport:(image|attachment|page|chapter|book):([^\[\]\n]{1,300})\]\]")
_DATA = re.compile(r"data:image/(png|jpe?g|gif|webp|avif|svg\+xml);base64,([A-Za-z0-9+/=\s%]*)")
_ESCAPED = re.compile(r"([\\`*_\[\]<>~=!|])")


@dataclass(slots=True)
class Text:
    """A text during conversion, with its title, properties, pictures and notes."""

    text: str
    title: str | None = None
    properties: Pairs = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # Pictures that were embedded in the text: name, type, bytes.
    pictures: list[tuple[str, str, bytes]] = field(default_factory=list)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def ready(text: str, kind: Kind, title: str) -> Text:
    """Converts a text for the Markdown parser."""
    found = Text(text.replace("\r\n", "\n"))
    if kind == "own":
        return found
    take_pictures(found)
    take_references(found)
    _take_matter(found)
    lines = found.text.split("\n")
    if kind in {"notion", "outline"}:
        lines = _take_title(found, lines, title)
    if kind == "notion":
        found.properties, used = take_lines(lines)
        lines = lines[used:]
    found.text = "\n".join(_lines(found, lines, kind))
    return found


def take_pictures(found: Text) -> None:
    """Moves pictures embedded as data URLs from the text to `pictures`; they become files."""

    def take(match: re.Match[str]) -> str:
        if len(found.pictures) >= MAX_PICTURES:
            return match[0]
        try:
            data = base64.b64decode(re.sub(r"\s|%0A", "", match[2]), validate=True)
        except (ValueError, binascii.Error):
            return match[0]
        ending = {"jpeg": "jpg", "svg+xml": "svg"}.get(match[1], match[1])
        number = len(found.pictures) + 1
        found.pictures.append((f"picture {number}.{ending}", f"image/{match[1]}", data))
        found.note("pictures written into the text became files")
        return f"{DATA}{number - 1}"

    if "data:image/" in found.text:
        found.text = _DATA.sub(take, found.text)


def take_references(found: Text) -> None:
    """Replaces the references of a BookStack export, which look like wiki links, by addresses."""
    if "[[bsexport:" in found.text:
        found.text = _BOOK.sub(lambda m: f"{BOOK}{m[1]}/{quote(m[2], safe='')}", found.text)


def _take_matter(found: Text) -> None:
    source, rest = split_matter(found.text)
    if source is None:
        return
    try:
        found.properties = read_matter(source)
    except UnreadableError as error:
        found.note(f"its properties stay as they are written: {error}")
        found.text = f"```yaml\n{source}\n```\n\n{rest}" if "```" not in source else found.text
    else:
        found.text = rest
        if found.properties:
            found.note("its properties became a table")


def _take_title(found: Text, lines: list[str], title: str) -> list[str]:
    """Removes the title above the text and uses it, since these exports shorten file names."""
    first = next((n for n, line in enumerate(lines) if line.strip()), None)
    if first is None or not lines[first].startswith("# "):
        return lines
    own = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", lines[first][2:].strip())
    if own and own != title:
        found.title = own
    rest = lines[first + 1 :]
    while rest and not rest[0].strip():
        del rest[0]
    return rest


def _lines(found: Text, lines: list[str], kind: Kind) -> list[str]:
    made = list[str]()
    fence = ""
    quoted = 0
    for line in lines:
        match = _FENCE.match(line)
        if fence:
            if match and match[1][0] == fence[0] and len(match[1]) >= len(fence):
                fence = ""
            made.append("> " * quoted + line)
            continue
        if match:
            fence = match[1]
            made.append("> " * quoted + line)
            continue
        opened, closed, first = _boxes(found, line, kind, quoted)
        if closed:
            quoted -= 1
            made.append("")
            continue
        if opened:
            made += ["", "> " * (quoted + 1) + first]
            quoted += 1
            continue
        made += ["> " * quoted + part for part in _line(found, line, kind)]
    return made


def _boxes(found: Text, line: str, kind: Kind, quoted: int) -> tuple[bool, bool, str]:
    """Tells if a callout box begins or ends with this line, and returns its first line."""
    plain = line.strip()
    if kind == "notion" and plain == "<aside>" and quoted < 10:
        found.note("callouts became quotes")
        return True, False, ""
    if kind == "notion" and plain == "</aside>" and quoted:
        return False, True, ""
    if kind == "outline" and (match := _NOTICE.match(plain)):
        if match[1] and quoted < 10:
            found.note("notices became quotes")
            return True, False, f"**{match[1].capitalize()}**\n" + "> " * (quoted + 1)
        return (False, True, "") if quoted else (False, False, line)
    return False, False, line


def _line(found: Text, line: str, kind: Kind) -> list[str]:
    if kind == "outline" and line.strip() == "\\":
        return [""]
    if kind in {"obsidian", "files"} and (match := _CALLOUT.match(line)):
        found.note("callouts became quotes")
        title = match[3].strip() or match[2].replace("-", " ").capitalize()
        return [f"{match[1]}**{_wikis(found, title)}**", match[1].rstrip()]
    if kind == "obsidian":
        plain = _BLOCK_ID.sub("", line)
        if plain != line:
            found.note("names of blocks (^…) were left out")
            line = plain
        line = _outside_code(line, lambda text: _MARKED.sub(r"<mark>\1</mark>", text))
    return [_outside_code(line, lambda text: _wikis(found, text))]


def _outside_code(line: str, change: Callable[[str], str]) -> str:
    """The line with `change` applied to all text that is not code.

    Code ends at the next run of as many backticks; each run is read once.
    """
    if "`" not in line:
        return change(line)
    runs = [match.span() for match in _TICKS.finditer(line)]
    behind = dict[int, list[int]]()
    for start, end in reversed(runs):
        behind.setdefault(end - start, []).append(start)
    made, at = list[str](), 0
    for start, end in runs:
        same = behind[end - start]
        while same and same[-1] <= start:
            same.pop()
        if start < at or not same:
            continue
        close = same[-1] + end - start
        made += [change(line[at:start]), line[start:close]]
        at = close
    return "".join([*made, change(line[at:])])


def _wikis(found: Text, text: str) -> str:
    def take(match: re.Match[str]) -> str:
        inner = match[2].replace("\\|", "|")
        target, _, alias = inner.partition("|")
        whole = quote(match[1] + inner, safe="")
        if match[1] and target.partition("#")[0].rsplit(".", 1)[-1].strip().lower() in PICTURES:
            alt = "" if re.fullmatch(r"\s*\d+(x\d+)?\s*|\s*", alias) else alias
            if alias and not alt:
                found.note("sizes of pictures were left out")
            return f"![{_escaped(alt)}]({WIKI}{whole})"
        if match[1]:
            found.note("embedded notes and files became links")
        shown = alias.strip() or target.strip().lstrip("#").replace("#", " > ")
        return f"[{_escaped(shown)}]({WIKI}{whole})"

    return _WIKI.sub(take, text) if "[[" in text else text


def _escaped(text: str) -> str:
    return _ESCAPED.sub(r"\\\1", text)
