// A person's accepted change of what others wrote, both lost in one failover: it is made again, or is a doubtful place.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Transaction } from "prosemirror-state";
import { decided, mineOf, theirsOf } from "../../src/editor/decide";
import { doubtsOf } from "../../src/editor/places";
import { docOf, schema } from "../../src/editor/schema";
import { Session } from "../../src/editor/session";
import { docWith, open, outside, Server, settled, text, type } from "./log_server";

type Write = (one: Session) => void;
const secret: Write = (a) => type(a, 1, "secret ");

/**
 * Two editors after what one wrote, and what the other made of it, was accepted and lost. With `isKnown` the other has
 * written before, and the server still has that; without, nothing that this editor knows is left.
 */
async function lost(change: Write, write = secret, isKnown = false) {
  const server = new Server(docWith("one", "two"));
  const [a, b] = [open(server, "a"), open(server, "b")];
  if (isKnown) type(b, b.state.doc.content.size - 1, "!");
  await settled(b);
  await a.check();
  const kept = server.seq;
  write(a);
  await settled(a);
  await b.check();
  change(b);
  await settled(b);
  await a.check();
  const wanted = docOf(server.doc);
  server.lose(kept);
  return { server, a, b, wanted };
}

async function recovered(...sessions: Session[]) {
  for (const one of sessions) {
    await one.check();
    await settled(one);
  }
}

/** In both orders in which the editors come back, the documents of all are the wanted one. */
async function comesBack(change: Write, write?: Write) {
  for (const isKnown of [false, true]) {
    for (const order of ["ab", "ba"]) {
      const { server, a, b, wanted } = await lost(change, write, isKnown);
      await recovered(...(order === "ab" ? [a, b] : [b, a]));
      await recovered(b, a);
      const found = [server.doc, a.state.doc, b.state.doc].map(docOf);
      assert.deepEqual(found, [wanted, wanted, wanted], `${order} ${isKnown}`);
      assert.equal(doubtsOf(a.state).length + doubtsOf(b.state).length, 0, order);
    }
  }
}

const edit = (make: (tr: Transaction) => Transaction) => (one: Session) =>
  one.apply(make(one.state.tr));
const paragraph = (words: string) => schema.node("paragraph", null, schema.text(words));
const block = edit((tr) => tr.insert(5, paragraph("secret")));

test("a deletion of words", () => comesBack(edit((tr) => tr.delete(1, 8))));

test("a deletion of one letter, where the word has it twice", () =>
  comesBack(
    edit((tr) => tr.delete(4, 5)),
    (a) => type(a, 1, "teest "),
  ));

test("two deletions, and what the other one wrote between", async () => {
  for (const order of ["ab", "ba"]) {
    const { server, a, b } = await lost(edit((tr) => tr.delete(1, 3)));
    // Nothing is lost yet: the failover comes after all of them.
    await recovered(a, b);
    await recovered(a, b);
    type(a, 3, "++");
    await settled(a);
    await b.check();
    edit((tr) => tr.delete(5, 6))(b);
    await settled(b);
    await a.check();
    const wanted = text(server.doc);
    assert.match(wanted, /\+\+/);
    server.lose(0);
    await recovered(...(order === "ab" ? [a, b] : [b, a]));
    await recovered(b, a);
    assert.equal(text(server.doc), wanted, order);
  }
});

test("a deletion over words of two people takes those of the other one, too", () =>
  comesBack(edit((tr) => tr.delete(1, 10))));

test("a deletion of a block", () =>
  comesBack(
    edit((tr) => tr.delete(5, 13)),
    block,
  ));

test("a block that is moved", () =>
  comesBack(
    edit((tr) => tr.delete(5, 13).insert(10, paragraph("secret"))),
    block,
  ));

test("bold that is put on, and taken off", async () => {
  const bold = schema.marks.bold!.create();
  await comesBack(edit((tr) => tr.addMark(1, 7, bold)));
  await comesBack(
    edit((tr) => tr.removeMark(1, 7, bold)),
    edit((tr) => tr.insert(1, schema.text("secret ", [bold]))),
  );
});

test("the level of a heading, and a block that becomes a heading", async () => {
  const heading = schema.node("heading", { level: 1 }, schema.text("secret"));
  await comesBack(
    edit((tr) => tr.setNodeMarkup(5, null, { level: 2 })),
    edit((tr) => tr.insert(5, heading)),
  );
  await comesBack(
    edit((tr) => tr.setBlockType(6, 6, schema.nodes.heading!, { level: 3 })),
    block,
  );
});

