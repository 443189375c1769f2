// Drafts that no session can go on with: their words are shown, and nothing else stops because of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { plainText } from "../../src/doc/text";
import { isDamaged, writtenIn } from "../../src/editor/damaged";
import { resumed, Session } from "../../src/editor/session";
import type { Draft } from "../../src/sync/stored";
import { docWith, open, outside, Server, settled, text, type } from "./log_server";

/** The draft of an editor without a network. */
async function draftOf(server: Server, act: (session: Session) => void): Promise<Draft> {
  const session = open(server, "a");
  server.fail = Array(1000).fill("before");
  act(session);
  await new Promise((done) => setTimeout(done, 20));
  session.stop();
  server.fail = [];
  return structuredClone(server.stored.get("a")) as Draft;
}

test("what was typed in a damaged draft is found, without what was deleted at once", async () => {
  const draft = await draftOf(new Server(docWith("one", "two")), (session) => {
    type(session, 1, "helxlo ");
    session.apply(session.state.tr.delete(4, 5));
    session.apply(session.state.tr.split(7));
    type(session, session.state.doc.content.size - 1, " world");
    session.apply(
      session.state.tr.delete(
        session.state.doc.content.size - 2,
        session.state.doc.content.size - 1,
      ),
    );
  });
  assert.equal(isDamaged(draft), false);
  const words = plainText(writtenIn(draft.steps));
  assert.match(words, /hel/);
  assert.match(words, / worl$/);
  for (const damage of [
    { doc: docWith() },
    { doc: { type: "doc", content: [{ type: "hologram" }] } },
    { steps: [...draft.steps, { stepType: "unknown" }] },
    { passed: [{ stepType: "replace", from: 900, to: 901 }] },
  ]) {
    const damaged = { ...draft, ...damage } as Draft;
    assert.equal(isDamaged(damaged), true, JSON.stringify(damage));
    assert.equal(resumed(damaged, outside(new Server(docWith("one")))), undefined);
    assert.equal(plainText(writtenIn(damaged.steps)), words);
  }
  assert.equal(isDamaged(undefined), true);
});

test("steps of any form have words, or none", () => {
  for (const steps of [[], [null], [{}], [{ slice: { content: 1 } }], [{ from: "x" }]])
    assert.equal(plainText(writtenIn(steps)), "");
});

test("accepted edits that are damaged hold up nothing that is not sent", async () => {
  const server = new Server(docWith("one"));
  const first = open(server, "a");
  type(first, 1, "x");
  await settled(first);
  const accepted = server.accepted.map((one) => ({ ...one, steps: [{ stepType: "unknown" }] }));
  server.fail = Array(1000).fill("before");
  type(first, 2, "y");
  await new Promise((done) => setTimeout(done, 20));
  first.stop();
  server.fail = [];
  const draft = structuredClone(server.stored.get("a")) as Draft;
  const again = resumed(draft, outside(server), [], accepted);
  assert.ok(again);
  again.start();
  await settled(again);
  assert.equal(text(server.doc), "xyone");
});

test("what is not sent stays while the page has parts that this version does not know", async () => {
  const server = new Server(docWith("one"));
  const session = open(server, "a");
  const { live, since } = session.outside;
  Object.assign(session.outside, {
    live: async () => ({
      ...(await live("p")),
      doc: { type: "doc", content: [{ type: "hologram" }] },
    }),
    since: async () => ({
      ...{ seq: 1, id: "new", is_known: true },
      edits: [
        {
          seq: 1,
          id: "new",
          client: "b",
          n: 1,
          author_id: null,
          at: "",
          title: null,
          steps: [{ stepType: "unknown" }],
        },
      ],
    }),
  });
  server.fail = Array(1000).fill("before");
  type(session, 1, "mine ");
  await session.check();
  await new Promise((done) => setTimeout(done, 20));
  assert.deepEqual([session.isSent, server.stored.get("a")?.steps.length], [false, 5]);
  assert.equal(text(session.state.doc), "mine one");
  server.fail = [];
  Object.assign(session.outside, { live, since });
  await settled(session);
  assert.equal(text(server.doc), "mine one");
});
