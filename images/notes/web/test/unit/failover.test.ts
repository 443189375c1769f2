import assert from "node:assert/strict";
import { test } from "node:test";
import { undo } from "prosemirror-history";
import { Keeper } from "../../src/editor/keeper";
import { decided, doubtsOf, mineOf, theirsOf } from "../../src/editor/places";
import { Session } from "../../src/editor/session";
import type { Keeping } from "../../src/sync/drafts";
import { docWith, open, outside, Server, settled, text, type } from "./log_server";

test("text whose place was deleted by somebody else is a doubtful place, until it is decided", async () => {
  for (const isMine of [true, false]) {
    const server = new Server(docWith("one", "two", "three"));
    const [a, b] = [open(server, "a"), open(server, "b")];
    b.apply(b.state.tr.delete(5, 10));
    await settled(b);
    type(a, 7, "words");
    await settled(a);
    assert.equal(text(server.doc), "one|three");
    assert.equal(server.doubts.length, 1);
    const [found] = doubtsOf(a.state);
    assert.ok(found);
    assert.deepEqual([mineOf(found), theirsOf(a.state, found)], ["twordswo", ""]);
    a.apply(decided(a.state, found.id, isMine));
    await settled(a);
    assert.equal(text(server.doc), isMine ? "one|twordswo|three" : "one|three");
    assert.equal(doubtsOf(a.state).length, 0);
  }
});

test("a deletion spares what somebody else wrote there meanwhile, and is a doubtful place", async () => {
  for (const isMine of [true, false]) {
    const server = new Server(docWith("one", "two", "three"));
    const [a, b] = [open(server, "a"), open(server, "b")];
    type(a, 7, "words");
    await settled(a);
    b.apply(b.state.tr.delete(5, 10));
    await settled(b);
    assert.equal(text(server.doc), "one|twordswo|three");
    const [found] = doubtsOf(b.state);
    assert.ok(found);
    assert.deepEqual([mineOf(found), theirsOf(b.state, found)], ["", "twordswo"]);
    b.apply(decided(b.state, found.id, isMine));
    await settled(b);
    assert.equal(text(server.doc), isMine ? "one|three" : "one|twordswo|three");
  }
});

test("what a failover has lost is sent again by its author, in its order, once", async () => {
  const server = new Server(docWith("one", "two"));
  const [a, b] = [open(server, "a"), open(server, "b")];
  type(a, 1, "first ");
  await settled(a);
  await b.hear(server.seq, server.id);
  type(a, 7, "lost ");
  await settled(a);
  a.rename("New");
  await settled(a);
  await b.hear(server.seq, server.id);
  type(b, b.state.doc.content.size - 1, " theirs");
  await settled(b);
  await a.hear(server.seq, server.id);
  type(a, 12, "more ");
  server.lose(1);
  await settled(a);
  await b.hear(server.seq, server.id);
  await settled(b);
  await a.hear(server.seq, server.id);
  assert.equal(text(server.doc), "first lost more one|two theirs");
  assert.deepEqual([text(a.state.doc), text(b.state.doc)], Array(2).fill(text(server.doc)));
  assert.equal(server.edits.filter((one) => one.title === "New").length, 1);
  assert.equal(doubtsOf(a.state).length + doubtsOf(b.state).length, 0);
  // Undo still knows its own.
  while (undo(a.state, (tr) => a.apply(tr))) await settled(a);
  assert.equal(text(server.doc), "one|two theirs");
});

test("a log that went back behind an editor is noticed, although its numbers are smaller", async () => {
  const server = new Server(docWith("one"));
  const a = open(server, "a");
  for (const part of ["x", "y", "z"]) {
    type(a, 1, part);
    await settled(a);
  }
  server.lose(1);
  await a.hear(server.seq, server.id);
  assert.equal(text(server.doc), "xone", "an edit that it knows is late word");
  server.lose(0);
  const b = open(server, "b");
  type(b, 4, "!");
  await settled(b);
  await a.hear(server.seq, server.id);
  await settled(a);
  assert.equal(text(server.doc), "zyxone!");
});

test("a session that is over remembers: its lost edits come again after the next start", async () => {
  const server = new Server(docWith("one"));
  const a = open(server, "a");
  type(a, 1, "kept ");
  await settled(a);
  type(a, 6, "lost ");
  await settled(a);
  a.stop();
  server.lose(1);
  const draft = server.remembered;
  assert.ok(draft && server.accepted.length === 2);
  const again = Session.resume(draft, outside(server), [], server.accepted);
  await again.hear(draft.seq, "");
  await settled(again);
  assert.equal(text(server.doc), "kept lost one");
  await again.hear(draft.seq, "");
  await settled(again);
  assert.equal(text(server.doc), "kept lost one", "once");
});

test("without room for what is remembered, what is not sent is stored", async () => {
  const server = new Server(docWith("one"));
  const session = open(server, "a");
  type(session, 1, "first ");
  await settled(session);
  const draft = server.remembered;
  assert.ok(draft);
  const given: Keeping[] = [];
  const keeper = new Keeper(async (keeping) => {
    given.push(keeping);
    if (keeping.fresh.length) throw new DOMException("no room", "QuotaExceededError");
    return true;
  });
  const edit = {
    seq: 1,
    id: "e",
    isOwn: true,
    title: null,
    before: { seq: 0, id: "0" },
    steps: [],
  };
  keeper.past.add(edit);
  const keep = (): Promise<void> =>
    keeper.keep(
      () => draft,
      () => session.state,
      () => false,
    );
  await keep();
  assert.deepEqual(
    [keeper.isKept, given.map((one) => one.fresh.length), given[1]?.draft],
    [true, [1, 0], draft],
  );
});

test("a doubtful place that could not be stored is stored with the next change", async () => {
  const server = new Server(docWith("one", "two", "three"));
  const [a, b] = [open(server, "a"), open(server, "b")];
  b.apply(b.state.tr.delete(5, 10));
  await settled(b);
  let isSignedIn = false;
  const { keep } = a.outside;
  a.outside.keep = async (keeping) => {
    if (!isSignedIn && keeping.doubts.length) return false;
    return keep(keeping);
  };
  type(a, 7, "words");
  await settled(a);
  assert.deepEqual([server.doubts.length, a.isKept], [0, false]);
  isSignedIn = true;
  type(a, 1, "x");
  await settled(a);
  assert.equal(server.doubts.length, 1);
});
