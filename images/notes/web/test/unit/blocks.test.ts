import assert from "node:assert/strict";
import { test } from "node:test";
import { EditorState, TextSelection } from "prosemirror-state";
import { bare, linkTyped } from "../../src/editor/linked";
import { moveBlocks } from "../../src/editor/move";
import { docOf, nodeFrom } from "../../src/editor/schema";
import type { Doc, DocNode } from "../../src/doc/types";

const p = (text: string): DocNode => ({
  type: "paragraph",
  ...(text ? { content: [{ type: "text", text }] } : {}),
});
const item = (...content: DocNode[]): DocNode => ({ type: "listItem", content });
const list = (...content: DocNode[]): DocNode => ({ type: "bulletList", content });
const texts = (node: DocNode): string =>
  node.text ?? `${(node.content ?? []).map(texts).join(node.type === "paragraph" ? "" : "|")}`;

/** The state with the caret (or a selection) at texts that occur once. */
function at(content: DocNode[], from: string, to = from): EditorState {
  const doc = nodeFrom({ type: "doc", content } as Doc);
  const places = [from, to].map((text) => {
    let found = -1;
    doc.descendants((node, pos) => {
      if (node.isText && node.text?.includes(text)) found = pos + node.text.indexOf(text);
    });
    return found;
  }) as [number, number];
  const state = EditorState.create({ doc });
  return state.apply(state.tr.setSelection(TextSelection.create(doc, ...places)));
}

function moved(state: EditorState, step: -1 | 1): { text: string; caret: string } | undefined {
  let next: EditorState | undefined;
  moveBlocks(step)(state, (tr) => {
    next = state.apply(tr);
  });
  if (!next) return undefined;
  next.doc.check();
  return {
    text: texts(docOf(next.doc)),
    caret: next.doc.textBetween(next.selection.from, next.selection.from + 1),
  };
}

test("a block moves up and down, with its caret, and not beyond the ends", () => {
  const three = [p("one"), p("two"), p("three")];
  assert.deepEqual(moved(at(three, "wo"), -1), { text: "two|one|three", caret: "w" });
  assert.deepEqual(moved(at(three, "wo"), 1), { text: "one|three|two", caret: "w" });
  assert.equal(moved(at(three, "ne"), -1), undefined);
  assert.equal(moved(at(three, "hree"), 1), undefined);
});

test("several blocks move together", () => {
  const four = [p("one"), p("two"), p("three"), p("four")];
  assert.deepEqual(moved(at(four, "wo", "hree"), 1), { text: "one|four|two|three", caret: "w" });
  assert.deepEqual(moved(at(four, "wo", "hree"), -1), { text: "two|three|one|four", caret: "w" });
});

test("an item moves among the items of its list, with what is in it", () => {
  const items = [list(item(p("a")), item(p("b"), list(item(p("c")))), item(p("d")))];
  assert.deepEqual(moved(at(items, "b"), -1), { text: "b|c|a|d", caret: "b" });
  assert.deepEqual(moved(at(items, "b"), 1), { text: "a|d|b|c", caret: "b" });
});

test("an address before a space becomes a link, without the signs of its sentence", () => {
  const linked = (text: string): unknown => {
    const doc = nodeFrom({ type: "doc", content: [p(text)] } as Doc);
    const state = EditorState.create({ doc });
    const tr = linkTyped(state, [] as unknown as RegExpMatchArray, 0, doc.content.size - 1);
    if (!tr) return undefined;
    const made = docOf(tr.doc).content[0]?.content ?? [];
    return made.filter((one) => one.marks).map((one) => [one.text, one.marks?.[0]?.attrs?.href]);
  };
  assert.deepEqual(linked("see https://a.example/x?y=1."), [
    ["https://a.example/x?y=1", "https://a.example/x?y=1"],
  ]);
  assert.deepEqual(linked("(https://a.example/b)"), [
    ["https://a.example/b", "https://a.example/b"],
  ]);
  assert.equal(linked("nohttps://a.example"), undefined);
  assert.equal(linked("https://"), undefined);
  assert.equal(linked("javascript:alert(1)"), undefined);
  assert.equal(bare("https://a.example/wiki/A_(b)"), "https://a.example/wiki/A_(b)");
});
