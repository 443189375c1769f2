"""Documents of every shape that the schema allows, for hypothesis."""

from typing import Any

from hypothesis import strategies as st

from notes.doc.attributes import MARKS, Json

TRICKY = st.sampled_from(
    [*"\\`*_[]()<>&~|!#+-=.1)\"' \t", "**", "__", "~~", "``", "  ", "&amp;", "&#42;", "<b>", "</b>",
     "<br>", "1.", "- ", "> ", "# ", "[x] ", "[ ]", "![", "](", "---", "***", "```", "中",
     "é", "\u00a0", "\u2028", "http://a", "a_b", "\n", ":", "{", "^", "https://a.b/(c)", "www.a.b",
     "a@b.cd", "[^1]", "[^1]: ", "<!-- ", "-->", "<div>", "</div>", "<a b='", "'>", "<?", "?>", "~"]
)  # fmt: skip

TEXT = st.lists(TRICKY | st.text(max_size=3), min_size=1, max_size=6).map("".join)

MARK = st.sampled_from([m for m in MARKS if m != "link"]).map(lambda m: {"type": m}) | st.builds(
    lambda href, title: {"type": "link", "attrs": {"href": href, "title": title}},
    st.sampled_from(
        [
            "/p/1",
            "https://a.example/x(y)_*&copy;=1",
            "#a",
            "mailto:a@b.cd",
            "/ü b",
            "",
            "x:y",
            "http://www.a.b",
            "http://a",
        ]
    ),
    st.none() | TEXT,
)

INLINE = st.one_of(
    st.builds(
        lambda text, marks: {"type": "text", "text": text, "marks": marks},
        TEXT,
        st.lists(MARK, max_size=3),
    ),
    st.builds(
        lambda kind, marks: {"type": kind, "marks": marks},
        st.sampled_from(["hardBreak", "softBreak"]),
        st.lists(MARK, max_size=2),
    ),
    st.builds(
        lambda alt, title, marks: {
            "type": "image",
            "attrs": {"src": "/api/v1/attachments/1", "alt": alt, "title": title},
            "marks": marks,
        },
        TEXT,
        st.none() | TEXT,
        st.lists(MARK, max_size=2),
    ),
    st.builds(
        lambda source, marks: {"type": "htmlInline", "attrs": {"html": source}, "marks": marks},
        st.sampled_from(
            ["<x>", "</x>", "<u>", "</u>", "<b>", "</b>", "<strong>", "</strong>", "<div>", "<br/>",
             "<!-- a|b\n# c -->", "<?a ?>", "<!A b>", "<![CDATA[ ]]>", "<a href='|`*'>", "no tag",
             "<x> <y>", "<? a ?> b ?>", "<code>", "</code>", "<script>"]
        ),
        st.lists(MARK, max_size=2),
    ),
    st.builds(
        lambda label, marks: {
            "type": "footnoteReference", "attrs": {"label": label}, "marks": marks
        },
        st.sampled_from(["1", "A", "é*_", "none"]),
        st.lists(MARK, max_size=2),
    ),
)  # fmt: skip

LINE = st.lists(INLINE, max_size=5)

CODE = st.lists(TRICKY | st.text(max_size=5) | st.just("\n"), max_size=6).map("".join)


def node(kind: str, content: Any, **attrs: Any) -> Json:
    return {"type": kind, "content": content, "attrs": attrs}


LEAF = st.one_of(
    LINE.map(lambda line: node("paragraph", line)),
    st.builds(lambda line, level: node("heading", line, level=level), LINE, st.integers(1, 6)),
    st.builds(
        lambda text, lang: node("codeBlock", [{"type": "text", "text": text}], language=lang),
        CODE,
        st.sampled_from([None, "python", "c++", "a b`", "\\&amp;~", ";ü"]),
    ),
    st.builds(
        lambda parts: node("htmlBlock", [{"type": "text", "text": "".join(parts)}]),
        st.lists(
            st.sampled_from(
                [
                    "<div>",
                    "</div>",
                    "<!--",
                    "-->",
                    "<script",
                    ">",
                    "</script>",
                    "<?",
                    "?>",
                    "<x>",
                    "<![CDATA[",
                    "]]>",
                    "<!A",
                    "\n",
                    "\n\n",
                    "\n \n",
                    "  ",
                    "\t",
                    "# a",
                    "- b",
                    "> c",
                    "```",
                    "text",
                    "<pre>",
                    "</style>",
                ]
            ),
            max_size=6,
        ),
    ),
    st.just({"type": "horizontalRule"}),
    st.lists(
        st.lists(
            st.builds(
                lambda line, align: node("tableCell", [node("paragraph", line)], align=align),
                LINE,
                st.sampled_from([None, "left", "center", "right"]),
            ),
            min_size=1,
            max_size=3,
        ).map(lambda cells: node("tableRow", cells)),
        min_size=1,
        max_size=3,
    ).map(lambda rows: node("table", rows)),
)


def _lists(blocks: st.SearchStrategy[list[Json]]) -> st.SearchStrategy[Json]:
    items = st.lists(
        st.builds(
            lambda b, c: node("listItem", b, checked=c),
            blocks,
            st.sampled_from([None, None, True, False]),
        ),
        min_size=1,
        max_size=3,
    )
    tasks = st.lists(
        st.builds(lambda b, c: node("taskItem", b, checked=c), blocks, st.booleans()),
        min_size=1,
        max_size=3,
    )
    return st.one_of(
        items.map(lambda i: node("bulletList", i)),
        st.builds(lambda i, s: node("orderedList", i, start=s), items, st.sampled_from([0, 1, 7])),
        tasks.map(lambda i: node("taskList", i)),
        blocks.map(lambda b: node("blockquote", b)),
    )


BLOCK = st.recursive(LEAF, lambda inner: _lists(st.lists(inner, max_size=3)), max_leaves=8)

NOTES = st.lists(
    st.builds(
        lambda label, blocks: node("footnote", blocks, label=label),
        st.sampled_from(["1", "a", "é*_", "unused"]),
        st.lists(BLOCK, max_size=3),
    ),
    max_size=3,
    unique_by=lambda note: str(note["attrs"]["label"]),
)

DOC = st.builds(lambda b, notes: node("doc", [*b, *notes]), st.lists(BLOCK, max_size=4), NOTES)
