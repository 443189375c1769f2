"""Random documents and steps, from a seed: most of the steps apply, some cannot."""

import random
from typing import Any

from notes.doc.attributes import MARKS, Json
from notes.steps.model import Node, Slice, StepError
from notes.steps.places import Place, slice_of
from notes.steps.reading import document
from notes.steps.schema import BLOCKS

LETTERS = "abc äß中🙂𝔸 "
_LISTS = {"bulletList": "listItem", "orderedList": "listItem", "taskList": "taskItem"}


class Chance:
    """Makes documents and steps from a random number generator."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def doc(self, blocks: int = 5) -> Json:
        content = [self.block(0) for _ in range(self.random.randint(1, blocks))]
        notes = [
            self._node("footnote", self._item(2), {"label": f"n{at}"})
            for at in range(self.random.choice((0, 0, 0, 1, 2)))
        ]
        return {"type": "doc", "content": content + notes}

    def _node(self, kind: str, content: list[Json], attrs: Json | None = None) -> Json:
        made: Json = {"type": kind}
        if attrs:
            made["attrs"] = attrs
        if content:
            made["content"] = content
        return made

    def block(self, depth: int) -> Json:
        kinds = [kind for kind in BLOCKS if depth < 3 or kind in {"paragraph", "heading"}]
        kind = self.random.choice([*kinds, "paragraph", "paragraph", "paragraph"])
        attrs: Json = {}
        if kind == "heading":
            attrs = {"level": self.random.randint(1, 6)}
        if kind in {"paragraph", "heading"}:
            return self._node(kind, self.line(), attrs)
        if kind in _LISTS:
            items = [self.item(_LISTS[kind], depth) for _ in range(self.random.randint(1, 3))]
            start = {"start": self.random.randint(0, 9)} if kind == "orderedList" else None
            return self._node(kind, items, start)
        if kind == "blockquote":
            return self._node(
                kind, [self.block(depth + 1) for _ in range(self.random.randint(1, 2))]
            )
        if kind in {"codeBlock", "htmlBlock"}:
            text = self.text()
            language = (
                {"language": "py"} if kind == "codeBlock" and self.random.random() < 0.5 else {}
            )
            return self._node(kind, [{"type": "text", "text": text}] if text else [], language)
        if kind == "table":
            width = self.random.randint(1, 3)
            rows = [self._row(width, is_head=at == 0) for at in range(self.random.randint(1, 3))]
            return self._node(kind, rows)
        return self._node(kind, [])

    def item(self, kind: str, depth: int) -> Json:
        attrs = {"checked": self.random.random() < 0.5} if kind == "taskItem" else None
        return self._node(kind, self._item(depth + 1), attrs)

    def _item(self, depth: int) -> list[Json]:
        more = [self.block(depth) for _ in range(self.random.choice((0, 0, 1)))]
        return [self._node("paragraph", self.line()), *more]

    def _row(self, width: int, *, is_head: bool) -> Json:
        kind = "tableHeader" if is_head else "tableCell"
        attrs = {"align": "center"} if self.random.random() < 0.3 else None
        cells = [
            self._node(kind, [self._node("paragraph", self.line())], attrs) for _ in range(width)
        ]
        return self._node("tableRow", cells)

    def text(self) -> str:
        return "".join(self.random.choice(LETTERS) for _ in range(self.random.randint(0, 6)))

    def mark(self) -> Json:
        kind = self.random.choice(MARKS)
        if kind != "link":
            return {"type": kind}
        return {"type": kind, "attrs": {"href": self.random.choice(("/a", "https://b.example/"))}}

    def line(self) -> list[Json]:
        found = list[Json]()
        for _ in range(self.random.randint(0, 4)):
            kind = self.random.choice(("text", "text", "text", "hardBreak", "softBreak", "image",
                                       "htmlInline", "footnoteReference"))  # fmt: skip
            node: Json = {"type": kind}
            if kind == "text":
                node["text"] = self.text() or "x"
            elif kind == "image":
                node["attrs"] = {"src": "/p.png", "alt": "p"}
            elif kind == "htmlInline":
                node["attrs"] = {"html": "<kbd>"}
            elif kind == "footnoteReference":
                node["attrs"] = {"label": "n0"}
            marks = {
                m["type"]: m for m in (self.mark() for _ in range(self.random.choice((0, 0, 1, 2))))
            }
            if marks:
                node["marks"] = sorted(marks.values(), key=lambda m: MARKS.index(m["type"]))
            is_next = found and found[-1]["type"] == kind == "text"
            if not (is_next and found[-1].get("marks") == node.get("marks")):
                found.append(node)
        return found

    def _at(self, doc: Node) -> int:
        """A position, rather often between blocks, never within a character."""
        while True:
            at = self.random.randint(0, doc.content_size)
            place = Place(doc, at)
            if place.text_offset:
                try:
                    _ = place.text_before
                except StepError:
                    continue
            return at

    def _range(self, doc: Node) -> tuple[int, int]:
        first, last = sorted((self._at(doc), self._at(doc)))
        if self.random.random() < 0.5:
            last = next(
                (at for at in range(min(first + self.random.randint(0, 4), last), last)
                 if self._is_whole(doc, at)), last)  # fmt: skip
        return first, last

    def _is_whole(self, doc: Node, at: int) -> bool:
        try:
            place = Place(doc, at)
            _ = place.text_before if place.text_offset else None
        except StepError:
            return False
        return True

    def _span(self, doc: Node) -> tuple[int, int, Node]:
        """A range of whole nodes next to each other, with their parent."""
        place = Place(doc, self._at(doc))
        depth = self.random.randint(0, place.depth)
        parent = place.node(depth)
        start = place.start(depth)
        if not parent.content or parent.content[0].kind.is_inline:
            return start, start, parent
        first = self.random.randrange(len(parent.content))
        last = self.random.randint(first, min(first + 2, len(parent.content) - 1))
        begin = start + sum(node.size for node in parent.content[:first])
        return begin, begin + sum(node.size for node in parent.content[first : last + 1]), parent

    def _slice(self, doc: Node) -> Slice:
        source = doc if self.random.random() < 0.5 else document(self.doc(2))
        return slice_of(source, *self._range(source))

    def step(self, doc: Node) -> Json:
        """A step for a document, as an editor sends it; it may not apply."""
        kinds: list[Any] = [self._typing, self._typing, self._deleting, self._pasting,
                            self._wrapping, self._lifting, self._marking, self._setting,
                            self._marking_node, self._blocks, self._splitting]  # fmt: skip
        made: Json = self.random.choice(kinds)(doc)
        return made

    def _typing(self, doc: Node) -> Json:
        at = self._at(doc)
        end = at
        place = Place(doc, at)
        text: Json = {"type": "text", "text": self.text() or "y"}
        if place.text_offset and self.random.random() < 0.7:
            marks = [mark.json for mark in place.text_before.marks]
            text |= {"marks": marks} if marks else {}
        return {"stepType": "replace", "from": at, "to": end, "slice": {"content": [text]}}

    def _deleting(self, doc: Node) -> Json:
        begin, end = self._range(doc)
        return {"stepType": "replace", "from": begin, "to": end}

    def _pasting(self, doc: Node) -> Json:
        begin, end = self._range(doc)
        made = {"stepType": "replace", "from": begin, "to": end, "slice": self._slice(doc).json}
        return made | ({"structure": True} if self.random.random() < 0.1 else {})

    def _blocks(self, doc: Node) -> Json:
        begin, end, _ = self._span(doc)
        part = {"content": [self.block(1) for _ in range(self.random.randint(1, 2))]}
        return {"stepType": "replace", "from": begin, "to": end, "slice": part}

    def _splitting(self, doc: Node) -> Json:
        at = self._at(doc)
        place = Place(doc, at)
        depth = min(place.depth, self.random.randint(1, 2))
        before, after = list[Json](), list[Json]()
        for level in range(place.depth, place.depth - depth, -1):
            empty = Node(place.node(level).kind, place.node(level).attrs).json
            before = [empty | ({"content": before} if before else {})]
            after = [empty | ({"content": after} if after else {})]
        part = {"content": before + after, "openStart": depth, "openEnd": depth}
        made: Json = {"stepType": "replace", "from": at, "to": at, "slice": part}
        return made | ({"structure": True} if self.random.random() < 0.5 else {})

    def _wrapping(self, doc: Node) -> Json:
        begin, end, _ = self._span(doc)
        kind = self.random.choice(("blockquote", *_LISTS, "heading"))
        node: Json = {"type": kind}
        insert = 1
        if kind in _LISTS:
            node["content"] = [{"type": _LISTS[kind]}]
            insert = 2
        made = {"stepType": "replaceAround", "from": begin, "to": end, "gapFrom": begin,
                "gapTo": end, "slice": {"content": [node]}, "insert": insert}  # fmt: skip
        if kind == "heading" and end - begin >= 2:  # changes the block's type
            made |= {"gapFrom": begin + 1, "gapTo": end - 1}
        return made | {"structure": self.random.random() < 0.8}

    def _lifting(self, doc: Node) -> Json:
        begin, end, _ = self._span(doc)
        more = self.random.randint(1, 2)
        return {"stepType": "replaceAround", "from": max(0, begin - more), "gapFrom": begin,
                "gapTo": end, "to": min(doc.content_size, end + more), "insert": 0,
                "structure": True}  # fmt: skip

    def _marking(self, doc: Node) -> Json:
        begin, end = self._range(doc)
        kind = self.random.choice(("addMark", "removeMark"))
        made = {"stepType": kind, "from": begin, "to": end, "mark": self.mark()}
        return made if self.random.random() < 0.9 else {"stepType": "markSet", "steps": [made]}

    def _node_at(self, doc: Node) -> tuple[int, Node] | None:
        for _ in range(20):
            at = self._at(doc)
            place = Place(doc, at)
            index = place.index(place.depth)
            if place.text_offset or index >= len(place.parent.content):
                continue
            if not place.parent.content[index].kind.is_text:
                return at, place.parent.content[index]
        return None

    def _marking_node(self, doc: Node) -> Json:
        found = self._node_at(doc)
        kind = self.random.choice(("addNodeMark", "removeNodeMark"))
        return {
            "stepType": kind,
            "pos": found[0] if found else doc.content_size,
            "mark": self.mark(),
        }

    def _setting(self, doc: Node) -> Json:
        found = self._node_at(doc)
        if found is None or not found[1].kind.attributes:
            return self._deleting(doc)
        name = self.random.choice(list(found[1].kind.attributes))
        values: dict[str, Any] = {"level": 3, "start": 7, "checked": True, "language": "js",
                                  "src": "/q", "alt": None, "title": "t", "html": "<u>",
                                  "label": "n1", "align": "left"}  # fmt: skip
        return {"stepType": "attr", "pos": found[0], "attr": name, "value": values[name]}
