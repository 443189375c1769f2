import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../src/api/client";
import type { PageNode } from "../../src/api/types";
import { docOf, nodeFrom } from "../../src/editor/schema";
import { Session } from "../../src/editor/session";
import { newest, viewOf } from "../../src/editor/stored_view";
import { baseOf } from "../../src/sync/offline";
import type { PageBase } from "../../src/sync/stored";
import { docWith, open, outside, Server, settled, text, type } from "./log_server";

const view = (server: Server): PageBase => ({
  ...{ seq: server.seq, id: server.id, title: server.title },
  doc: docOf(server.doc),
});
/** A session that begins from what was stored, with words that were typed without a network. */
function offline(server: Server, stored: PageBase, at: number, typed: string): Session {
  const world = outside(server);
  const { send } = world;
  const session: Session & { isOnline?: boolean } = new Session("p", "u", "mine", stored, {
    ...world,
    send: (...given) => (session.isOnline ? send(...given) : Promise.reject(new ApiError(503, ""))),
  });
  type(session, at, typed);
  return session;
}
const back = async (session: Session, ...others: Session[]): Promise<void> => {
  Object.assign(session, { isOnline: true });
  session.start();
  await settled(session, ...others);
};

test("what is written on a stored page comes to what others have written since, once", async () => {
  const server = new Server(docWith("one", "two"));
  const stored = view(server);
  const other = open(server, "other");
  const session = offline(server, stored, 1, "mine ");
  type(other, other.state.doc.content.size - 1, " theirs");
  await settled(other);
  await back(session);
  assert.equal(text(server.doc), "mine one|two theirs");
  assert.equal(text(session.state.doc), text(server.doc));
  assert.equal(server.edits.filter((one) => one.client === "mine").length, 1);
});

test("a stored state that a failover has lost keeps what was written on it", async () => {
  const server = new Server(docWith("one", "two"));
  const other = open(server, "other");
  type(other, 1, "lost ");
  await settled(other);
  const session = offline(server, view(server), 14, " mine");
  server.lose(0);
  const again = open(server, "again");
  type(again, 1, "new ");
  await settled(again);
  assert.equal(server.seq, 1, "another edit has the number of the lost one");
  await back(session);
  assert.equal(text(server.doc), "new one|two mine");
});

test("a stored page that is older than the log keeps what was written on it", async () => {
  const server = new Server(docWith("one", "two"));
  const stored = view(server);
  const other = open(server, "other");
  type(other, 1, "later ");
  await settled(other);
  const post = server.post.bind(server);
  let refused = 0;
  server.post = (client, batch) => {
    if (batch.base_seq === 0 && (refused += 1)) throw new ApiError(410, "not kept");
    return post(client, batch);
  };
  const session = offline(server, stored, 9, " mine");
  await back(session);
  assert.equal(text(server.doc), "later one|two mine");
  assert.equal(refused, 1);
});

test("a page that is gone keeps what was written on its stored copy as a text of its own", async () => {
  const server = new Server(docWith("one"));
  const session = offline(server, view(server), 4, " mine");
  server.fail = ["refuse"];
  Object.assign(session, { isOnline: true });
  session.start();
  for (let round = 0; round < 20; round++) await new Promise((done) => setImmediate(done));
  assert.deepEqual([session.lost, session.isSent], ["no right", false]);
  assert.equal(server.stored.get("mine")?.lost, "no right");
});

test("an editor begins from the exact document only, and only where its person may write", () => {
  const node = {
    ...{ id: "p", title: "T", role: "editor", doc: docWith("one"), trashed_at: null },
    edit: { seq: 3, id: "e" },
  } as PageNode;
  const base: PageBase = { seq: 4, id: "f", title: "U", doc: docWith("one", "") };
  const whole = { seq: 3, id: "e", title: "T", doc: node.doc };
  assert.deepEqual(baseOf({ node, base }), whole);
  assert.equal(baseOf({ node: { ...node, edit: null }, base }), base);
  assert.equal(baseOf({ node: { ...node, edit: null } }), undefined);
  const { edit: _, ...older } = node;
  assert.equal(baseOf({ node: older }), undefined, "of an earlier version");
  assert.equal(baseOf({ node: { ...node, role: "commenter" }, base }), undefined);
  assert.equal(baseOf({ node: { ...node, trashed_at: "2026-01-01" }, base }), undefined);
});

test("of a stored page and what sessions remember the newest is taken", async () => {
  const server = new Server(docWith("one"));
  const stored = view(server);
  const session = open(server, "a");
  type(session, 1, "more ");
  await settled(session);
  const seen = viewOf(server.remembered);
  assert.ok(seen);
  assert.deepEqual(seen, view(server));
  assert.equal(text(nodeFrom(seen.doc)), "more one");
  assert.equal(newest([stored, seen, undefined]), seen);
  assert.equal(newest([undefined, stored]), stored);
  assert.equal(newest([undefined]), undefined);
  const unknown = { type: "doc", content: [{ type: "later" }] } as never;
  assert.ok(server.remembered);
  assert.equal(viewOf({ ...server.remembered, doc: unknown, passed: [] }), undefined);
});
