// What becomes of a text whose page is gone, or takes it no more.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../src/api/client";
import { Session } from "../../src/editor/session";
import { docWith, open, outside, Server, settled, text, type } from "./log_server";

const missing = async (): Promise<never> => {
  throw new ApiError(404, "not found");
};

/** An editor whose page goes away, and comes back. */
function withPage(server: Server, client: string) {
  const session = open(server, client);
  const { since, send } = session.outside;
  return {
    session,
    goes: () => Object.assign(session.outside, { since: missing, send: missing }),
    comes: () => Object.assign(session.outside, { since, send }),
  };
}
const tick = () => new Promise((done) => setTimeout(done, 5));

test("accepted words of a page that is gone are a draft again, until the page is there", async () => {
  const server = new Server(docWith("one"));
  const { session, goes, comes } = withPage(server, "a");
  type(session, 1, "hello ");
  await settled(session);
  assert.equal(server.stored.size, 0);
  goes();
  await session.check();
  assert.deepEqual([session.isSent, server.stored.get("a")?.lost], [false, "not found"]);
  session.start();
  await tick();
  assert.equal(server.edits.length, 1);
  comes();
  session.start();
  await tick();
  assert.deepEqual([session.isSent, server.stored.size, server.edits.length], [true, 0, 1]);
});

test("unsent words that the page refuses are a draft, and are sent when it takes them again", async () => {
  const server = new Server(docWith("one"));
  const { session, goes, comes } = withPage(server, "a");
  goes();
  type(session, 1, "hello ");
  await tick();
  assert.deepEqual([session.saving, server.stored.get("a")?.lost], ["refused", "not found"]);
  comes();
  const draft = { ...(server.stored.get("a") as never as object) } as never;
  const again = Session.resume(draft, outside(server));
  assert.equal(again.lost, "not found");
  again.start();
  await settled(again);
  assert.deepEqual([text(server.doc), server.stored.size, again.lost], ["hello one", 0, ""]);
});

test("who has only read a page that is gone, or whose page is in the trash, has no draft of it", async () => {
  const server = new Server(docWith("one"));
  const reader = withPage(server, "a");
  reader.goes();
  await reader.session.check();
  assert.deepEqual([reader.session.isSent, server.stored.size], [true, 0]);
  const writer = withPage(server, "b");
  type(writer.session, 1, "hello ");
  await settled(writer.session);
  writer.goes();
  writer.session.outside.isGone = async () => false;
  await writer.session.check();
  assert.deepEqual([writer.session.isSent, server.stored.size], [true, 0]);
});
