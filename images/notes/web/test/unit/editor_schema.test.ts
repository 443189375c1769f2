import assert from "node:assert/strict";
import { test } from "node:test";
import { addressFor } from "../../src/doc/address";
import type { Doc } from "../../src/doc/types";
import { docOf, nodeFrom, schema } from "../../src/editor/schema";
import golden from "../golden/documents.json";

for (const { name, doc } of golden as unknown as { name: string; doc: Doc }[]) {
  test(`the editor returns the document that it was given: ${name}`, () => {
    const node = nodeFrom(doc);
    node.check();
    assert.deepEqual(docOf(node), doc);
  });
}

test("where a place has to be filled, the editor takes a paragraph", () => {
  for (const name of ["doc", "blockquote", "listItem", "taskItem", "tableCell"]) {
    const made = schema.nodes[name]?.createAndFill();
    assert.equal(made?.firstChild?.type.name, "paragraph", name);
  }
});

test("an address that could run code is none", () => {
  for (const url of ["javascript:x", " JaVa\nScript:x", "data:text/html,x", "vbscript:x", "", " "])
    assert.equal(addressFor(url), undefined, url);
  assert.equal(addressFor("https://a.example/a b<c>"), "https://a.example/a%20b%3Cc%3E");
  assert.equal(addressFor(`/${"x".repeat(4000)}`), undefined);
});
