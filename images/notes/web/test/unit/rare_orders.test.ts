// Rare orders of answers, refusals and failovers in which a session must neither lose nor double an edit.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../src/api/client";
import { doubtsOf } from "../../src/editor/places";
import { nodeFrom } from "../../src/editor/schema";
import { Session } from "../../src/editor/session";
import { docWith, open, outside, Server, settled, text, type } from "./log_server";

const tick = () => new Promise((done) => setTimeout(done, 5));

/** As `edits/missed.py`: edits that were deleted by age, and the base that goes with them, are not kept. */
function pruned(server: Server, upTo: number) {
  const real = server.since.bind(server);
  server.since = (seq, id) => {
    const found = real(seq, id);
    if (seq === server.seq) return { ...found, is_known: id === server.id };
    if (seq <= upTo) throw new ApiError(410, "not kept");
    return found;
  };
}

test("edits that were deleted by age are not sent again", async () => {
  const server = new Server(docWith("one", "two"));
  const a = open(server, "a");
  for (const word of ["first ", "second "]) {
    type(a, 1, word);
    await settled(a);
  }
  pruned(server, 2);
  await a.check();
  await tick();
  assert.equal(text(server.doc), "second first one|two", "nobody writes: nothing happens");
  const b = open(server, "b");
  type(b, b.state.doc.content.size - 1, " theirs");
  await settled(b);
  await a.check();
  await settled(a);
  assert.equal(text(server.doc), "second first one|two theirs");
});

test("an edit without an answer is there once after it was deleted by age", async () => {
  const server = new Server(docWith("one"));
  const a = open(server, "a");
  server.fail = ["after", ...Array<"before">(9_999).fill("before")];
  type(a, 1, "mine ");
  while (server.seq < 1) await tick();
  a.stop();
  server.fail = [];
  type(a, 6, "more ");
  await tick();
  const draft = server.stored.get("a");
  assert.ok(draft?.sending);
  const b = open(server, "b");
  type(b, b.state.doc.content.size - 1, " theirs");
  await settled(b);
  pruned(server, server.seq);
  const back = Session.resume(draft, outside(server));
  back.start();
  await settled(back);
  assert.equal(text(server.doc), "mine more one theirs");
});

test("accepted words of a browser without room survive a failover", async () => {
  const server = new Server(docWith("one"));
  const a = open(server, "a");
  const { keep } = a.outside;
  let isFull = false;
  a.outside.keep = async (keeping) => {
    if (isFull && keeping.fresh.length) throw new DOMException("no room", "QuotaExceededError");
    return keep(keeping);
  };
  type(a, 1, "kept ");
  await settled(a);
  isFull = true;
  type(a, 1, "accepted ");
  await settled(a);
  isFull = false;
  assert.equal(a.saving, "saved");
  server.lose(1);
  await a.check();
  await settled(a);
  const all =
    text(server.doc) +
    doubtsOf(a.state)
      .map((one) => one.mine)
      .join();
  assert.match(all, /accepted/);
});

test("a late answer of the live document doubles no edit", async () => {
  const server = new Server(docWith("one", "two"));
  const a = open(server, "a");
  type(a, 1, "x");
  await settled(a);
  // Somebody restores a version of a large page: an edit without steps.
  server.doc = nodeFrom(docWith("xone", "two", "more"));
  server.docs.push(server.doc);
  const replaced = { id: "replaced", client: null, n: null, author_id: null, at: "" };
  server.edits.push({ ...replaced, seq: 2, steps: null, title: null });
  const { live, send } = a.outside;
  let answer = (): void => undefined;
  let asked = 0;
  a.outside.live = async (page) => {
    asked += 1;
    const found = await live(page);
    if (asked > 1) return found;
    return new Promise((done) => {
      answer = () => done(found);
    });
  };
  const heard = a.check();
  await tick();
  type(a, 1, "A");
  while (server.edits.length < 3) await tick();
  await tick();
  // The next request is accepted, and its answer on its way.
  let go = (): void => undefined;
  const held = new Promise<void>((done) => {
    go = done;
  });
  let isHeld = true;
  a.outside.send = async (...given) => {
    const found = await send(...given);
    if (isHeld) await held;
    return found;
  };
  type(a, 1, "B");
  while (server.edits.length < 4) await tick();
  isHeld = false;
  answer();
  await heard;
  go();
  await settled(a);
  await a.check();
  await settled(a);
  assert.deepEqual([text(server.doc), text(a.state.doc)], Array(2).fill("BAxone|two|more"));
});

test("of two accepted titles that a failover loses, the later one stays", async () => {
  const server = new Server(docWith("one"));
  const [a, b] = [open(server, "a"), open(server, "b")];
  a.rename("X");
  await settled(a);
  await b.hear(server.seq, server.id);
  b.rename("Y");
  await settled(b);
  await a.hear(server.seq, server.id);
  assert.deepEqual([a.title, b.title], ["Y", "Y"]);
  server.lose(0);
  await b.check();
  await settled(b);
  await a.check();
  await settled(a);
  await b.check();
  assert.deepEqual([server.edits.map((one) => one.title), a.title, b.title], [["Y"], "Y", "Y"]);
});

test("two people who type at one place do not cut each other's words", async () => {
  const server = new Server(docWith("one"));
  const [a, b] = [open(server, "a"), open(server, "b")];
  type(b, 1, "hel");
  await settled(b);
  await a.hear(server.seq, server.id);
  // a types where b's caret is, and b goes on before hearing of it
  type(a, 4, "world");
  await settled(a);
  type(b, 4, "l");
  type(b, 5, "o");
  await settled(b);
  await a.check();
  assert.deepEqual([text(server.doc), text(a.state.doc)], Array(2).fill("helloworldone"));
});
