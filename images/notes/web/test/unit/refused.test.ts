// What the server refuses of an editor, and what others do under an editor's name: the rest has to go on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fragment, type Node } from "prosemirror-model";
import { ApiError } from "../../src/api/client";
import { relabelled } from "../../src/editor/pasted";
import { doubtsOf } from "../../src/editor/places";
import { nodeFrom, schema } from "../../src/editor/schema";
import type { Batch } from "../../src/sync/stored";
import { docWith, open, Server, settled, text, type } from "./log_server";

const tick = () => new Promise((done) => setTimeout(done, 5));
const written = (batch: Batch): string => JSON.stringify(batch.steps);

/** A server that refuses requests for a reason. */
function refusing(server: Server, status: number, isRefused: (batch: Batch) => boolean): void {
  const real = server.post.bind(server);
  server.post = (client, batch, author) => {
    if (isRefused(batch)) throw new ApiError(status, "steps[0]: refused");
    return real(client, batch, author);
  };
}

async function refused(session: { saving: string }): Promise<void> {
  for (let n = 0; n < 200 && session.saving !== "refused"; n += 1) await tick();
  assert.equal(session.saving, "refused");
}

test("steps that are too large together are sent one after the other", async () => {
  const server = new Server(docWith("one", "two"));
  refusing(server, 413, (batch) => batch.steps.length > 1);
  const a = open(server, "a");
  type(a, 1, "first ");
  type(a, a.state.doc.content.size - 1, " last");
  await settled(a);
  assert.equal(text(server.doc), "first one|two last");
});

test("a change that the server refuses is left out by its person, and the rest is sent", async () => {
  const server = new Server(docWith("one", "two"));
  refusing(server, 422, (batch) => written(batch).includes("bad"));
  const a = open(server, "a");
  a.apply(a.state.tr.insertText("bad ", 1));
  type(a, a.state.doc.content.size - 1, " last");
  await refused(a);
  assert.equal(text(a.state.doc), "bad one|two last", "nothing is taken away by itself");
  assert.equal(server.seq, 0);
  assert.ok(a.isOne);
  a.leaveOut();
  await settled(a);
  assert.equal(text(server.doc), "one|two last");
  assert.ok(a.state.doc.eq(server.doc));
  const [doubt] = doubtsOf(a.state);
  assert.equal(doubt?.mine.map((node) => node.textContent).join(), "bad one");
  assert.equal(server.doubts.length, 1, "it is stored");
});

test("what was written into a change that is left out is in the list, too", async () => {
  const server = new Server(docWith("one", "two"));
  refusing(server, 422, (batch) => written(batch).includes("bad"));
  const a = open(server, "a");
  const paragraph = schema.node("paragraph", null, schema.text("bad"));
  a.apply(a.state.tr.insert(0, paragraph));
  await refused(a);
  type(a, 4, " and more");
  type(a, a.state.doc.content.size - 1, " last");
  a.leaveOut();
  await settled(a);
  assert.equal(text(server.doc), "one|two last");
  const mine = doubtsOf(a.state).flatMap((one) => one.mine.map((node) => node.textContent));
  assert.ok(
    mine.some((one) => one.includes("bad and more")),
    mine.join(),
  );
});

test("a mark that the server refuses is left out without a doubtful place", async () => {
  const server = new Server(docWith("one", "two"));
  refusing(server, 422, (batch) => written(batch).includes("addMark"));
  const a = open(server, "a");
  a.apply(a.state.tr.addMark(1, 3, schema.mark("bold")));
  await refused(a);
  a.leaveOut();
  await settled(a);
  assert.ok(a.state.doc.eq(server.doc));
  assert.equal(doubtsOf(a.state).length, 0);
});

test("an edit that another person sends under an editor's name is not its own", async () => {
  const server = new Server(docWith("one", "two"));
  const a = open(server, "a");
  type(a, 1, "first ");
  await settled(a);
  const { n = 0 } = server.edits[0] ?? {};
  // Just before the next edit of `a` arrives.
  const real = server.post.bind(server);
  let isForged = false;
  server.post = (client, batch, author) => {
    if (!isForged) {
      isForged = true;
      const steps = [{ stepType: "replace", from: 1, to: 1, slice: { content: [{ type: "text", text: "forged " }] } }]; // prettier-ignore
      real("a", { n: (n ?? 0) + 1, base_seq: server.seq, base_id: server.id, steps }, "mallory");
    }
    return real(client, batch, author);
  };
  type(a, a.state.doc.content.size - 1, " mine");
  await settled(a);
  assert.equal(text(server.doc), "forged first one|two mine");
  assert.ok(a.state.doc.eq(server.doc));
  // A failover loses the forged edit and what came after it: nobody sends another person's words again.
  server.lose(1);
  await a.check();
  await settled(a);
  assert.equal(text(server.doc), "first one|two mine");
});

const footnote = (label: string, words: string): Node =>
  schema.node("footnote", { label }, schema.node("paragraph", null, schema.text(words)));
const sign = (label: string): Node =>
  schema.node("paragraph", null, [schema.text("see"), schema.node("footnoteReference", { label })]);

test("pasted footnotes get labels that the page has not, and their signs with them", () => {
  const doc = schema.node("doc", null, [sign("1"), footnote("1", "old")]);
  const pasted = relabelled(Fragment.from([sign("1"), sign("x"), footnote("1", "new")]), doc);
  const labels: unknown[] = [];
  pasted.descendants((node) => {
    if (node.attrs.label) labels.push(node.attrs.label);
  });
  assert.deepEqual(labels, ["1-2", "x", "1-2"]);
  const alone = Fragment.from(sign("1"));
  assert.equal(relabelled(alone, doc), alone, "a sign alone means the footnote of the page");
});

test("what is pasted has no attribute that the server refuses", () => {
  const read = (name: string, at: number, dom: object): unknown =>
    schema.nodes[name]?.spec.parseDOM?.[at]?.getAttrs?.(dom as HTMLElement);
  const heading = (level?: string) => read("heading", 2, { tagName: "H3", dataset: { level } });
  for (const bad of ["2.1", "0", "7", "x", ""]) assert.deepEqual(heading(bad), { level: 3 });
  assert.deepEqual(heading("2"), { level: 2 });
  const list = (start: string) => read("orderedList", 0, { getAttribute: () => start });
  assert.deepEqual(list("99999999999999"), { start: 999_999_999 });
  assert.deepEqual(list("-3"), { start: 0 });
  assert.deepEqual(list("7"), { start: 7 });
  const label = (given: string) => read("footnoteReference", 0, { dataset: { label: given } });
  for (const bad of ["", "a b", "[x]", "a".repeat(61), "a\u200bb"]) assert.equal(label(bad), false);
  assert.deepEqual(label("note-1"), { label: "note-1" });
  const dom = {
    dataset: {},
    getAttribute: (name: string) => (name === "src" ? "/a.png" : "x".repeat(9_999) + "😀"),
  };
  const image = read("image", 0, dom) as { alt: string };
  assert.equal(image.alt, "x".repeat(9_999), "no half of a character is left");
  assert.ok(nodeFrom(docWith("x")));
});
