"""Checks a document (JSON of a ProseMirror editor) and brings it to its normal form.

Decides from the JSON alone. Invariant: two documents with the same Markdown have the same normal
form, so any stored document can be written as Markdown without loss.
"""

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from notes.doc import lines, raw_html
from notes.doc.attributes import SEEN_AS_SPACE, Json, SchemaError, attributes, label, marked
from notes.doc.lines import BREAK

MAX_DEPTH = 40
MAX_NODES = 100_000
MAX_TEXT = 2_000_000
_NO_LANGUAGE = re.compile(r"[\s`]")
LISTS = {"bulletList": "listItem", "orderedList": "listItem", "taskList": "taskItem"}
MAX_START = 999_999_999


def empty() -> Json:
    """An empty document."""
    return {"type": "doc", "content": [{"type": "paragraph"}]}


def normalise(doc: Any) -> Json:
    """The normal form of a document. Raises `SchemaError` if it is invalid."""
    return _Normaliser().doc(doc)


class _Normaliser:
    def __init__(self) -> None:
        self.nodes = 0
        self.characters = 0
        self.labels = dict[str, str]()
        self.repeats = dict[str, int]()
        self.blocks_by_type: dict[str, Callable[[Json, str, int], list[Json]]] = {
            "paragraph": self._paragraph,
            "heading": self._heading,
            "bulletList": self._list,
            "orderedList": self._list,
            "taskList": self._list,
            "blockquote": self._quote,
            "codeBlock": self._code,
            "htmlBlock": self._html,
            "horizontalRule": lambda *_: [{"type": "horizontalRule"}],
            "table": self._table,
            "image": lambda node, path, _: _paragraph_of(self._line([node], path)),
        }

    def doc(self, node: Any) -> Json:
        if not isinstance(node, dict) or node.get("type") != "doc":
            raise SchemaError("doc", "a document is an object of the type doc")
        content = self._content(node, "doc")
        notes = [(n, child) for n, child in enumerate(content) if _is_note(child)]
        named = list[str]()
        for at, note in notes:
            here = f"doc.content[{at}]"
            self._type(note, here)
            named.append(self._free(label(attributes(note, here).get("label"), here)))
            self.labels[named[-1].casefold()] = named[-1]
        blocks = self.blocks([n for n in content if not _is_note(n)], "doc", 1)
        footnotes = [
            self._note(note, f"doc.content[{at}]", name)
            for (at, note), name in zip(notes, named, strict=True)
        ]
        _end(blocks if footnotes else [])
        return {"type": "doc", "content": [*(blocks or empty()["content"]), *footnotes]}

    def blocks(self, nodes: list[Json], path: str, depth: int) -> list[Json]:
        """Blocks in normal form, without empty ones."""
        if depth > MAX_DEPTH:
            raise SchemaError(path, f"more than {MAX_DEPTH} levels")
        found = list[Json]()
        for at, node in enumerate(nodes):
            here = f"{path}.content[{at}]"
            block = self.blocks_by_type.get(self._type(node, here))
            if block is None:
                raise SchemaError(here, f"{str(node['type'])[:40]!r} cannot be here")
            made = block(node, here, depth)
            _end(found if made else [])
            found += made
        return found

    def _type(self, node: Any, path: str) -> str:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise SchemaError(path, f"more than {MAX_NODES} nodes")
        if not isinstance(node, dict) or not isinstance(node.get("type"), str):
            raise SchemaError(path, "a node is an object with a type")
        return str(node["type"])

    def _content(self, node: Json, path: str) -> list[Json]:
        content = node.get("content", [])
        if not isinstance(content, list):
            raise SchemaError(path, "content is a list")
        return content

    def _paragraph(self, node: Json, path: str, _: int) -> list[Json]:
        return _paragraph_of(self._line(self._content(node, path), path))

    def _heading(self, node: Json, path: str, _: int) -> list[Json]:
        level = attributes(node, path).get("level", 1)
        if type(level) is not int or not 1 <= level <= 6:
            raise SchemaError(path, "a heading's level is 1 to 6")
        inline = self._line(self._content(node, path), path, breaks=False)
        out: Json = {"type": "heading", "attrs": {"level": level}}
        return [out | {"content": inline} if inline else out]

    def _list(self, node: Json, path: str, depth: int) -> list[Json]:
        kind = node["type"]
        items = list[Json]()
        checks = list[bool | None]()
        for at, item in enumerate(self._content(node, path)):
            here = f"{path}.content[{at}]"
            if self._type(item, here) != LISTS[kind]:
                raise SchemaError(here, f"a {kind} holds only {LISTS[kind]}")
            checked = attributes(item, here).get("checked")
            if kind == "taskList" or isinstance(checked, bool):
                checks.append(checked is True)
            else:
                checks.append(None)
            blocks = self._with_paragraph(self._content(item, here), here, depth)
            items.append({"type": LISTS[kind], "content": blocks})
        if not items:
            return []
        if kind == "bulletList" and None not in checks:
            kind = "taskList"
        for made, check in zip(items, checks, strict=True):
            made["type"] = LISTS[kind]
            if check is not None:
                made["attrs"] = {"checked": check}
        out: Json = {"type": kind, "content": items}
        if kind == "orderedList":
            start = attributes(node, path).get("start", 1)
            if type(start) is not int or not 0 <= start <= MAX_START:
                raise SchemaError(path, f"a list starts with 0 to {MAX_START}")
            out["attrs"] = {"start": start}
        return [out]

    def _quote(self, node: Json, path: str, depth: int) -> list[Json]:
        blocks = self.blocks(self._content(node, path), path, depth + 1)
        return [{"type": "blockquote", "content": blocks or [{"type": "paragraph"}]}]

    def _free(self, name: str) -> str:
        """A footnote's label, or one like it if another footnote has it already."""
        made, begin = name, name[:50]
        number = self.repeats.get(begin.casefold(), 2)
        while made.casefold() in self.labels:
            made, number = f"{begin}-{number}", number + 1
        self.repeats[begin.casefold()] = number
        return made

    def _note(self, node: Json, path: str, name: str) -> Json:
        blocks = self._with_paragraph(self._content(node, path), path, 1)
        return {"type": "footnote", "attrs": {"label": name}, "content": blocks}

    def _with_paragraph(self, nodes: list[Json], path: str, depth: int) -> list[Json]:
        """Blocks in normal form; the first is a paragraph, added empty if needed."""
        blocks = self.blocks(nodes, path, depth + 1)
        if not blocks or blocks[0]["type"] != "paragraph":
            blocks.insert(0, {"type": "paragraph"})
        return blocks

    def _code(self, node: Json, path: str, _: int) -> list[Json]:
        text = self._source(node, path)
        language = attributes(node, path).get("language")
        plain = (
            _NO_LANGUAGE.sub("", self._clean(language, path)) if isinstance(language, str) else ""
        )
        out: Json = {"type": "codeBlock"}
        if plain:
            out["attrs"] = {"language": plain[:40]}
        if text:
            out["content"] = [{"type": "text", "text": text}]
        return [out]

    def _html(self, node: Json, path: str, _: int) -> list[Json]:
        text = self._source(node, path)
        source, _more = raw_html.block(text)
        if source:
            return [{"type": "htmlBlock", "content": [{"type": "text", "text": source}]}]
        # HTML that Markdown would not read as one block becomes a code block.
        code: Json = {"type": "codeBlock", "attrs": {"language": "html"}}
        return [code | {"content": [{"type": "text", "text": text}]}] if text.strip() else []

    def _source(self, node: Json, path: str) -> str:
        parts = list[str]()
        for at, child in enumerate(self._content(node, path)):
            here = f"{path}.content[{at}]"
            if self._type(child, here) != "text" or not isinstance(child.get("text"), str):
                raise SchemaError(here, "a code block holds only text")
            parts.append(child["text"])
        text = "".join(parts).replace("\r\n", "\n").replace("\r", "\n")
        return self._clean(text, path, keep="\n\t")

    def _table(self, node: Json, path: str, depth: int) -> list[Json]:
        rows = list[list[tuple[list[Json], Any]]]()
        for at, row in enumerate(self._content(node, path)):
            here = f"{path}.content[{at}]"
            if self._type(row, here) != "tableRow":
                raise SchemaError(here, "a table holds only tableRow")
            cells = list[tuple[list[Json], Any]]()
            for number, cell in enumerate(self._content(row, here)):
                place = f"{here}.content[{number}]"
                if self._type(cell, place) not in {"tableCell", "tableHeader"}:
                    raise SchemaError(place, "a row holds only tableCell and tableHeader")
                blocks = self.blocks(self._content(cell, place), place, depth + 1)
                align = attributes(cell, place).get("align")
                cells.append(
                    (lines.one_line(_flat(blocks)), align if isinstance(align, str) else None)
                )
            if cells:
                rows.append(cells)
        if not rows:
            return []
        width = max(len(row) for row in rows)
        aligns = [a if a in {"left", "center", "right"} else None for _, a in rows[0]]
        aligns += [None] * (width - len(aligns))
        if width * len(rows) > MAX_NODES:
            raise SchemaError(path, "a table with too many cells")
        return [
            {
                "type": "table",
                "content": [
                    {"type": "tableRow", "content": _cells(row, aligns, is_head=at == 0)}
                    for at, row in enumerate(rows)
                ],
            }
        ]

    def _line(self, nodes: list[Json], path: str, *, breaks: bool = True) -> list[Json]:
        for at, node in enumerate(nodes):
            self._type(node, f"{path}.content[{at}]")
        return lines.normal(nodes, path, self._clean, self.labels, breaks=breaks)

    def _clean(self, text: str, path: str, keep: str = "") -> str:
        self.characters += len(text)
        if self.characters > MAX_TEXT:
            raise SchemaError(path, f"more than {MAX_TEXT} characters")
        if text.isprintable():
            return text
        return "".join(c for c in text if c in keep or unicodedata.category(c) not in {"Cc", "Cs"})


