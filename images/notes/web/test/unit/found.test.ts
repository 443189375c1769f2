import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "prosemirror-model";
import { Finder, firstFrom } from "../../src/editor/found";
import { nodeFrom, schema } from "../../src/editor/schema";
import { docWith } from "./log_server";

const hits = (doc: Node, typed: string): string[] => {
  const found = new Finder().find(doc, typed);
  return found.flatMap((from, at) =>
    at % 2 ? [] : [`${from} ${doc.textBetween(from, found[at + 1] ?? from)}`],
  );
};

test("each hit is found with its place, whatever its case and accents", () => {
  const doc = nodeFrom(
    docWith("One two", "", "zwei Éte, ete e\u0301te\u0301 ETE", "ﬁne İzmir fine"),
  );
  assert.deepEqual(hits(doc, "one"), ["1 One"]);
  const third = 12;
  assert.deepEqual(hits(doc, "été"), [
    `${third + 5} Éte`,
    `${third + 10} ete`,
    `${third + 14} e\u0301te\u0301`,
    `${third + 20} ETE`,
  ]);
  assert.deepEqual(
    hits(doc, "fine").map((one) => one.split(" ")[1]),
    ["ﬁne", "fine"],
  );
  assert.deepEqual(
    hits(doc, "izmir").map((one) => one.split(" ")[1]),
    ["İzmir"],
  );
  assert.deepEqual(hits(doc, "two zwei"), []);
  assert.deepEqual(hits(doc, ""), []);
});

test("marks within a word, pictures before it and blocks within blocks do not hide a hit", () => {
  const { nodes } = schema;
  const bold = schema.text("ha", [schema.mark("bold")]);
  const text = (...parts: Node[]) => nodes.paragraph?.create(null, parts) as Node;
  const line = text(schema.node("hardBreak"), schema.text("x"), bold, schema.text("rvest"));
  const item = nodes.listItem?.create(null, [line]) as Node;
  const doc = schema.node("doc", null, [nodes.bulletList?.create(null, [item]) as Node]);
  assert.deepEqual(hits(doc, "harvest"), ["5 harvest"]);
});

test("a changed block is read again, the others are not", () => {
  const finder = new Finder();
  const doc = nodeFrom(docWith("same", "old"));
  assert.deepEqual(finder.find(doc, "old"), [7, 10]);
  const next = doc.replace(7, 10, nodeFrom(docWith("new old")).slice(1, 8));
  assert.deepEqual(finder.find(next, "old"), [11, 14]);
  const seen: Node[] = [];
  const { textBetween } = schema.nodes.paragraph?.create().constructor.prototype as Node;
  const block = next.child(0);
  block.textBetween = (...given) => {
    seen.push(block);
    return textBetween.apply(block, given);
  };
  finder.find(next, "same");
  assert.deepEqual(seen, []);
});

test("the search goes on at the first hit at or after a place, and around the end", () => {
  const found = [2, 4, 10, 12, 20, 22];
  assert.deepEqual(
    [0, 2, 3, 10, 11, 20, 21].map((place) => firstFrom(found, place)),
    [0, 0, 1, 1, 2, 2, 0],
  );
  assert.equal(firstFrom([], 5), 0);
});

test("two million characters are searched without a hit that is not there", () => {
  const doc = nodeFrom(
    docWith(...Array.from({ length: 10_000 }, (_, at) => `${"word ".repeat(40)}${at}`)),
  );
  const finder = new Finder();
  assert.equal(finder.find(doc, "word 9999").length, 2);
  assert.equal(finder.find(doc, "o").length, 2 * 400_000);
});
