/** What a change of one block is counted as, compared with a count of the whole document. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "prosemirror-model";
import { beyond, weigh } from "../../src/editor/limits";
import { schema } from "../../src/editor/schema";

const text = (words: string) => ({ type: "text", text: words });
const paragraph = (words: string) => ({ type: "paragraph", content: [text(words)] });
const quote = (depth: number): object =>
  depth ? { type: "blockquote", content: [quote(depth - 1)] } : paragraph("deep");
const picture = (src: string) => ({
  type: "paragraph",
  content: [{ type: "image", attrs: { src } }],
});
const doc = (...content: object[]): Node => schema.nodeFromJSON({ type: "doc", content });

/** The weight of an equal document of which nothing is known yet. */
const afresh = (node: Node) => weigh(schema.nodeFromJSON(node.toJSON()));

const blocks = [
  ...[
    paragraph("a"),
    paragraph("another one"),
    quote(3),
    quote(1),
    picture("https://a.example/x.png"),
  ],
  { type: "footnote", attrs: { label: "1" }, content: [paragraph("note")] },
  { type: "footnote", attrs: { label: "2" }, content: [paragraph("a longer note")] },
];

/** The document with one block replaced; all others are the same ones. */
const replaced = (node: Node, at: number, block: object): Node =>
  node.copy(node.content.replaceChild(at, schema.nodeFromJSON(block)));

test("each block in place of each other one counts as in a new document", () => {
  const before = doc(...blocks);
  for (const at of blocks.keys()) {
    for (const block of blocks) {
      const after = replaced(before, at, block);
      beyond(before, after);
      assert.deepEqual(weigh(after), afresh(after), `${at}: ${JSON.stringify(block)}`);
    }
  }
});

test("several changed blocks, more and fewer count as in a new document", () => {
  const before = doc(...blocks);
  const others = [
    replaced(replaced(before, 0, quote(4)), 2, paragraph("flat")),
    before.copy(before.content.cut(before.child(0).nodeSize)),
    before.copy(before.content.addToEnd(schema.nodeFromJSON(quote(5)))),
  ];
  for (const after of others) {
    beyond(before, after);
    assert.deepEqual(weigh(after), afresh(after));
  }
});

test("many keys in one block are counted one after the other", () => {
  let now = doc(paragraph("x"), quote(2), paragraph("y"));
  for (let key = 0; key < 50; key += 1) {
    const after = replaced(now, 0, key % 7 ? paragraph("x".repeat(key + 1)) : quote(key % 5));
    beyond(now, after);
    now = after;
  }
  assert.deepEqual(weigh(now), afresh(now));
});

test("the block that goes beyond a limit is named", () => {
  const before = doc(paragraph("x"), paragraph("y"));
  assert.equal(beyond(before, replaced(before, 1, paragraph("z".repeat(2_000_001)))), "text");
  assert.equal(beyond(before, replaced(before, 1, quote(40))), "levels");
  assert.equal(beyond(before, replaced(before, 1, paragraph("z"))), undefined);
});
