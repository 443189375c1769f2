"""Nests what was read from HTML into the blocks of a document.

Invariant: blocks are at most `MAX_BLOCKS_DEEP` deep, and the schema judges every address.
"""

import re

from notes.doc.attributes import Json, SchemaError, address

MAX_BLOCKS_DEEP = 28
_SPACE = re.compile(r"[ \t\n\r\f]+")


class Read:
    """The result of reading a HTML page."""

    def __init__(self) -> None:
        self.blocks: list[Json] = []
        self.title: str | None = None
        self.is_flattened = False
        self.has_dropped = False


class _Frame:
    """A block whose content is being read."""

    __slots__ = ("blocks", "line", "node", "tag", "task")

    def __init__(self, tag: str, node: Json | None) -> None:
        self.tag = tag
        self.node = node
        self.blocks: list[Json] = []
        self.line: list[Json] = []
        self.task: bool | None = None


class BlockBuilder:
    """The blocks that are open, innermost last, and the marks and links around the text."""

    def __init__(self, found: Read) -> None:
        self._found = found
        self._frames = [_Frame("", None)]
        self._marks: dict[str, int] = {}
        self._links: list[str | None] = []

    def push(self, tag: str, node: Json) -> None:
        self.flush()
        if len(self._frames) > MAX_BLOCKS_DEEP:
            self._found.is_flattened = True
            return
        self._frames.append(_Frame(tag, node))

    def close(self, tag: str) -> bool:
        """Ends the block of a tag, and those left open in it. False: no near block has this tag."""
        if all(frame.tag != tag for frame in self._frames[-4:]):
            return False
        while self._frames[-1].tag != tag:
            self._pop()
        self._pop()
        return True

    def add(self, block: Json) -> None:
        """Adds a whole block after the line that is being read."""
        self.flush()
        self._frames[-1].blocks.append(block)

    def line_break(self) -> None:
        self._frames[-1].line.append({"type": "hardBreak"})

    def _pop(self) -> None:
        self.flush()
        frame = self._frames.pop()
        assert frame.node is not None  # noqa: S101 - the outermost frame stays
        above = self._frames[-1]
        kind = frame.node["type"]
        if kind == "heading":
            for block in frame.blocks:
                if block["type"] == "paragraph":
                    above.blocks.append({**frame.node, "content": block["content"]})
                else:
                    above.blocks.append(block)
            return
        if kind in {"bulletList", "orderedList"}:
            self._add_list(above, frame)
            return
        if kind == "table":
            self._add_table(above, frame)
            return
        span = frame.node.pop("span", 1)
        made = {**frame.node, "content": frame.blocks}
        if kind == "listItem" and frame.task is not None:
            made = {"type": "taskItem", "attrs": {"checked": frame.task}, "content": frame.blocks}
        above.blocks.append(made)
        above.blocks += [{"type": "tableCell", "content": []} for _ in range(span - 1)]

    def _add_list(self, above: _Frame, frame: _Frame) -> None:
        """Adds a list: splits it between tasks and other items, or continues the list above."""
        node = frame.node or {}
        for block in frame.blocks:
            is_item = block["type"] in {"listItem", "taskItem"}
            item = block if is_item else {"type": "listItem", "content": [block]}
            kind = "taskList" if item["type"] == "taskItem" else node["type"]
            last = above.blocks[-1] if above.blocks else None
            if last is None or last["type"] != kind or not self._goes_on(last, node):
                made: Json = {"type": kind, "content": []}
                if kind == "orderedList":
                    made.update(attrs=dict(node["attrs"]), of=node)
                above.blocks.append(made)
            above.blocks[-1]["content"].append(item)

    @staticmethod
    def _goes_on(last: Json, node: Json) -> bool:
        """True if `node` continues the list `last`: Notion writes each item as its own list."""
        if last["type"] != "orderedList" or last.get("of") is node:
            return True
        start = node["attrs"]["start"]
        return bool(start == last["attrs"]["start"] + len(last["content"]))

    @staticmethod
    def _add_table(above: _Frame, frame: _Frame) -> None:
        rows = [
            {**row, "content": cells}
            for row in frame.blocks
            if row["type"] == "tableRow"
            and (cells := [c for c in row["content"] if c["type"] in {"tableCell", "tableHeader"}])
        ]
        loose = [block for block in frame.blocks if block["type"] != "tableRow"]
        above.blocks += [b for b in loose if b["type"] not in {"tableCell", "tableHeader"}]
        if rows:
            above.blocks.append({"type": "table", "content": rows})

    def task(self, checked: bool) -> None:
        for frame in reversed(self._frames):
            if frame.tag == "li":
                frame.task = checked
                return
        self.text("☑ " if checked else "☐ ")

    def has_mark(self, kind: str) -> bool:
        return self._marks.get(kind, 0) > 0

    def mark(self, kind: str, step: int) -> None:
        self._marks[kind] = max(0, self._marks.get(kind, 0) + step)

    def link(self, href: str) -> None:
        try:
            address(href, "href")
        except SchemaError:
            self._found.has_dropped |= bool(href.strip())
            self._links.append(None)
        else:
            self._links.append(href)

    def end_link(self) -> None:
        if self._links:
            self._links.pop()

    def image(self, src: str, alt: str) -> None:
        try:
            address(src, "src")
        except SchemaError:
            self._found.has_dropped = True
            self.text(alt)
            return
        self._inline({"type": "image", "attrs": {"src": src, "alt": alt}})

    def embed(self, src: str) -> None:
        try:
            address(src, "src")
        except SchemaError:
            return
        mark = {"type": "link", "attrs": {"href": src}}
        self._frames[-1].line.append({"type": "text", "text": src, "marks": [mark]})

    def text(self, text: str) -> None:
        line = self._frames[-1].line
        plain = _SPACE.sub(" ", text)
        if not line or (line[-1].get("text", "").endswith(" ")) or line[-1]["type"] == "hardBreak":
            plain = plain.lstrip(" ")
        if plain:
            self._inline({"type": "text", "text": plain})

    def _inline(self, node: Json) -> None:
        marks: list[Json] = [{"type": kind} for kind, count in self._marks.items() if count]
        href = self._links[-1] if self._links else None
        if href is not None:
            marks.insert(0, {"type": "link", "attrs": {"href": href}})
        if marks:
            node["marks"] = marks
        self._frames[-1].line.append(node)

    def flush(self) -> None:
        frame = self._frames[-1]
        line, frame.line = frame.line, []
        while line and line[-1]["type"] == "hardBreak":
            line.pop()
        if line and line[-1]["type"] == "text":
            line[-1]["text"] = line[-1]["text"].rstrip(" ")
        if any(node["type"] != "text" or node["text"] for node in line):
            frame.blocks.append({"type": "paragraph", "content": line})

    def finish(self) -> None:
        while len(self._frames) > 1:
            self._pop()
        self.flush()
        self._found.blocks = [_placed(block) for block in self._frames[0].blocks]


def _placed(block: Json) -> Json:
    """Wraps a list item or a table part that is outside of a list or table."""
    if block["type"] in {"listItem", "taskItem"}:
        kind = "bulletList" if block["type"] == "listItem" else "taskList"
        return {"type": kind, "content": [block]}
    if block["type"] in {"tableRow", "tableCell", "tableHeader"}:
        return {"type": "blockquote", "content": _blocks_of(block)}
    return block


def _blocks_of(block: Json) -> list[Json]:
    if block["type"] == "tableRow":
        cells = {"tableCell", "tableHeader"}
        # In a row there may also be what was in no cell.
        parts = [b["content"] if b["type"] in cells else [b] for b in block["content"]]
        return [inner for part in parts for inner in part]
    return list(block["content"])
