"""What a document may be: the JSON of a ProseMirror editor, checked and brought to a normal form.

Decides from the JSON alone. Invariant: two documents that Markdown cannot tell apart have the same
normal form, so Markdown is a lossless way of writing down any stored document.
"""

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from notes.doc.attributes import (
    SEEN_AS_SPACE,
    Json,
    SchemaError,
    address,
    attributes,
    marked,
    marks_of,
    plain_text,
    same_marks,
)

MAX_DEPTH = 40
MAX_NODES = 100_000
MAX_TEXT = 2_000_000
_LANGUAGE = re.compile(r"[^A-Za-z0-9+#._-]")
LISTS = {"bulletList": "listItem", "orderedList": "listItem", "taskList": "taskItem"}
MAX_START = 900_000_000
BREAK: Json = {"type": "hardBreak"}


def empty() -> Json:
    """The document with nothing in it."""
    return {"type": "doc", "content": [{"type": "paragraph"}]}


def normalise(doc: Any) -> Json:
    """The normal form of a document. Raises `SchemaError` for what is no document."""
    return _Normaliser().doc(doc)


class _Normaliser:
    def __init__(self) -> None:
        self.nodes = 0
        self.characters = 0
        self.blocks_by_type: dict[str, Callable[[Json, str, int], list[Json]]] = {
            "paragraph": self._paragraph,
            "heading": self._heading,
            "bulletList": self._list,
            "orderedList": self._list,
            "taskList": self._list,
            "blockquote": self._quote,
            "codeBlock": self._code,
            "horizontalRule": lambda *_: [{"type": "horizontalRule"}],
            "table": self._table,
            "image": lambda node, path, _: _paragraph_of(self.inline([node], path)),
        }

    def doc(self, node: Any) -> Json:
        if not isinstance(node, dict) or node.get("type") != "doc":
            raise SchemaError("doc", "a document is an object of the type doc")
        blocks = self.blocks(self._content(node, "doc"), "doc", 1)
        return {"type": "doc", "content": blocks} if blocks else empty()

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
            found += block(node, here, depth)
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
        return _paragraph_of(self.inline(self._content(node, path), path))

    def _heading(self, node: Json, path: str, _: int) -> list[Json]:
        level = attributes(node, path).get("level", 1)
        if type(level) is not int or not 1 <= level <= 6:
            raise SchemaError(path, "a heading's level is 1 to 6")
        inline = self.inline(self._content(node, path), path)
        if not inline:
            return []
        return [{"type": "heading", "attrs": {"level": level}, "content": inline}]

    def _list(self, node: Json, path: str, depth: int) -> list[Json]:
        kind = node["type"]
        items = list[Json]()
        for at, item in enumerate(self._content(node, path)):
            here = f"{path}.content[{at}]"
            if self._type(item, here) != LISTS[kind]:
                raise SchemaError(here, f"a {kind} holds only {LISTS[kind]}")
            blocks = self.blocks(self._content(item, here), here, depth + 1)
            if not blocks or blocks[0]["type"] != "paragraph":
                blocks.insert(0, {"type": "paragraph"})
            made: Json = {"type": LISTS[kind], "content": blocks}
            if kind == "taskList":
                made["attrs"] = {"checked": attributes(item, here).get("checked") is True}
            items.append(made)
        if not items:
            return []
        out: Json = {"type": kind, "content": items}
        if kind == "orderedList":
            start = attributes(node, path).get("start", 1)
            if type(start) is not int or not 0 <= start <= MAX_START:
                raise SchemaError(path, f"a list starts with 0 to {MAX_START}")
            out["attrs"] = {"start": start}
        return [out]

    def _quote(self, node: Json, path: str, depth: int) -> list[Json]:
        blocks = self.blocks(self._content(node, path), path, depth + 1)
        return [{"type": "blockquote", "content": blocks}] if blocks else []

    def _code(self, node: Json, path: str, _: int) -> list[Json]:
        parts = list[str]()
        for at, child in enumerate(self._content(node, path)):
            here = f"{path}.content[{at}]"
            if self._type(child, here) != "text" or not isinstance(child.get("text"), str):
                raise SchemaError(here, "a code block holds only text")
            parts.append(child["text"])
        text = "".join(parts).replace("\r\n", "\n").replace("\r", "\n")
        text = self._clean(text, path, keep="\n\t")
        language = attributes(node, path).get("language")
        out: Json = {"type": "codeBlock"}
        if isinstance(language, str) and _LANGUAGE.sub("", language):
            out["attrs"] = {"language": _LANGUAGE.sub("", language)[:40]}
        if text:
            out["content"] = [{"type": "text", "text": text}]
        return [out]

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
                cells.append((_flat(blocks), align if isinstance(align, str) else None))
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

    def inline(self, nodes: list[Json], path: str) -> list[Json]:
        """Inline nodes in normal form: neighbours of the same marks are one."""
        found = list[Json]()
        for at, node in enumerate(nodes):
            here = f"{path}.content[{at}]"
            kind = self._type(node, here)
            if kind == "text":
                text = node.get("text")
                if not isinstance(text, str):
                    raise SchemaError(here, "a text node has a text")
                text = self._clean(text.replace("\r\n", "\n").translate(SEEN_AS_SPACE), here)
                marks = marks_of(node, here)
                if text and found and found[-1]["type"] == "text" and same_marks(found[-1], marks):
                    found[-1]["text"] += text
                elif text:
                    found.append(marked({"type": "text", "text": text}, marks))
            elif kind == "hardBreak":
                found.append(dict(BREAK))
            elif kind == "image":
                found.append(self._image(node, here))
            else:
                raise SchemaError(here, f"{kind[:40]!r} cannot be within a line")
        return found

    def _image(self, node: Json, path: str) -> Json:
        attrs = attributes(node, path)
        kept: Json = {"src": address(attrs.get("src"), f"{path}.attrs.src")}
        for name in ("alt", "title"):
            value = attrs.get(name)
            if isinstance(value, str) and value:
                plain = plain_text(value)
                self.characters += len(plain)
                if plain:
                    kept[name] = plain
        marks = [mark for mark in marks_of(node, path) if mark["type"] == "link"]
        return marked({"type": "image", "attrs": kept}, marks)

    def _clean(self, text: str, path: str, keep: str = "") -> str:
        self.characters += len(text)
        if self.characters > MAX_TEXT:
            raise SchemaError(path, f"more than {MAX_TEXT} characters")
        if text.isprintable():
            return text
        return "".join(c for c in text if c in keep or unicodedata.category(c) not in {"Cc", "Cs"})


def _paragraph_of(inline: list[Json]) -> list[Json]:
    return [{"type": "paragraph", "content": inline}] if inline else []


def _flat(blocks: list[Json]) -> list[Json]:
    """The lines of what a cell holds, as one line with breaks: more a cell cannot hold."""
    found = list[Json]()
    for block in blocks:
        kind = block["type"]
        if kind in {"paragraph", "heading"}:
            inline = block.get("content", [])
        elif kind == "codeBlock":
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
