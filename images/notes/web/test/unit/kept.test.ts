import assert from "node:assert/strict";
import { test } from "node:test";
import { placeNow, placeOf } from "../../src/editor/kept_place";
import { overAt } from "../../src/sync/drafts";
import { takeStored } from "../../src/sync/leases";
import { docWith, open, Server, settled, type } from "./log_server";

test("a stored place is found again after edits, and is the end of the text if its edit was lost", async () => {
  const server = new Server(docWith("one", "two"));
  const a = open(server, "a");
  type(a, 1, "x");
  await settled(a);
  const place = placeOf(a, 3);
  type(a, 1, "yy");
  await settled(a);
  assert.equal(await placeNow(a, place), 5);
  server.lose(0);
  const b = open(server, "b");
  assert.equal(await placeNow(b, place), b.state.doc.content.size - 1, "a number above the last");
  type(b, 1, "other words ");
  await settled(b);
  assert.equal(b.seq, place.seq);
  assert.equal(await placeNow(b, place), b.state.doc.content.size - 1, "another edit's number");
});

test("a session that follows others is over since its own last edit", () => {
  const edit = { client: "a", seq: 1, id: "e", title: null, steps: [], inverted: [] };
  const before = { seq: 0, id: "0" };
  const begun = Date.now();
  assert.equal(overAt([{ ...edit, before, isOwn: false }], 5), 5);
  assert.equal(overAt([], 5), 5);
  assert.ok(overAt([{ ...edit, before, isOwn: true }], 5) >= begun);
  assert.ok(overAt([], undefined) >= begun);
});

test("an editor that has missed nothing stores nothing anew", async () => {
  const server = new Server(docWith("one"));
  const a = open(server, "a");
  type(a, 1, "x");
  await settled(a);
  let writes = 0;
  const { keep } = a.outside;
  a.outside.keep = (keeping) => {
    writes += 1;
    return keep(keeping);
  };
  await a.check();
  assert.equal(writes, 0);
});

test("what is taken is read then, and given back if it has ended or cannot be read", async () => {
  const stored = new Map([["a", "first"]]);
  let [isTaken, given] = [false, 0];
  const taking = async (): Promise<(() => void) | undefined> => {
    if (isTaken) return undefined;
    isTaken = true;
    // The tab that had it before has gone on with it, or has sent it.
    stored.set("a", "second");
    stored.delete("b");
    return () => {
      isTaken = false;
      given += 1;
    };
  };
  const read = (name: string) => async () => stored.get(name);
  const taken = await takeStored("a", read("a"), taking);
  assert.equal(taken?.found, "second");
  assert.equal(await takeStored("a", read("a"), taking), undefined, "another one has it");
  taken?.release();
  stored.set("b", "ended meanwhile");
  assert.equal(await takeStored("b", read("b"), taking), undefined);
  const failing = async (): Promise<string> => {
    throw new Error("not readable");
  };
  await assert.rejects(takeStored("a", failing, taking), /not readable/);
  assert.deepEqual([isTaken, given], [false, 3]);
});