test("an attribute of a block", () =>
  comesBack(
    edit((tr) => tr.setNodeAttribute(6, "checked", true)),
    edit((tr) =>
      tr.insert(
        5,
        schema.node("taskList", null, [
          schema.node("taskItem", { checked: false }, [paragraph("secret")]),
        ]),
      ),
    ),
  ));

test("a title", async () => {
  for (const order of ["ab", "ba"]) {
    const { server, a, b } = await lost(
      (one) => one.rename("Y"),
      (one) => one.rename("X"),
    );
    await recovered(...(order === "ab" ? [a, b] : [b, a]));
    await recovered(b, a);
    assert.deepEqual([server.edits.at(-1)?.title, a.title, b.title], ["Y", "Y", "Y"], order);
  }
});

test("a deletion waits over a start of the browser, and through a second failover", async () => {
  const { server, a, b } = await lost(edit((tr) => tr.delete(1, 8)));
  await recovered(b);
  assert.ok(b.isSent);
  b.stop();
  const draft = server.remembered;
  assert.equal(draft?.awaited?.length, 1);
  const again = Session.resume(draft!, outside(server));
  await again.check();
  await recovered(a, again, a);
  assert.deepEqual([text(server.doc), text(a.state.doc)], ["one|two", "one|two"]);
  server.lose(0);
  await recovered(again, a);
  await recovered(again, a);
  assert.deepEqual([text(server.doc), text(again.state.doc)], ["one|two", "one|two"]);
});

test("a change of a block that somebody else deletes meanwhile makes no empty block", async () => {
  const server = new Server(docWith("one", "two", "three"));
  const [a, b] = [open(server, "a"), open(server, "b")];
  b.apply(b.state.tr.delete(5, 10));
  await settled(b);
  a.apply(a.state.tr.setBlockType(6, 6, schema.nodes.heading!, { level: 1 }));
  await settled(a);
  assert.deepEqual(docOf(server.doc), docWith("one", "three"));
});

test("another tab of the same person writes what this one deletes", async () => {
  const { server, a, b } = await lost(edit((tr) => tr.delete(1, 8)));
  const c = open(server, "c");
  type(c, 1, "third ");
  await settled(c);
  await recovered(b, a, c);
  await recovered(b, a, c);
  // The difference between the documents mixes both words.
  assert.ok(text(server.doc) === "third one|two" || doubtsOf(b.state).length);
});

test("words that come back otherwise are a doubtful place", async () => {
  for (const choice of ["mine", "theirs"] as const) {
    const { server, a, b } = await lost(edit((tr) => tr.delete(1, 8)));
    await recovered(a);
    const c = open(server, "c");
    type(c, 4, "-new-");
    await settled(c);
    await recovered(b);
    assert.equal(text(server.doc), "sec-new-ret one|two");
    const [found] = doubtsOf(b.state);
    assert.ok(found);
    assert.equal(server.doubts.length, 1);
    assert.deepEqual([mineOf(found), theirsOf(b.state, found)], ["one", "sec-new-ret one"]);
    b.apply(decided(b.state, found.id, choice));
    await settled(b);
    assert.equal(text(server.doc), choice === "mine" ? "one|two" : "sec-new-ret one|two");
  }
});

test("what others write at the place of a deletion is not deleted", async () => {
  const { server, a, b } = await lost(edit((tr) => tr.delete(1, 8)));
  await recovered(b);
  const c = open(server, "c");
  type(c, 1, "quite other ");
  await settled(c);
  type(b, 1, "mine ");
  await settled(b);
  await b.check();
  assert.equal(text(b.state.doc), text(server.doc));
  await recovered(a);
  await recovered(b, a);
  assert.ok(text(server.doc).includes("quite other "));
  assert.ok(text(server.doc).includes("mine "));
  assert.ok(!text(server.doc).includes("secret") || doubtsOf(b.state).length);
});

test("who writes the same words again keeps them", async () => {
  const { server, b } = await lost(edit((tr) => tr.delete(1, 8)));
  await recovered(b);
  type(b, 1, "secret ");
  await settled(b);
  const c = open(server, "c");
  type(c, c.state.doc.content.size - 1, "!");
  await settled(c);
  await recovered(b);
  assert.equal(text(server.doc), "secret one|two!");
});
