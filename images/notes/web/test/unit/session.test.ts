import assert from "node:assert/strict";
import { test } from "node:test";
import { undo } from "prosemirror-history";
import type { Node } from "prosemirror-model";
import { docOf, nodeFrom } from "../../src/editor/schema";
import { Session } from "../../src/editor/session";
import { difference } from "../../src/editor/unsent";
import { docWith, open, outside, Server, settled, text, type } from "./log_server";

test("what is typed is sent as one step, and the draft goes when it is accepted", async () => {
  const server = new Server(docWith("one"));
  const session = open(server, "a");
  type(session, 1, "hello ");
  await settled(session);
  assert.equal(text(server.doc), "hello one");
  assert.deepEqual([server.edits.length, server.edits[0]?.steps?.length], [1, 1]);
  assert.deepEqual([server.stored.size, session.saving], [0, "saved"]);
});

test("two editors type at once, and end with the same document that has every character", async () => {
  const server = new Server(docWith("one", "two"));
  const [a, b] = [open(server, "a"), open(server, "b")];
  for (const part of ["x", "y", "z"]) {
    type(a, 1, part);
    type(b, b.state.doc.content.size - 1, part.toUpperCase());
    await new Promise((done) => setImmediate(done));
  }
  await settled(a, b);
  await Promise.all([a.hear(server.seq, server.id), b.hear(server.seq, server.id)]);
  assert.equal(text(server.doc), "zyxone|twoXYZ");
  assert.deepEqual([text(a.state.doc), text(b.state.doc)], ["zyxone|twoXYZ", "zyxone|twoXYZ"]);
});

test("an edit that was refused is sent again at once, on the edits that it missed", async () => {
  const server = new Server(docWith("one"));
  const [a, b] = [open(server, "a"), open(server, "b")];
  type(a, 1, "first ");
  await settled(a);
  let pauses = 0;
  const given = b.outside.pause;
  b.outside.pause = (ms) => {
    pauses += 1;
    return given(ms);
  };
  type(b, b.state.doc.content.size - 1, " last");
  await settled(b);
  assert.deepEqual([text(server.doc), server.edits.length], ["first one last", 2]);
  assert.equal(pauses, 1);
});

test("undo takes back one's own edits, not those of others", async () => {
  const server = new Server(docWith("one"));
  const [a, b] = [open(server, "a"), open(server, "b")];
  type(a, 1, "mine ");
  await settled(a);
  await b.hear(server.seq, server.id);
  type(b, b.state.doc.content.size - 1, " theirs");
  await settled(b);
  await a.hear(server.seq, server.id);
  assert.ok(undo(a.state, (tr) => a.apply(tr)));
  await settled(a);
  assert.equal(text(server.doc), "one theirs");
});

test("requests that fail before or after they are stored lose and repeat nothing", async () => {
  const server = new Server(docWith(""));
  server.fail = ["before", "after", "before", "after"];
  const session = open(server, "a");
  type(session, 1, "once");
  await settled(session);
  type(session, 5, " only");
  await settled(session);
  assert.equal(text(server.doc), "once only");
});

test("where the server is not reached, a request goes again after 0.5 to 8 s, each time later", async (t) => {
  for (const share of [0, 0.999_999]) {
    t.mock.method(Math, "random", () => share);
    const server = new Server(docWith("one"));
    server.fail = Array.from({ length: 12 }, () => "before");
    const session = open(server, "a");
    const waits: number[] = [];
    const given = session.outside.pause;
    session.outside.pause = (ms) => {
      waits.push(ms);
      return given(ms);
    };
    type(session, 1, "x");
    await settled(session);
    // The first pause gathers keys, before anything is sent.
    const [, ...again] = waits;
    assert.equal(again.length, 12);
    assert.ok(
      again.every((ms) => ms >= 500 && ms <= 8000),
      String(again),
    );
    assert.deepEqual(
      again,
      again.toSorted((a, b) => a - b),
    );
    assert.equal(text(server.doc), "xone");
  }
});

test("an own edit that the log tells before the request is answered is taken once", async () => {
  const server = new Server(docWith("one"));
  const world = outside(server);
  let [tellLog, answer] = [() => undefined as void, () => undefined as void];
  const asked = new Promise<void>((done) => {
    tellLog = done;
  });
  const answered = new Promise<void>((done) => {
    answer = done;
  });
  const live = await world.live("p");
  const session = new Session("p", "u", "a", live, {
    ...world,
    since: (page, seq, id) => asked.then(() => world.since(page, seq, id)),
    async send(page, client, batch) {
      const found = await world.send(page, client, batch);
      await answered;
      return found;
    },
  });
  const heard = session.hear(1, "somebody's");
  await new Promise((done) => setImmediate(done));
  type(session, 1, "hi ");
  while (!server.edits.length) await new Promise((done) => setImmediate(done));
  tellLog();
  await heard;
  answer();
  await settled(session);
  assert.deepEqual([text(server.doc), text(session.state.doc)], ["hi one", "hi one"]);
  assert.equal(server.edits.length, 1);
});

