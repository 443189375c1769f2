import assert from "node:assert/strict";
import { test } from "node:test";
import { Fragment, Slice } from "prosemirror-model";
import { EditorState } from "prosemirror-state";
import type { Decoration, DecorationSet } from "prosemirror-view";
import { ReplaceStep } from "prosemirror-transform";
import type { CaretOf } from "../../src/api/types";
import { caretOf, carets, meet } from "../../src/editor/carets";
import { nodeFrom, schema } from "../../src/editor/schema";
import { accept, receive, unsent } from "../../src/editor/unsent";
import type { Doc } from "../../src/doc/types";

const plugin = carets(4, () => undefined);
const doc = {
  type: "doc",
  content: ["one", "two"].map((text) => ({
    type: "paragraph",
    content: [{ type: "text", text }],
  })),
} as Doc;
const opened = (): EditorState =>
  EditorState.create({ schema, doc: nodeFrom(doc), plugins: [unsent(), plugin] });
const bob = (anchor: number, head = anchor, seq = 4): CaretOf => ({
  ...{ id: "b0b", name: "Bob", seq, anchor, head },
});
const told = (state: EditorState, ...all: CaretOf[]): EditorState => state.apply(meet(state, all));
/** Where carets are drawn: places of carets, and from-to of selections. */
const drawn = (state: EditorState): string =>
  (plugin.props.decorations?.call(plugin, state) as DecorationSet)
    .find()
    .map((one: Decoration) => (one.from === one.to ? `${one.from}` : `${one.from}-${one.to}`))
    .join(" ");
const typed = (text: string, at: number): ReplaceStep =>
  new ReplaceStep(at, at, new Slice(Fragment.from(schema.text(text)), 0, 0));

test("a caret stays at its place while others write, and moves with what its own person writes", () => {
  let state = told(opened(), bob(3, 7));
  assert.equal(drawn(state), "3-7 7");
  state = state.apply(state.tr.insertText("xx", 1));
  assert.equal(drawn(state), "5-9 9");
  state = told(state, bob(1));
  assert.equal(drawn(state), "1", "what is typed at a caret comes after it");
  state = state.apply(receive(state, [typed("bob ", 1)], { seq: 5, author: "b0b" }).tr);
  assert.equal(state.doc.textContent, "xxbob onetwo");
  assert.equal(drawn(state), "7", "their text is behind the own text, with their caret");
  state = state.apply(accept(state, 1, { seq: 6, author: "ada" }));
  assert.equal(drawn(state), "7");
});

test("a caret that comes late or early is drawn when its edit is known", () => {
  let state = told(opened(), bob(6, 6, 5));
  assert.equal(drawn(state), "", "the edit before it is not known yet");
  state = state.apply(receive(state, [typed("new ", 1)], { seq: 5, author: "ada" }).tr);
  assert.equal(drawn(state), "6");
  state = told(state, bob(2, 2, 4));
  assert.equal(drawn(state), "6", "after the edit that its person did not know");
  assert.equal(drawn(told(state, bob(2, 2, 1))), "", "too old");
  state = state.apply(receive(state, [], { seq: 9, author: null }).tr);
  assert.equal(drawn(state), "6", "the page was read as a whole");
});

test("a place that nobody has harms nothing", () => {
  const state = opened();
  const odd = [0, 5, 10, 11, 2 ** 31 - 1, -7, Number.NaN, 1.5, Number.POSITIVE_INFINITY];
  for (const one of odd) for (const two of odd) drawn(told(state, bob(one, two), bob(2)));
  assert.equal(drawn(told(state, bob(5))), "6", "between two blocks it is drawn in one of them");
  assert.equal(drawn(told(state, bob(2 ** 31 - 1))), "9");
  assert.equal(drawn(told(state, bob(Number.NaN), bob(2))), "2", "the other one is drawn");
});

test("the own caret is told as a place in what the server has", () => {
  let state = opened();
  state = state.apply(state.tr.insertText("xx", 1));
  assert.deepEqual(caretOf(state), { seq: 4, anchor: 1, head: 1 });
  state = state.apply(accept(state, 1, { seq: 5, author: "ada" }));
  assert.deepEqual(caretOf(state), { seq: 5, anchor: 3, head: 3 });
});
