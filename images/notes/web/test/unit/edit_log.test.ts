import assert from "node:assert/strict";
import { test } from "node:test";
import type { Edit } from "../../src/api/types";
import { EditLog } from "../../src/sync/edit_log";
import type { Doc } from "../../src/doc/types";

const line = (text: string) => ({ type: "paragraph", content: [{ type: "text", text }] });
const start = (): EditLog =>
  new EditLog({
    seq: 4,
    id: "four",
    version: 1,
    title: "T",
    doc: { type: "doc", content: [line("one"), line("two")] } as Doc,
  });
const typed = (seq: number, at: number, text: string): Edit => ({
  seq,
  id: String(seq),
  client: null,
  n: null,
  author_id: null,
  at: "",
  title: null,
  steps: [{ stepType: "replace", from: at, to: at, slice: { content: [{ type: "text", text }] } }],
});
const text = (log: EditLog): string =>
  log.doc.content.map((block) => block.content?.[0]?.text ?? "").join("|");

test("edits are applied in order, and blocks that they do not touch stay the same objects", () => {
  const log = start();
  const before = log.doc.content;
  assert.ok(log.take([typed(5, 1, "a"), { ...typed(6, 2, "b"), title: "New" }]));
  assert.equal(text(log), "abone|two");
  assert.deepEqual([log.seq, log.id, log.title], [6, "6", "New"]);
  assert.notEqual(log.doc.content[0], before[0]);
  assert.equal(log.doc.content[1], before[1]);
});

test("what cannot be applied changes nothing", () => {
  for (const wrong of [
    typed(7, 1, "a gap"),
    typed(6, 1_000, "beyond the end"),
    { ...typed(6, 1, ""), steps: [{ stepType: "unknown" }] },
    { ...typed(6, 1, ""), steps: null },
  ]) {
    const log = start();
    assert.equal(log.take([typed(5, 1, "x"), wrong]), false);
    assert.deepEqual([text(log), log.seq, log.id], ["one|two", 4, "four"]);
  }
});