test("a change from elsewhere begins from what the browser has done and not told", async () => {
  const server = new Server(docWith("one", "two"));
  const [a, b] = [open(server, "a"), open(server, "b")];
  a.readInput = () => {
    a.readInput = undefined;
    type(a, 1, "late ");
  };
  type(b, b.state.doc.content.size - 1, "!");
  await settled(b);
  await a.hear(server.seq, server.id);
  await settled(a);
  assert.deepEqual([text(server.doc), text(a.state.doc)], ["late one|two!", "late one|two!"]);
});

test("what others write waits while letters are composed, told by the log or by a refusal", async () => {
  const server = new Server(docWith("one"));
  const [a, b] = [open(server, "a"), open(server, "b")];
  type(b, 1, "theirs ");
  await settled(b);
  let end = (): void => undefined;
  const waits = new Promise<void>((done) => {
    end = done;
  });
  a.composed = () => waits;
  const heard = a.hear(server.seq, server.id);
  type(a, a.state.doc.content.size - 1, " ni");
  for (let turn = 0; turn < 50; turn += 1) await new Promise((done) => setImmediate(done));
  assert.equal(text(a.state.doc), "one ni");
  end();
  await heard;
  await settled(a);
  assert.deepEqual([text(a.state.doc), text(server.doc)], ["theirs one ni", "theirs one ni"]);
});

test("a draft is continued after a reload, whether its last request was stored or not", async () => {
  for (const fault of ["before", "after"] as const) {
    const server = new Server(docWith("one"));
    server.fail = [fault, ...Array<"before">(1000).fill("before")];
    const lost = open(server, "a");
    type(lost, 1, "kept ");
    lost.rename("New");
    for (let round = 0; round < 20; round++) await new Promise((done) => setImmediate(done));
    lost.stop();
    await new Promise((done) => setImmediate(done));
    server.fail = [];
    const other = open(server, "b");
    type(other, other.state.doc.content.size - 1, " theirs");
    await settled(other);
    const draft = server.stored.get("a");
    assert.ok(draft);
    const resumed = Session.resume(draft, outside(server));
    assert.ok(text(resumed.state.doc).startsWith("kept "));
    resumed.start();
    await settled(resumed);
    assert.equal(text(server.doc), "kept one theirs", fault);
    assert.equal(server.edits.filter((one) => one.title === "New").length, 1);
  }
});

test("a log that was replaced is taken as a whole, and unsent words stay", async () => {
  const server = new Server(docWith("one", "two"));
  const session = open(server, "a");
  server.fail = ["before", "before"];
  type(session, 1, "mine ");
  // As after a failover that lost edits: another log.
  const [first, doc] = ["another", docWith("one", "two, changed")];
  Object.assign(server, { first, doc: nodeFrom(doc) });
  await settled(session);
  assert.equal(text(server.doc), "mine one|two, changed");
});

test("a refusal keeps what was typed, and says the reason", async () => {
  const server = new Server(docWith("one"));
  server.fail = ["refuse"];
  const session = open(server, "a");
  type(session, 1, "mine ");
  for (let round = 0; round < 20; round++) await new Promise((done) => setImmediate(done));
  assert.deepEqual(
    [session.saving, session.reason, session.isSent],
    ["refused", "no right", false],
  );
  assert.equal(server.stored.get("a")?.steps.length, 5);
  type(session, 6, "too ");
  for (let round = 0; round < 20; round++) await new Promise((done) => setImmediate(done));
  assert.equal(server.edits.length, 0, "nobody sends what was refused again without being asked");
  session.start();
  await settled(session);
  assert.equal(text(server.doc), "mine too one");
});

test("the difference of two documents leads from one to the other", () => {
  const docs = [[""], ["a"], ["aa"], ["a", "a"], ["a", "b", "c"], ["b"]].map((d) => docWith(...d));
  for (const from of docs)
    for (const to of docs) {
      let made = nodeFrom(from);
      for (const step of difference(made, nodeFrom(to))) made = step.apply(made).doc as Node;
      assert.deepEqual(docOf(made), to);
    }
});

test("the stored content changes seldom, and the stored steps lead from it to the page's edit", async () => {
  const server = new Server(docWith("one"));
  const session = open(server, "a");
  const other = open(server, "b");
  const bases = new Set<string>();
  const look = (): void => {
    const draft = server.stored.get("a") ?? server.remembered;
    assert.ok(draft?.client === "a");
    bases.add(draft.base);
    const resumed = Session.resume(draft, outside(server));
    assert.equal(text(resumed.state.doc), text(session.state.doc));
    assert.equal(resumed.id, session.id);
  };
  for (let round = 0; round < 10; round++) {
    type(other, 1, "o");
    await settled(other);
    type(session, 1, `${round} `);
    await settled(session, other);
    look();
  }
  assert.equal(bases.size, 1);
  type(session, 1, "x".repeat(300));
  await settled(session);
  look();
  assert.equal(bases.size, 2, "many steps are not kept for long");
});