def _is_note(node: Any) -> bool:
    return isinstance(node, dict) and node.get("type") == "footnote"


def _end(blocks: list[Json]) -> None:
    """Completes a last HTML block that would otherwise include the blocks after it."""
    if blocks and blocks[-1]["type"] == "htmlBlock":
        text = blocks[-1]["content"][0]
        text["text"] += raw_html.block(text["text"])[1]


def _paragraph_of(inline: list[Json]) -> list[Json]:
    return [{"type": "paragraph", "content": inline}] if inline else []


def _flat(blocks: list[Json]) -> list[Json]:
    """The blocks of a table cell as one line with breaks, since a cell holds only one line."""
    found = list[Json]()
    for block in blocks:
        kind = block["type"]
        if kind in {"paragraph", "heading"}:
            inline = block.get("content", [])
        elif kind in {"codeBlock", "htmlBlock"}:
            code = block.get("content", [{"text": ""}])[0]["text"].translate(SEEN_AS_SPACE)
            inline = [marked({"type": "text", "text": code}, [{"type": "code"}])] if code else []
        else:
            inline = _flat(block.get("content", []))
        if found and inline:
            found.append(dict(BREAK))
        found += inline
    return found


def _cells(row: list[tuple[list[Json], Any]], aligns: list[Any], *, is_head: bool) -> list[Json]:
    cells = list[Json]()
    for at, align in enumerate(aligns):
        inline = row[at][0] if at < len(row) else []
        paragraph: Json = {"type": "paragraph", "content": inline}
        cell: Json = {
            "type": "tableHeader" if is_head else "tableCell",
            "content": [paragraph if inline else {"type": "paragraph"}],
        }
        if align:
            cell["attrs"] = {"align": align}
        cells.append(cell)
    return cells
