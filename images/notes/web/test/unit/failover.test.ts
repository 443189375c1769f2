import assert from "node:assert/strict";
import { test } from "node:test";
import { undo } from "prosemirror-history";
import { EditorState } from "prosemirror-state";
import { Keeper } from "../../src/editor/keeper";
import { choicesOf, decided, mineOf, theirsOf } from "../../src/editor/decide";
import { doubts, doubtsOf, withDoubts } from "../../src/editor/places";
import { nodeFrom, schema } from "../../src/editor/schema";
import { Session } from "../../src/editor/session";
import type { Keeping } from "../../src/sync/drafts";
import { docWith, open, outside, Server, settled, text, type } from "./log_server";

test("text whose place was deleted by somebody else is a doubtful place, until it is decided", async () => {
  for (const choice of ["mine", "theirs"] as const) {
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
    assert.deepEqual(choicesOf(a.state, found), ["mine", "theirs"]);
    a.apply(decided(a.state, found.id, choice));
    await settled(a);
    assert.equal(text(server.doc), choice === "mine" ? "one|twordswo|three" : "one|three");
    assert.equal(doubtsOf(a.state).length, 0);
  }
});

test("both wordings of a doubtful place stay, one behind the other", async () => {
  const server = new Server(docWith("one", "two", "three"));
  const [a, b] = [open(server, "a"), open(server, "b")];
  type(a, 8, "-new-");
  await settled(a);
  const { tr, schema } = b.state;
  b.apply(tr.replaceWith(5, 10, schema.node("paragraph", null, schema.text("another"))));
  await settled(b);
  const [found] = doubtsOf(b.state);
  assert.ok(found);
  assert.deepEqual(choicesOf(b.state, found), ["mine", "theirs", "both"]);
  b.apply(decided(b.state, found.id, "both"));
  await settled(b);
  assert.equal(text(server.doc), "one|tw-new-o|another|three");
  assert.equal(doubtsOf(b.state).length, 0);
});

test("both wordings stay also where only one block has room", () => {
  const cell = (word: string) => ({
    type: "tableCell",
    content: [{ type: "paragraph", content: [{ type: "text", text: word }] }],
  });
  const row = (...words: string[]) => ({ type: "tableRow", content: words.map(cell) });
  const doc = nodeFrom({
    type: "doc",
    content: [{ type: "table", content: [row("x", "y"), row("z", "w")] }],
  });
  const state = EditorState.create({ doc, plugins: [doubts()] });
  const mine = [schema.node("paragraph", null, schema.text("mine"))];
  const one = { id: "1", mine, from: 3, to: 6 };
  const after = state.apply(decided(state.apply(withDoubts(state.tr, [one])), "1", "both"));
  after.doc.check();
  assert.equal(text(after.doc).replaceAll("|", ""), "xyzwmine");
});

test("a deletion spares what somebody else wrote there meanwhile, and is a doubtful place", async () => {
  for (const choice of ["mine", "theirs"] as const) {
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
    b.apply(decided(b.state, found.id, choice));
    await settled(b);
    assert.equal(text(server.doc), choice === "mine" ? "one|three" : "one|twordswo|three");
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
  const first = server.edits[0];
  assert.ok(first);
  let questions = 0;
  const { since } = a.outside;
  a.outside.since = (...asked) => {
    questions += 1;
    return since(...asked);
  };
  await a.hear(first.seq, first.id);
  assert.equal(questions, 0, "word of an edit that it knows is late");
  server.lose(0);
  const b = open(server, "b");
  type(b, 4, "!");
  await settled(b);
  await a.hear(server.seq, server.id);
  await settled(a);
  assert.equal(text(server.doc), "zyxone!");
});

test("a log that went back to an edit that an editor was at is noticed, although nobody writes on", async () => {
  for (const left of [2, 1, 0]) {
    const server = new Server(docWith("one"));
    const a = open(server, "a");
    for (const part of ["x", "y", "z"]) {
      type(a, 1, part);
      await settled(a);
    }
    const asked = a.seq;
    server.lose(left);
    await a.hear(server.seq, server.id, asked);
    await settled(a);
    assert.equal(text(server.doc), "zyxone", `${left} left`);
    assert.equal(text(a.state.doc), "zyxone");
  }
});

test("a question asked before an own edit was accepted is answered late, and changes nothing", async () => {
  const server = new Server(docWith("one"));
  const a = open(server, "a");
  type(a, 1, "x");
  await settled(a);
  const [asked, { seq, id }] = [a.seq, server];
  type(a, 1, "y");
  await settled(a);
  let questions = 0;
  a.outside.since = async () => {
    questions += 1;
    throw new Error("not asked");
  };
  await a.hear(seq, id, asked);
  assert.deepEqual([questions, text(a.state.doc)], [0, "yxone"]);
});

test("edits that were asked for before an own edit was accepted and lost do not go on top of it", async () => {
  const server = new Server(docWith("one"));
  const [a, b] = [open(server, "a"), open(server, "b")];
  type(a, 1, "x");
  await settled(a);
  await b.hear(server.seq, server.id);
  const { since } = a.outside;
  let answer = (): void => undefined;
  a.outside.since = (...asked) => {
    a.outside.since = since;
    return new Promise((done) => {
      answer = () => done(since(...asked));
    });
  };
  const checked = a.check();
  await new Promise((done) => setImmediate(done));
  type(a, 2, "mine");
  await settled(a);
  server.lose(1);
  for (const typed of ["!", "?"]) {
    type(b, b.state.doc.content.size - 1, typed);
    await settled(b);
  }
  answer();
  await checked;
  await settled(a);
  assert.equal(text(server.doc), "xmineone!?");
  assert.equal(text(a.state.doc), "xmineone!?");
});

test("what was lost before a content was replaced is sent again, also when that is lost, too", async () => {
  const server = new Server(docWith("one"));
  const a = open(server, "a");
  for (const part of ["x", "y"]) {
    type(a, 1, part);
    await settled(a);
  }
  server.lose(1);
  server.doc = nodeFrom(docWith("xone", "more"));
  server.docs.push(server.doc);
  const replaced = { id: "replaced", client: null, n: null, author_id: null, at: "" };
  server.edits.push({ ...replaced, seq: 2, steps: null, title: null });
  await a.check();
  await settled(a);
  assert.equal(text(server.doc), "yxone|more");
  server.lose(1);
  await a.check();
  await settled(a);
  assert.equal(text(server.doc), "yxone");
  assert.equal(text(a.state.doc), "yxone");
});

test("an editor that gets no word asks by itself, and sends again what was lost", async () => {
  const server = new Server(docWith("one"));
  const a = open(server, "a");
  type(a, 1, "x");
  await settled(a);
  server.lose(0);
  await a.check();
  await settled(a);
  assert.equal(text(server.doc), "xone");
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
